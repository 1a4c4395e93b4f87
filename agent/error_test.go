package agent_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/agent"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func TestRetryAfterIsReadAndLimited(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", " 7 ", 7 * time.Second},
		{"Retry-After", "Mon, 05 Jan 2026 12:00:30 GMT", 30 * time.Second},
		{"Retry-After", "Mon, 05 Jan 2026 11:59:30 GMT", 0},
		{"Retry-After", "Tue, 06 Jan 2026 12:00:00 GMT", agent.LongestAfter},
		{"Retry-After", "86400", agent.LongestAfter},
		{"Retry-After", "1e300", agent.LongestAfter},
		{"Retry-After", "-5", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "Inf", agent.LongestAfter},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := agent.StatusError(429, h, noon); got.After != c.want || !got.Retry {
			t.Errorf("%s: %q: got %v, %v, want %v, true", c.name, c.value, got.After, got.Retry, c.want)
		}
	}
}

func TestOnlyTemporaryStatusesAreRetried(t *testing.T) {
	for status, want := range map[int]bool{
		301: false, 307: false, 400: false, 401: false, 402: false, 403: false, 404: false, 408: true, 409: true,
		413: false, 422: false, 425: true, 429: true, 500: true, 502: true, 503: true, 504: true, 520: true, 529: true,
	} {
		got := agent.StatusError(status, http.Header{"Retry-After": {"3"}}, noon)
		if got.Retry != want || !want && got.After != 0 {
			t.Errorf("%d: got %v, %v, want %v", status, got.Retry, got.After, want)
		}
		if !strings.Contains(got.Error(), "status") {
			t.Errorf("%d: %q has no status", status, got)
		}
	}
}
