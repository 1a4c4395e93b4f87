package serverlog

import (
	"log/slog"
	"sync"
	"time"
)

// maxPerMinute is the number of lines that a [limiter] allows in a minute. It is enough to find the cause of
// an error, and less than 100 000 lines a day.
const maxPerMinute = 60

// A limiter limits the number of log lines per minute that clients without a valid token can cause.
type limiter struct {
	mu      sync.Mutex
	minute  int64 // the current minute, counted from 1970
	lines   int   // the number of lines in that minute
	leftOut int   // the number of lines left out since the last line
}

// attrs returns the attributes of the next line: the address of the client, and the number of lines that were
// left out before. If this line must be left out, ok is false. info may be nil.
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

// next reports whether another line may be written. It returns the number of lines that were left out since
// the last line.
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
