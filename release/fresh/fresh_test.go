package fresh

import (
	"net/http"
	"strings"
	"testing"
)

// A system has the requested packages, an ordinary user, and no network but loopback, where a test serves any
// host.
func TestSystemHasOnlyLoopback(t *testing.T) {
	s := New(t, "curl")
	s.Serve(t, map[string]http.Handler{
		"example.com": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("hello"))
		}),
	})
	if got := s.Run(t, "ana", "id -un; pwd; curl -sS https://example.com/x"); got != "ana\n/home/ana\nhello" {
		t.Errorf("got %q", got)
	}
	if out := s.Run(t, "root", "ls /sys/class/net 2>/dev/null; cat /proc/net/dev"); strings.Contains(out, "eth0") {
		t.Errorf("the system has a network:\n%s", out)
	}
	if _, _, err := s.Try(t, "ana", "curl -sS --max-time 5 https://example.org/"); err == nil {
		t.Error("another host is reachable")
	}
}
