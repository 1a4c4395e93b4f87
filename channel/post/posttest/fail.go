package posttest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback/channel/channeltest"
)

// RetryAfter is the delay that the services request when they are busy.
const RetryAfter = 7 * time.Second

// FailAs lets skip requests that publish succeed, and makes the next count requests fail, as
// [channeltest.Failing.Fail] does.
func (s *Service) FailAs(how channeltest.Failure, skip, count int) (failed func() int) {
	return s.failing.Fail(how, skip, count)
}

// fail fails a request with the next status of [Service.Fail]. It reports whether there was a status.
func (s *Service) fail(w http.ResponseWriter) bool {
	status := s.nextFailure()
	if status == 0 {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(RetryAfter/time.Second)))
	http.Error(w, "the service is not well", status)
	return true
}
