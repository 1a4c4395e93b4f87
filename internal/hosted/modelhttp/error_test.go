package modelhttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/askback/askback/internal/hosted/modelhttp"
)

func TestConnectionErrorsAreReadable(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:1", "cannot be reached"},
		{"http://name.invalid", "has no address"},
		{secure.URL, "certificate"},
	} {
		client := modelhttp.NewClient(0)
		_, err := client.Get(c.url)
		got := modelhttp.Error(t.Context(), err, "")
		if !got.Retry || !strings.Contains(got.Error(), c.want) || strings.Contains(got.Error(), c.url) {
			t.Errorf("%s: got %v of %v, want %q", c.url, got, err, c.want)
		}
		client.CloseIdleConnections()
	}
	for _, err := range []error{
		nil, io.ErrUnexpectedEOF, x509.UnknownAuthorityError{}, &net.OpError{Op: "read", Err: errors.New("reset")},
	} {
		if got := modelhttp.Error(t.Context(), err, ""); !got.Retry || !strings.Contains(got.Error(), "was cut") {
			t.Errorf("%v: got %v", err, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := modelhttp.Error(ctx, io.ErrUnexpectedEOF, ""); !strings.Contains(got.Error(), "cancelled") {
		t.Errorf("got %v", got)
	}
}

// TestLongReplyIsAnError checks that a provider cannot fill the memory.
func TestLongReplyIsAnError(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		line := strings.Repeat("x", 1<<20)
		for {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	client := modelhttp.NewClient(0)
	defer client.CloseIdleConnections()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	reply, err := client.Do(r)
	if err == nil {
		defer reply.Body.Close()
		var n int64
		n, err = io.Copy(io.Discard, reply.Body)
		if n > 65<<20 {
			t.Errorf("read %d bytes", n)
		}
	}
	if got := modelhttp.Error(t.Context(), err, ""); got.Retry || !strings.Contains(got.Error(), "too large") {
		t.Errorf("got %v of %v", got, err)
	}
}

func TestUnsafeBaseURLIsRejected(t *testing.T) {
	for _, c := range []struct {
		url   string
		allow bool
		want  bool
	}{
		{"https://api.example.com/v1", false, true},
		{"http://127.0.0.1:11434/v1", false, true},
		{"http://localhost:11434", false, true},
		{"http://10.0.0.5:8000/v1", false, false},
		{"http://10.0.0.5:8000/v1", true, true},
		{"http://localhost.example.com", false, false},
		{"https://user:pass@example.com", false, false},
		{"https://example.com?key=1", false, false},
		{"ftp://example.com", true, false},
		{"/v1", true, false},
		{"", true, false},
	} {
		if err := modelhttp.CheckBaseURL(c.url, c.allow); (err == nil) != c.want {
			t.Errorf("%q, %v: got %v", c.url, c.allow, err)
		}
	}
}
