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
)

// minute bounds a test, so that a stream that never ends is a failure.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// start announces a session of bot.
func (w *wire) start(key string) askback.Session {
	w.t.Helper()
	s, err := w.engine.As(bot).Start(context.Background(), askback.SessionRequest{Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *wire) speak(session, text string) {
	w.t.Helper()
	if _, err := w.engine.As(ana).Tell(context.Background(), session, askback.SendMessage{Text: text}); err != nil {
		w.t.Error(err)
	}
}

// stream opens a stream as a browser would, and returns its lines.
func (w *wire) stream(ctx context.Context, path string, who askback.Principal) (*bufio.Reader, io.Closer) {
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

// until reads lines until n of them begin so.
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

// cutting breaks each reply off somewhere.
type cutting struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (c cutting) RoundTrip(r *http.Request) (*http.Response, error) {
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

// A connection that breaks anywhere, again and again, while others write: each
// event comes once, and in order within its session (F11).
func TestEventsSurviveBrokenConnections(t *testing.T) {
	w := newWire(t, nil)
	ctx := minute(t)
	const sessions, each = 3, 40
	c := httpapi.NewClient(w.server.URL, w.token(ana), &http.Client{Transport: cutting{w.client.Transport}})
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
				t.Fatal("a second snapshot, with a cursor that is kept")
			}
			began = true
			for i := range sessions {
				s := w.start(fmt.Sprint("run-", i))
				writers.Go(func() {
					for n := range each {
						w.speak(s.ID, fmt.Sprint(n))
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

// A stream shows that it lives, over either version of HTTP: what a frame may
// take does not end a stream that has nothing to say.
func TestSilentStreamsShowThatTheyLive(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			w := newWire(t, nil)
			w.handler.SetPulse(50*time.Millisecond, 10*time.Second)
			if version == 2 {
				w.overHTTP2()
				w.handler.SetPulse(50*time.Millisecond, 20*time.Millisecond)
			}
			in, body := w.stream(minute(t), "/api/v1/events", ana)
			defer body.Close()
			until(t, in, ":", 4)
		})
	}
}

// overHTTP2 serves the same over TLS instead, and returns how many connections
// there were.
func (w *wire) overHTTP2() *atomic.Int64 {
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

// Many streams share one connection of HTTP/2, and each gets its own events.
func TestManyStreamsOnOneConnection(t *testing.T) {
	w := newWire(t, nil)
	connections := w.overHTTP2()
	ctx := minute(t)
	seat := w.As(ana)
	if _, err := seat.People(ctx); err != nil { // the connection stands
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for i := range 40 {
		s := w.start(fmt.Sprint("run-", i))
		readers.Go(func() {
			for ev, err := range seat.Events(ctx, s.ID, "") {
				if err != nil || ev.SessionID != s.ID {
					t.Errorf("stream %d: got %s of %s, %v", i, ev.Type, ev.SessionID, err)
					return
				}
				if ev.Type == "message" {
					return
				}
				w.speak(s.ID, "hello")
			}
		})
	}
	readers.Wait()
	if n := connections.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

// Who does not read is cut off, and costs nothing further (F11).
func TestASlowReaderIsCutOff(t *testing.T) {
	w := newWire(t, nil)
	w.handler.SetPulse(time.Minute, 50*time.Millisecond)
	over := make(chan struct{})
	w.server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		defer close(over)
		w.handler.ServeHTTP(out, r)
	})
	s := w.start("run")
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET /api/v1/sessions/%s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", s.ID, w.token(ana))
	in := bufio.NewReader(conn)
	until(t, in, "data:", 1)
	large := strings.Repeat("x", askback.MaxMessage)
	for range 80 { // more than all buffers on the way hold
		w.speak(s.ID, large)
	}
	select {
	case <-over:
	case <-minute(t).Done():
		t.Fatal("the stream waits for its reader")
	}
}

// A token that is revoked ends its streams, and its client learns why (F4).
func TestARevokedTokenEndsItsStreams(t *testing.T) {
	w := newWire(t, nil)
	w.handler.SetPulse(10*time.Millisecond, 10*time.Second)
	made, secret, err := w.engine.As(root).CreateToken(context.Background(), askback.TokenRequest{Kind: askback.Responder, Name: "cem"})
	if err != nil {
		t.Fatal(err)
	}
	c := httpapi.NewClient(w.server.URL, secret, w.client)
	for ev, err := range c.Events(minute(t), "", "") {
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

// A server that stops says when to come back.
func TestStopEndsStreams(t *testing.T) {
	w := newWire(t, nil)
	in, body := w.stream(minute(t), "/api/v1/events", ana)
	defer body.Close()
	until(t, in, "data:", 1)
	w.handler.Stop()
	rest, err := io.ReadAll(in)
	if err != nil || !strings.HasSuffix(string(rest), "\nretry: 1000\n\n") {
		t.Errorf("got %q, %v; want it to end with when to come back", rest, err)
	}
}

// One principal has only so many streams; when one ends there is room again.
func TestStreamsAreBounded(t *testing.T) {
	w := newWire(t, &httpapi.Options{MaxStreams: 1})
	ctx := minute(t)
	in, body := w.stream(ctx, "/api/v1/events", ana)
	until(t, in, "data:", 1)
	got := w.send("GET", "/api/v1/events", w.token(ana), "")
	if got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "too-many") || got.header.Get("Retry-After") == "" {
		t.Errorf("the second stream: got %d %s, want 429", got.status, got.body)
	}
	if got := w.send("GET", "/api/v1/events", w.token(askback.Principal{Kind: askback.Responder, Name: "ben"}), ""); got.status != http.StatusOK {
		t.Errorf("somebody else's: got %d %s, want 200", got.status, got.body)
	}
	body.Close()
	for ev, err := range w.As(ana).Events(ctx, "", "") { // comes back until there is room
		if err != nil || ev.Type != "snapshot" {
			t.Errorf("after the first ended: got %s, %v", ev.Type, err)
		}
		break
	}
}

// A reader that has had enough ends its stream, and its context ends it too, with
// one error at the end.
func TestAReaderLeaves(t *testing.T) {
	w := newWire(t, nil)
	ctx, cancel := context.WithCancel(minute(t))
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

// What broke off in the middle of a frame never was, and what a stream may have
// more of is passed over.
func TestFramesAreReadAsTheyAreWritten(t *testing.T) {
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
	for ev, err := range c.Events(minute(t), "s", "c0") {
		if err != nil {
			t.Fatal(err)
		}
		if cursors = append(cursors, string(ev.Cursor)); len(cursors) == 3 {
			break
		}
	}
	if got, want := fmt.Sprint(cursors, after), "[c1 c2 c3] [c0 c1 c1 c2 c2]"; got != want {
		t.Errorf("got cursors and where each connection began %s, want %s", got, want)
	}
}
