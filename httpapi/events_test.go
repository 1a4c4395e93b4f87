package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/limits"
)

// limitedContext returns a context that ends after a minute, so that a stream that never
// ends fails the test.
func limitedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startSession creates a session of bot.
func (w *fixture) startSession(key string) askback.Session {
	w.t.Helper()
	s, err := w.engine.As(bot).Start(context.Background(), askback.SessionRequest{Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *fixture) postMessage(session, text string) {
	w.t.Helper()
	if _, err := w.engine.As(ana).Send(context.Background(), session, askback.SendMessage{Text: text}); err != nil {
		w.t.Error(err)
	}
}

// stream opens a stream with a plain HTTP request. It returns a reader and the closer of the body.
func (w *fixture) stream(ctx context.Context, path string, who askback.Principal) (*bufio.Reader, io.Closer) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", w.server.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token(who))
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: got %s, want a stream", path, res.Status)
	}
	return bufio.NewReader(res.Body), res.Body
}

// until reads lines up to the n-th line with a prefix, and returns these lines.
func until(t *testing.T, in *bufio.Reader, prefix string, n int) string {
	t.Helper()
	var all strings.Builder
	for n > 0 {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended (%v) before %d more lines with %q:\n%s", err, n, prefix, all.String())
		}
		all.WriteString(line)
		if strings.HasPrefix(line, prefix) {
			n--
		}
	}
	return all.String()
}

// cuttingTransport truncates each reply at a random place, after 500 to 3500 bytes.
type cuttingTransport struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (c cuttingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		whole := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(whole, 500+rand.Int64N(3000)), whole}
	}
	return res, err
}

// While connections break at random, each event is received once, in the order of its
// session (F11).
func TestEventsSurviveBrokenConnections(t *testing.T) {
	w := newFixture(t, nil)
	ctx := limitedContext(t)
	const sessions, each = 3, 40
	c := httpapi.NewClient(w.server.URL, w.token(ana), &http.Client{Transport: cuttingTransport{w.client.Transport}})
	c.SetPause(time.Millisecond)
	var writers sync.WaitGroup
	defer writers.Wait()
	last := map[string]int64{}
	began := false
	for ev, err := range c.Events(ctx, "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == "snapshot" {
			if began {
				t.Fatal("got a second snapshot, although the cursor is valid")
			}
			began = true
			for i := range sessions {
				s := w.startSession(fmt.Sprint("run-", i))
				writers.Go(func() {
					for n := range each {
						w.postMessage(s.ID, fmt.Sprint(n))
					}
				})
			}
			continue
		}
		if ev.Seq != last[ev.SessionID]+1 {
			t.Fatalf("session %s: got event %d after %d", ev.SessionID, ev.Seq, last[ev.SessionID])
		}
		last[ev.SessionID] = ev.Seq
		total := int64(0)
		for _, n := range last {
			total += n
		}
		if total == sessions*(each+1) {
			return
		}
	}
}

// An idle stream sends heartbeats over HTTP/1.1 and HTTP/2. The write deadline of a frame does not end the
// stream.
func TestIdleStreamsSendHeartbeats(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			w := newFixture(t, nil)
			w.handler.SetHeartbeat(50*time.Millisecond, 10*time.Second)
			if version == 2 {
				w.overHTTP2()
				w.handler.SetHeartbeat(50*time.Millisecond, 20*time.Millisecond)
			}
			in, body := w.stream(limitedContext(t), "/api/v1/events", ana)
			defer body.Close()
			until(t, in, ":", 4)
		})
	}
}

// overHTTP2 replaces the server by a server with TLS and HTTP/2, and returns the number of its connections.
func (w *fixture) overHTTP2() *atomic.Int64 {
	var connections atomic.Int64
	w.server.Close()
	w.server = httptest.NewUnstartedServer(w.handler)
	w.server.EnableHTTP2 = true
	w.server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	w.server.StartTLS()
	w.client = w.server.Client()
	w.t.Cleanup(func() {
		w.handler.Stop()
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	return &connections
}

// Many streams over one HTTP/2 connection each receive their own events.
func TestManyStreamsShareOneConnection(t *testing.T) {
	w := newFixture(t, nil)
	connections := w.overHTTP2()
	ctx := limitedContext(t)
	client := w.As(ana)
	if _, err := client.People(ctx); err != nil { // open the connection
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for i := range 40 {
		s := w.startSession(fmt.Sprint("run-", i))
		readers.Go(func() {
			for ev, err := range client.Events(ctx, s.ID, "") {
				if err != nil || ev.SessionID != s.ID {
					t.Errorf("stream %d: got %s of %s, %v", i, ev.Type, ev.SessionID, err)
					return
				}
				if ev.Type == "message" {
					return
				}
				w.postMessage(s.ID, "hello")
			}
		})
	}
	readers.Wait()
	if n := connections.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

// A client that does not read is disconnected (F11).
func TestSlowReaderIsDisconnected(t *testing.T) {
	w := newFixture(t, nil)
	w.handler.SetHeartbeat(time.Minute, 50*time.Millisecond)
	over := make(chan struct{})
	w.server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		defer close(over)
		w.handler.ServeHTTP(out, r)
	})
	s := w.startSession("run")
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET /api/v1/sessions/%s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", s.ID,
		w.token(ana))
	in := bufio.NewReader(conn)
	until(t, in, "data:", 1)
	large := strings.Repeat("x", limits.MaxMessage)
	for range 80 { // more than the buffers of the connection hold
		w.postMessage(s.ID, large)
	}
	select {
	case <-over:
	case <-limitedContext(t).Done():
		t.Fatal("the stream still waits for its reader")
	}
}

// The streams of a revoked token end, and the client returns ErrUnauthorized (F4).
func TestRevokedTokenEndsItsStreams(t *testing.T) {
	w := newFixture(t, nil)
	w.handler.SetHeartbeat(10*time.Millisecond, 10*time.Second)
	made, secret, err := w.engine.As(root).CreateToken(context.Background(),
		askback.TokenRequest{Kind: askback.Responder, Name: "cem"})
	if err != nil {
		t.Fatal(err)
	}
	c := httpapi.NewClient(w.server.URL, secret, w.client)
	for ev, err := range c.Events(limitedContext(t), "", "") {
		if err != nil {
			if !errors.Is(err, askback.ErrUnauthorized) {
				t.Errorf("got %v, want %v", err, askback.ErrUnauthorized)
			}
			return
		}
		if ev.Type == "snapshot" {
			if _, err := w.engine.As(root).RevokeToken(context.Background(), made.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Error("the stream ended without an error")
}

// A server that stops ends its streams with a retry time.
func TestStopEndsStreamsWithRetry(t *testing.T) {
	w := newFixture(t, nil)
	in, body := w.stream(limitedContext(t), "/api/v1/events", ana)
	defer body.Close()
	until(t, in, "data:", 1)
	w.handler.Stop()
	rest, err := io.ReadAll(in)
	if err != nil || !strings.HasSuffix(string(rest), "\nretry: 1000\n\n") {
		t.Errorf("got %q, %v; want the end with a retry time", rest, err)
	}
}

// The number of streams of a principal is limited. When a stream ends, another stream can be opened.
func TestStreamsPerPrincipalAreLimited(t *testing.T) {
	w := newFixture(t, &httpapi.Options{MaxStreams: 1})
	ctx := limitedContext(t)
	in, body := w.stream(ctx, "/api/v1/events", ana)
	until(t, in, "data:", 1)
	got := w.send("GET", "/api/v1/events", w.token(ana), "")
	if got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "too-many") ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("the second stream: got %d %s, want 429", got.status, got.body)
	}
	if got := w.send("GET", "/api/v1/events", w.token(askback.Principal{Kind: askback.Responder, Name: "ben"}),
		""); got.status != http.StatusOK {
		t.Errorf("a stream of another principal: got %d %s, want 200", got.status, got.body)
	}
	body.Close()
	for ev, err := range w.As(ana).Events(ctx, "", "") { // reconnects until another stream has ended
		if err != nil || ev.Type != "snapshot" {
			t.Errorf("after the first ended: got %s, %v", ev.Type, err)
		}
		break
	}
}

// When its context ends, a stream yields one error and ends.
func TestStreamEndsWithItsContext(t *testing.T) {
	w := newFixture(t, nil)
	ctx, cancel := context.WithCancel(limitedContext(t))
	defer cancel()
	var got []error
	for _, err := range w.As(ana).Events(ctx, "", "") {
		got = append(got, err)
		cancel()
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], context.Canceled) {
		t.Errorf("got %v, want a snapshot and then %v", got, context.Canceled)
	}
}

// An incomplete frame and unknown fields are ignored. The client reconnects with the cursor of
// the last complete frame.
func TestIncompleteFramesAreIgnored(t *testing.T) {
	const one = `{"seq":1,"session_id":"s","type":"message","at":"2026-01-02T09:00:00.000Z","data":{"text":"a"}}`
	bodies := []string{
		": hello\nretry: 1\n\nid: c1\r\nevent: message\r\ndata: " + one + "\r\n\r\nid: c2\ndata: " + one[:20],
		"id: c2\ndata: " + one + "\n",
		"id: c2\nwhatever: x\ndata:" + one + "\n\n",
		"", "id: c3\ndata: " + one + "\n\n",
	}
	var after []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after = append(after, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, bodies[len(after)-1])
	}))
	defer server.Close()
	c := httpapi.NewClient(server.URL, "t", &http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
	c.SetPause(time.Millisecond)
	var cursors []string
	for ev, err := range c.Events(limitedContext(t), "s", "c0") {
		if err != nil {
			t.Fatal(err)
		}
		if cursors = append(cursors, string(ev.Cursor)); len(cursors) == 3 {
			break
		}
	}
	if got, want := fmt.Sprint(cursors, after), "[c1 c2 c3] [c0 c1 c1 c2 c2]"; got != want {
		t.Errorf("got the cursors and the start of each connection %s, want %s", got, want)
	}
}
