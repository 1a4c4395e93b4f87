package serverlog

import (
	"sync"
	"time"
)

// perMinute is how many lines a minute those can cause who have no valid token: enough to
// see what is wrong, and 20 MB a day at most.
const perMinute = 60

// A limiter bounds the lines of a minute.
type limiter struct {
	mu     sync.Mutex
	minute int64
	lines  int
	left   int // lines that were left out since the last one
}

// next reports whether another line may be written, and how many were left out before
// it.
func (l *limiter) next(now time.Time) (left int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := now.Unix() / 60; m != l.minute {
		l.minute, l.lines = m, 0
	}
	if l.lines >= perMinute {
		l.left++
		return 0, false
	}
	l.lines++
	left, l.left = l.left, 0
	return left, true
}
