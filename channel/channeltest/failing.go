package channeltest

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Failing decides which requests to the fake of a service fail. The zero value lets none fail.
// It is safe for concurrent use.
type Failing struct {
	mu          sync.Mutex
	how         Failure
	skip, count int
	failed      *int
}

// Fail lets skip requests succeed, and then lets count of them fail. It replaces what it did
// before. The function that it returns returns how many have failed.
func (f *Failing) Fail(how Failure, skip, count int) (failed func() int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := new(int)
	f.how, f.skip, f.count, f.failed = how, skip, count, n
	return func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return *n
	}
}

// Next returns how the next request fails, or "".
func (f *Failing) Next() Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.count == 0:
		return ""
	case f.skip > 0:
		f.skip--
		return ""
	}
	f.count--
	*f.failed++
	return f.how
}

// Refuse lets a request fail over HTTP before it has done anything, and reports whether it did.
// Retry is the time that the service asks for with [TooMany].
func Refuse(w http.ResponseWriter, r *http.Request, how Failure, retry time.Duration) bool {
	const text = "text of the service"
	switch how {
	case TooMany:
		w.Header().Set("Retry-After", strconv.Itoa(int(retry/time.Second)))
		http.Error(w, text, http.StatusTooManyRequests)
	case Broken:
		http.Error(w, text, http.StatusServiceUnavailable)
	case Slow:
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not see that the caller leaves
		<-r.Context().Done()
	default:
		return false
	}
	return true
}
