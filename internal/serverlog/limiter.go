package serverlog

import (
	"log/slog"
	"sync"
	"time"
)

// maxPerMinute is how many lines clients without a valid token can cause in a minute. It is
// enough to find out what is wrong, and writes at most 20 MB a day.
const maxPerMinute = 60

// A limiter limits the number of lines in each minute.
type limiter struct {
	mu      sync.Mutex
	minute  int64 // in minutes since 1970
	lines   int   // written in that minute
	leftOut int   // since the last line
}

// attrs returns the attributes of another line. It reports false if the line must be left out.
// info may be nil.
func (l *limiter) attrs(info *requestInfo) (attrs []slog.Attr, ok bool) {
	leftOut, ok := l.next(time.Now())
	if info != nil {
		attrs = append(attrs, slog.String("remote", info.remote))
	}
	if leftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", leftOut))
	}
	return attrs, ok
}

// next reports whether another line may be written, and how many were left out before it.
func (l *limiter) next(now time.Time) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := now.Unix() / 60; m != l.minute {
		l.minute, l.lines = m, 0
	}
	if l.lines >= maxPerMinute {
		l.leftOut++
		return 0, false
	}
	l.lines++
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}
