package posttest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback/channel/channeltest"
)

// RetryAfter is the delay that the services request when they are busy.
const RetryAfter = 7 * time.Second

// FailAs lets skip requests to publish succeed, and makes the next count of them fail, as
// [channeltest.Failing.Fail] does.
func (s *Service) FailAs(how channeltest.Failure, skip, count int) (failed func() int) {
	return s.failing.Fail(how, skip, count)
}

// fail makes a request fail with the next status of [Service.Fail], and reports whether it did.
func (s *Service) fail(w http.ResponseWriter) bool {
	status := s.nextFailure()
	if status == 0 {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(RetryAfter/time.Second)))
	http.Error(w, "the service is not well", status)
	return true
}
