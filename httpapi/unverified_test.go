package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/httpapi"
)

// slowRequest sends the header of a request whose body does not arrive, and returns its connection.
func slowRequest(t *testing.T, address, method, path string, header http.Header) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n", method,
		path, address)
	if err := header.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, b.String()+"\r\n{"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// replyTo returns the reply to a request of slowRequest.
func replyTo(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no reply came: %v", err)
	}
	_ = res.Body.Close()
	return res
}

// Webhooks whose bodies do not arrive cannot block other webhooks. If there are too many, the oldest webhook
// ends with an error that lets its sender try again (T40).
func TestOldestWebhookEndsIfTooManyAreUnverified(t *testing.T) {
	w := newHookFixture(t)
	w.handler.SetUnverifiedTime(10 * time.Minute)
	address := strings.TrimPrefix(w.server.URL, "http://")
	forged := sign(t, "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", "msg_0", time.Now(), "{}")
	var slow []net.Conn
	for i := range httpapi.MaxUnverified { // one after the other, so that the first is the oldest
		slow = append(slow, slowRequest(t, address, "POST", "/hooks/poem", forged))
		deadline := time.Now().Add(time.Minute)
		for w.handler.Unverified() <= i {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d bodies are being read", w.handler.Unverified(), i+1)
			}
			<-time.After(time.Millisecond)
		}
	}
	for i := range 3 {
		var header []string
		for name, values := range sign(t, poemSecret, fmt.Sprintf("msg_%d", i+1), time.Now(), "{}") {
			header = append(header, name, values[0])
		}
		if got := w.send("POST", "/hooks/poem", "", "{}", header...); got.status != http.StatusAccepted {
			t.Errorf("got %d %s for a signed webhook beside slow ones", got.status, got.body)
		}
	}
	if got := replyTo(t, slow[0]); got.StatusCode != http.StatusServiceUnavailable ||
		got.Header.Get("Retry-After") == "" || !got.Close {
		t.Errorf("the oldest slow webhook: got status %d and %v", got.StatusCode, got.Header)
	}
	// Each signed webhook ended another webhook. No signed webhook is in the list any more.
	if got, want := w.handler.Unverified(), httpapi.MaxUnverified-1; got != want {
		t.Errorf("%d bodies are being read, want %d", got, want)
	}
}

// The oldest webhook of the source with the most webhooks ends, so that a sender does not end the webhooks of
// other senders.
func TestOldestWebhookOfTheBusiestSourceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		open []string // the sources, oldest first
		from string
		want int // the index of the webhook that ends
	}{
		"one source":             {[]string{"a", "a", "a"}, "a", 0},
		"another source":         {[]string{"b", "a", "a", "a"}, "b", 1},
		"the same number":        {[]string{"b", "a", "b", "a"}, "c", 0},
		"the new one counts":     {[]string{"b", "a", "b", "a"}, "a", 1},
		"many sources, each one": {[]string{"a", "b", "c"}, "d", 0},
	} {
		if got := httpapi.Victim(c.open, c.from); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// A request that is rejected before its body is read gets its reply immediately, and the connection is closed
// (T25).
func TestRejectedRequestsDoNotWaitForTheirBodies(t *testing.T) {
	s := newRouteFixture(t)
	address := strings.TrimPrefix(s.server.URL, "http://")
	for name, c := range map[string]struct {
		method, path, token string
		status              int
	}{
		"no token":        {"POST", "/api/v1/asks", "", http.StatusUnauthorized},
		"a wrong token":   {"POST", "/api/v1/asks", "askback_wrong", http.StatusUnauthorized},
		"unknown path":    {"POST", "/api/v1/nothing", "", http.StatusNotFound},
		"another method":  {"PUT", "/api/v1/asks", "", http.StatusMethodNotAllowed},
		"an unknown key":  {"POST", "/api/v1/asks?x=1", "", http.StatusUnprocessableEntity},
		"not a signature": {"POST", "/hooks/poem", "", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			if c.token != "" {
				h.Set("Authorization", "Bearer "+c.token)
			}
			got := replyTo(t, slowRequest(t, address, c.method, c.path, h))
			if got.StatusCode != c.status || !got.Close {
				t.Errorf("got status %d, close %v; want %d and a closed connection", got.StatusCode, got.Close,
					c.status)
			}
		})
	}
}
