package posttest

import (
	"net/http"
	"time"
)

// A failure is what happens to the next requests that publish.
type failure struct {
	how         string
	skip, count int
	failed      int
}

// RetryAfter is the time that the services ask for when they are busy.
const RetryAfter = 7 * time.Second

// FailAs lets skip requests to publish succeed, and then lets count of them fail: "too many" and
// "broken" are statuses, "lost reply" publishes and closes the connection, and "slow" does not
// reply until the caller gives up. It replaces what FailAs did before. The function that it
// returns returns how many have failed.
func (s *Service) FailAs(how string, skip, count int) (failed func() int) {
	f := &failure{how: how, skip: skip, count: count}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = f
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return f.failed
	}
}

// failsAs returns how the next request fails, or "".
func (s *Service) failsAs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failure
	switch {
	case f == nil || f.count == 0:
		return ""
	case f.skip > 0:
		f.skip--
		return ""
	}
	f.count--
	f.failed++
	return f.how
}

// fail lets a request fail before it is read, and reports whether it did.
func (s *Service) fail(w http.ResponseWriter, r *http.Request, how string) bool {
	status := s.nextFailure()
	switch how {
	case "too many":
		status = http.StatusTooManyRequests
	case "broken":
		status = http.StatusInternalServerError
	case "slow":
		<-r.Context().Done()
		return true
	}
	if status == 0 {
		return false
	}
	w.Header().Set("Retry-After", "7")
	http.Error(w, "the service is not well", status)
	return true
}

// hangUp closes a connection without a reply.
func hangUp(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
}
