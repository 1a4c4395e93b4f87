package channeltest

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Failing decides which requests to a fake service fail. With the zero value, no request fails. It is safe
// for concurrent use.
type Failing struct {
	mu          sync.Mutex
	how         Failure
	skip, count int
	failed      *int
}

// Fail makes count requests fail, after skip requests that succeed. A later call replaces an earlier call.
// The function failed returns the number of failures so far.
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

// Next returns how the next request fails, or "" if it succeeds.
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

// Refuse fails an HTTP request before the request has an effect. It reports whether the request failed. If
// how is "" or [LostReply], the request does not fail. The argument retry is the delay that the service
// requests with [TooMany].
func Refuse(w http.ResponseWriter, r *http.Request, how Failure, retry time.Duration) bool {
	const text = "text of the service"
	switch how {
	case TooMany:
		w.Header().Set("Retry-After", strconv.Itoa(int(retry/time.Second)))
		http.Error(w, text, http.StatusTooManyRequests)
	case Broken:
		http.Error(w, text, http.StatusServiceUnavailable)
	case Slow:
		// until the body is read, the server does not notice that the caller has gone
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	default:
		return false
	}
	return true
}
