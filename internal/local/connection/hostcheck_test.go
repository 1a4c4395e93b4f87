package connection

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// At a loopback address, only loopback hosts and the public host are accepted, because the domain name of an
// attacker may resolve to 127.0.0.1 (T28).
func TestForeignHostsAreRejected(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7575}
	everywhere := &net.TCPAddr{IP: net.IPv4zero, Port: 7575}
	for _, c := range []struct {
		listener net.Addr
		public   string
		host     string
		want     int
	}{
		{loopback, "http://127.0.0.1:7575", "127.0.0.1:7575", 200},
		{loopback, "http://127.0.0.1:7575", "localhost:7575", 200},
		{loopback, "http://127.0.0.1:7575", "LOCALHOST", 200},
		{loopback, "http://127.0.0.1:7575", "[::1]:7575", 200},
		{loopback, "http://127.0.0.1:7575", "evil.example:7575", 421},
		{loopback, "http://127.0.0.1:7575", "127.0.0.1.evil.example", 421},
		{loopback, "http://127.0.0.1:7575", "localhost.evil.example:7575", 421},
		{loopback, "http://127.0.0.1:7575", "192.0.2.1", 421},
		{loopback, "http://127.0.0.1:7575", "", 421},
		{loopback, "https://ask.example.com", "ask.example.com", 200},
		{loopback, "https://ask.example.com", "Ask.Example.com:443", 200},
		{loopback, "https://ask.example.com", "example.com", 421},
		{everywhere, "", "whatever.example", 200},
	} {
		w := httptest.NewRecorder()
		r, err := http.NewRequest("GET", "http://x/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		checkHost(c.listener, c.public, ok).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s on %s (%s): status %d, want %d", c.host, c.listener, c.public, w.Code, c.want)
		}
	}
}
