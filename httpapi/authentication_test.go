package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// A limitedAuthenticator is an Authenticator whose Authenticate returns ErrBusy after a number of calls, as
// if the store failed.
type limitedAuthenticator struct {
	*engine.Engine
	left  atomic.Int64 // the number of further calls that succeed; if negative, all calls succeed
	calls atomic.Int64
}

func (g *limitedAuthenticator) Authenticate(ctx context.Context, secret string) (askback.Principal, error) {
	g.calls.Add(1)
	if n := g.left.Load(); n == 0 || n > 0 && g.left.Add(-1) < 0 {
		return askback.Principal{}, askback.ErrBusy
	}
	return g.Engine.Authenticate(ctx, secret)
}

func newLimitedAuthenticator(t *testing.T) (*fixture, *limitedAuthenticator) {
	t.Helper()
	g := &limitedAuthenticator{Engine: engine.New(memstore.New(), nil)}
	g.left.Store(-1)
	w := &fixture{
		t: t, engine: g.Engine, handler: httpapi.NewHandler(g, nil), tokens: map[askback.Principal]string{},
		client: &http.Client{},
	}
	w.server = httptest.NewServer(checkTraffic(t, w.handler))
	t.Cleanup(func() {
		w.handler.Stop()
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	return w, g
}

// If the token of the reader cannot be checked, a stream sends no event and ends with a retry time.
func TestStreamEndsWhenTokenCannotBeChecked(t *testing.T) {
	for name, c := range map[string]struct {
		heartbeat time.Duration
		event     bool
	}{"at an event": {time.Hour, true}, "at a heartbeat": {10 * time.Millisecond, false}} {
		w, g := newLimitedAuthenticator(t)
		w.handler.SetHeartbeat(c.heartbeat, time.Minute)
		run := w.startSession("run")
		in, conn := w.stream(limitedContext(t), "/api/v1/sessions/"+run.ID+"/events", ana)
		until(t, in, "event: snapshot", 1)
		g.left.Store(0)
		if c.event {
			w.postMessage(run.ID, "secret plans")
		}
		rest, err := io.ReadAll(in)
		if err != nil || !strings.Contains(string(rest), "retry: ") || strings.Contains(string(rest), "secret plans") {
			t.Errorf("%s: got %q, %v; want the end with a retry time, and no event", name, rest, err)
		}
		conn.Close()
	}
}

// If a check of the token fails before the header is sent, the reply has an error status.
func TestStreamReturnsErrorStatusWhenTokenCannotBeChecked(t *testing.T) {
	w, g := newLimitedAuthenticator(t)
	w.handler.SetHeartbeat(10*time.Millisecond, time.Minute)
	run := w.startSession("run")
	cursor := ""
	for ev, err := range w.engine.As(ana).Events(t.Context(), run.ID, "") {
		if err != nil {
			t.Fatal(err)
		}
		cursor = string(ev.Cursor)
		break
	}
	secret := w.token(ana)
	g.left.Store(1) // the request is authenticated, but not its first event
	r, err := http.NewRequestWithContext(limitedContext(t), "GET",
		w.server.URL+"/api/v1/sessions/"+run.ID+"/events?after="+cursor, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %s, want 503", res.Status)
	}
}

// A hook gets no decision if its token cannot be checked after the wait or at a heartbeat.
func TestHookGetsNoDecisionWhenTokenCannotBeChecked(t *testing.T) {
	for name, heartbeat := range map[string]time.Duration{
		"at the answer": time.Hour, "at a heartbeat": 10 * time.Millisecond,
	} {
		w, g := newLimitedAuthenticator(t)
		w.handler.SetHeartbeat(heartbeat, time.Minute)
		conn := w.dialHook("", runsBash)
		w.open(1, askback.Pending)
		g.left.Store(0)
		if heartbeat == time.Hour {
			a := w.open(1, askback.Pending)[0]
			if _, err := w.engine.As(ana).Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil {
				t.Fatal(err)
			}
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body) // an error means that the server aborted the reply without a decision
		if strings.Contains(string(raw), "allow") || res.StatusCode == http.StatusNoContent ||
			err == nil && res.StatusCode == http.StatusOK {
			t.Errorf("%s: got %d %s, want no decision", name, res.StatusCode, raw)
		}
	}
}

// A revokingAuthenticator is an Authenticator whose clients revoke the token after Consume.
type revokingAuthenticator struct {
	*engine.Engine
	token atomic.Value // id of the token, a string
}

func (a *revokingAuthenticator) As(p askback.Principal) askback.Client {
	return revokingClient{a.Engine.As(p), a}
}

type revokingClient struct {
	askback.Client
	authenticator *revokingAuthenticator
}

func (c revokingClient) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	a, err := c.Client.Consume(ctx, id, digest)
	if token, ok := c.authenticator.token.Load().(string); ok && err == nil {
		_, err = c.authenticator.RevokeToken(ctx, token)
	}
	return a, err
}

// A hook gets no decision if its token is revoked after the wait, even if the approval was
// consumed.
func TestHookGetsNoDecisionAfterRevocation(t *testing.T) {
	a := &revokingAuthenticator{Engine: engine.New(memstore.New(), nil)}
	w := &fixture{
		t: t, engine: a.Engine, handler: httpapi.NewHandler(a, nil), tokens: map[askback.Principal]string{},
		client: &http.Client{},
	}
	w.server = httptest.NewServer(checkTraffic(t, w.handler))
	t.Cleanup(func() {
		w.handler.Stop()
		w.client.CloseIdleConnections()
		w.server.Close()
	})
	reply := w.sendHook(bot, "", runsBash)
	asked := w.open(1, askback.Pending)[0]
	who, err := a.Authenticate(t.Context(), w.token(bot))
	if err != nil {
		t.Fatal(err)
	}
	a.token.Store(who.Token)
	if _, err := a.Engine.As(ana).Answer(t.Context(), asked.ID, askback.Decide(askback.Approve, "")); err != nil {
		t.Fatal(err)
	}
	if got := <-reply; got.status != http.StatusUnauthorized || strings.Contains(string(got.body), "allow") {
		t.Errorf("got %d %s, want 401 and no decision", got.status, got.body)
	}
}

// A request is authenticated once. If its body arrives slowly, the request is authenticated a second time.
func TestRequestIsAuthenticatedOnce(t *testing.T) {
	w, g := newLimitedAuthenticator(t)
	for slowBody, want := range map[time.Duration]int64{time.Hour: 1, 0: 2} {
		w.handler.SetSlowBody(slowBody)
		secret := w.token(bot)
		before := g.calls.Load()
		if got := w.send("POST", "/api/v1/asks", secret, `{"question": "Which?"}`); got.status != http.StatusCreated {
			t.Fatalf("got %d %s, want 201", got.status, got.body)
		}
		if got := g.calls.Load() - before; got != want {
			t.Errorf("a body of %s is slow: authenticated %d times, want %d", slowBody, got, want)
		}
	}
}
