package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

const (
	unauthorized = `{"type": "urn:askback:problem:unauthorized"}`
	forbidden    = `{"type": "urn:askback:problem:forbidden"}`
)

// serve starts a server with a handler.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// newTransport returns a transport whose connections are closed at the end of the test.
func newTransport(t *testing.T) *http.Transport {
	t.Helper()
	out := &http.Transport{}
	t.Cleanup(out.CloseIdleConnections)
	return out
}

// The address of a request equals the URL that package url parses from the server's address and the path.
func TestRequestURLJoinsServerURLAndPath(t *testing.T) {
	for _, address := range []string{
		"http://127.0.0.1:7575", "http://127.0.0.1:7575/", "http://example.com:", "https://example.com/askback/",
		"http://example.com/a%20b",
		"http://example.com/a%2Fb", "http://ana:secret@example.com", "http://[::1]:7575", "http://EXAMPLE.com",
		"http://example.com?a=b", "example.com", "",
		"http://bad host", "http://example.com:port",
	} {
		for _, id := range []string{"ask_1", "a/b", "a b", "%", "?", "#", "é", "a+b", "a:b@c;d=e,f$g&h", "..", ""} {
			sent := &savedRequest{}
			_, err := httpapi.NewClient(address, "token", &http.Client{Transport: sent}).Get(t.Context(), id)
			want, wantErr := http.NewRequest("GET", strings.TrimRight(address, "/")+"/api/v1/asks/"+url.PathEscape(id),
				nil)
			if wantErr != nil {
				if err == nil || err.Error() != wantErr.Error() {
					t.Errorf("%q, %q: got %v, want %v", address, id, err, wantErr)
				}
				continue
			}
			if sent.last == nil {
				t.Errorf("%q, %q: no request is sent: %v", address, id, err)
				continue
			}
			if got := sent.last; got.URL.String() != want.URL.String() ||
				got.URL.RequestURI() != want.URL.RequestURI() || got.Host != want.Host {
				t.Errorf("%q, %q: got %s (host %q), want %s (host %q)", address, id, got.URL, got.Host, want.URL,
					want.Host)
			}
		}
	}
}

// A savedRequest keeps the last request, and returns an error instead of a response.
type savedRequest struct{ last *http.Request }

// RoundTrip implements [http.RoundTripper].
func (s *savedRequest) RoundTrip(r *http.Request) (*http.Response, error) {
	s.last = r
	return nil, errors.New("not sent")
}

// The header of a request contains nothing from earlier requests. Only replies that may be long
// are compressed.
func TestCallsShareNoHeaders(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]http.Header{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		r.Header.Del("User-Agent")
		sent[r.Method+" "+r.URL.Path] = r.Header
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, unauthorized) // a stream ends with this reply
	})
	c := httpapi.NewClient(s.URL, "token", &http.Client{Transport: newTransport(t)})
	for range 2 {
		_, _ = c.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Go on?"}}, Key: "k"})
		for range c.Events(t.Context(), "", "9") {
			// The only event is the error.
		}
		_, _ = c.List(t.Context(), askback.Query{})
		_, _ = c.Get(t.Context(), "1")
		_, _ = c.Decline(t.Context(), "1", "no")
	}
	for call, want := range map[string]string{
		"POST /api/v1/asks": "map[Accept-Encoding:[identity] Authorization:[Bearer token] " +
			"Content-Length:[%] Content-Type:[application/json] Idempotency-Key:[k]]",
		"GET /api/v1/events": "map[Accept:[text/event-stream] Accept-Encoding:[gzip] Authorization:[Bearer " +
			"token] Last-Event-Id:[9]]",
		"GET /api/v1/asks":   "map[Accept-Encoding:[gzip] Authorization:[Bearer token]]",
		"GET /api/v1/asks/1": "map[Accept-Encoding:[identity] Authorization:[Bearer token]]",
		"POST /api/v1/asks/1/decline": "map[Accept-Encoding:[identity] Authorization:[Bearer token] " +
			"Content-Length:[%] Content-Type:[application/json]]",
	} {
		got := sent[call]
		want = strings.ReplaceAll(want, "%", got.Get("Content-Length"))
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %v", call, got, want)
		}
	}
}

// The header and the body of a request are sent in one write.
func TestRequestIsSentInOneWrite(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, unauthorized)
	})
	var writes atomic.Int64
	transport := newTransport(t)
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		return countedConn{conn, &writes}, err
	}
	c := httpapi.NewClient(s.URL, "token", &http.Client{Transport: transport})
	if _, err := c.Answer(t.Context(), "1", askback.Choose("yes")); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("got %v, want the error of the server", err)
	}
	if n := writes.Load(); n != 1 {
		t.Errorf("got %d writes, want 1", n)
	}
}

// A countedConn counts the writes to a connection.
type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

// Write implements [net.Conn].
func (c countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// Without an HTTP client from the caller, a Client keeps the connections of many concurrent calls open for
// later calls.
func TestConcurrentCallsKeepTheirConnections(t *testing.T) {
	const calls = 20
	var opened atomic.Int64
	arrived, released := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-released
		_, _ = io.WriteString(w, `{"status": "pending"}`)
	}))
	s.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		if now == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := httpapi.NewClient(s.URL, "token", nil)
	for range 3 {
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				if _, err := c.Get(t.Context(), "1"); err != nil {
					t.Error(err)
				}
			})
		}
		for range calls {
			<-arrived
		}
		for range calls {
			released <- struct{}{}
		}
		all.Wait()
	}
	if n := opened.Load(); n != calls {
		t.Errorf("%d calls at the same time, three times: opened %d connections, want %d", calls, n, calls)
	}
}

// A redirect is not followed, because it could send the token to another server.
func TestRedirectIsNotFollowed(t *testing.T) {
	var requests atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	for name, client := range differentClients(t) {
		requests.Store(0)
		_, err := httpapi.NewClient(s.URL, "token", client).Get(t.Context(), "1")
		if err == nil || !strings.Contains(err.Error(), "the server replied Temporary Redirect") ||
			requests.Load() != 1 {
			t.Errorf("%s: got %v after %d requests, want the redirect as the error of one request", name, err,
				requests.Load())
		}
	}
}

// differentClients returns HTTP clients with different settings.
func differentClients(t *testing.T) map[string]*http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := newTransport(t)
	return map[string]*http.Client{
		"none":            nil,
		"without timeout": {Transport: transport},
		"with timeout":    {Transport: transport, Timeout: time.Minute},
		"with cookies":    {Transport: transport, Jar: jar},
	}
}

// A Client uses the cookies and the timeout of the given HTTP client.
func TestSettingsOfHTTPClientAreUsed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/slow") {
			<-r.Context().Done() // wait until the client ends the request
			return
		}
		problem := forbidden
		if _, err := r.Cookie("a"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			problem = unauthorized
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, problem)
	})
	clients := differentClients(t)
	c := httpapi.NewClient(s.URL, "token", clients["with cookies"])
	for _, want := range []error{askback.ErrUnauthorized, askback.ErrForbidden} {
		if _, err := c.Get(t.Context(), "1"); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	hasty := clients["with timeout"]
	hasty.Timeout = time.Millisecond
	_, err := httpapi.NewClient(s.URL, "token", hasty).Get(t.Context(), "slow")
	if !errors.Is(err, askback.ErrUnreachable) || !strings.Contains(err.Error(), "Client.Timeout") {
		t.Errorf("got %v, want the timeout of the HTTP client", err)
	}
}

// A TLS call to a server without TLS returns the error that package http returns.
func TestTLSToPlainServerReturnsErrorOfNetHTTP(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	for name, client := range differentClients(t) {
		_, err := httpapi.NewClient(strings.Replace(s.URL, "http", "https", 1), "token", client).Get(t.Context(), "1")
		if !errors.Is(err, askback.ErrUnreachable) || !strings.Contains(err.Error(), http.ErrSchemeMismatch.Error()) {
			t.Errorf("%s: got %v, want %v", name, err, http.ErrSchemeMismatch)
		}
	}
}

// A call ends when the server does not reply in time, or earlier when its context ends.
func TestCallFailsWithoutReply(t *testing.T) {
	for name, at := range map[string]struct {
		deadline, end time.Duration
		err           error
	}{
		"no deadline":    {0, 30 * time.Second, askback.ErrUnreachable},
		"a late one":     {time.Hour, 30 * time.Second, askback.ErrUnreachable},
		"an early one":   {10 * time.Second, 10 * time.Second, context.DeadlineExceeded},
		"the same limit": {30 * time.Second, 30 * time.Second, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if at.deadline != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, at.deadline)
				defer cancel()
			}
			begun := time.Now()
			_, err := httpapi.NewClient("http://askback", "token",
				&http.Client{Transport: silentTransport{}}).Get(ctx, "1")
			if took := time.Since(begun); !errors.Is(err, at.err) || took != at.end {
				t.Errorf("%s: got %v after %v, want %v after %v", name, err, took, at.err, at.end)
			}
		})
	}
}

// silentTransport waits until the context of a request ends.
type silentTransport struct{}

// RoundTrip implements [http.RoundTripper].
func (silentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}
