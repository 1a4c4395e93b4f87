package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// newHookFixture returns a server whose agents are started by webhooks.
func newHookFixture(t *testing.T) *fixture {
	t.Helper()
	db := memstore.New()
	return newFixtureOn(t, engine.New(db, &engine.Options{Runner: hostedAgents(t)}), db,
		&httpapi.Options{Hooks: hooks(time.Now)})
}

// dial returns a new connection to the server.
func (w *fixture) dial() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// sendSigned sends the header of a webhook whose body has 1000 bytes, and only the beginning of the body. It
// returns the reply, whose body is closed.
func (w *fixture) sendSigned(h http.Header, begin string) *http.Response {
	w.t.Helper()
	conn := w.dial()
	var head strings.Builder
	if err := h.Write(&head); err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(conn,
		"POST /hooks/poem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n%s\r\n%s",
		head.String(), begin)
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	got.Body.Close()
	return got
}

// A webhook whose header shows that it is forged or old is rejected before its body arrives (T43).
func TestForgedHookIsRejectedBeforeItsBody(t *testing.T) {
	w := newHookFixture(t)
	old := sign(t, poemSecret, "msg_1", time.Now().Add(-6*time.Minute), "{}")
	for name, h := range map[string]http.Header{"without a signature": {}, "old": old} {
		if got := w.sendSigned(h, ""); got.StatusCode != http.StatusUnauthorized || !got.Close {
			t.Errorf("%s: got status %d; closed: %t", name, got.StatusCode, got.Close)
		}
	}
}

// Senders without the secret can neither keep many bodies in memory nor keep a connection open for long
// (T43).
func TestUnverifiedHooksAreLimited(t *testing.T) {
	w := newHookFixture(t)
	w.handler.SetUnverifiedTime(50 * time.Millisecond)
	h := sign(t, poemSecret, "msg_1", time.Now(), "{}")
	if got := w.sendSigned(h, "{"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("got status %d for a body that does not end", got.StatusCode)
	}
	if got := w.send("POST", "/hooks/poem", w.token(bot), `{}`); got.status != http.StatusAccepted {
		t.Errorf("got %d %s with a token", got.status, got.body)
	}
}

// A delivery that arrives several times at the same moment starts one run (E1, E10).
func TestConcurrentDeliveriesStartOneRun(t *testing.T) {
	w := newHookFixture(t)
	var header []string
	for name, values := range sign(t, poemSecret, "msg_1", time.Now(), `{"topic": "rain"}`) {
		header = append(header, name, values[0])
	}
	var all sync.WaitGroup
	replies := make([]reply, 8)
	for i := range replies {
		all.Go(func() { replies[i] = w.send("POST", "/hooks/poem", "", `{"topic": "rain"}`, header...) })
	}
	all.Wait()
	for _, r := range replies {
		if r.status != http.StatusAccepted || r.body != replies[0].body {
			t.Errorf("got %d %s, and %s", r.status, r.body, replies[0].body)
		}
	}
	page, err := w.engine.As(ana).Sessions(t.Context(), askback.SessionQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("got %d sessions, %v", len(page.Items), err)
	}
}

// The idempotency key of a webhook is valid for one agent. The same key at another agent starts another run
// (E10).
func TestDeliveriesToTwoAgentsStartTwoRuns(t *testing.T) {
	w := newHookFixture(t)
	for _, agent := range []string{"poem", "notes", "poem"} {
		got := w.send("POST", "/hooks/"+agent, w.token(bot), `{}`, "Idempotency-Key", "delivery-1")
		if got.status != http.StatusAccepted {
			t.Errorf("%s: got %d %s", agent, got.status, got.body)
		}
	}
	page, err := w.engine.As(ana).Sessions(t.Context(), askback.SessionQuery{})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("got %d sessions, %v; want one of each agent", len(page.Items), err)
	}
}

// A server without the secrets of agents accepts only tokens.
func TestWithoutVerifierWebhooksRequireAToken(t *testing.T) {
	db := memstore.New()
	w := newFixtureOn(t, engine.New(db, &engine.Options{Runner: hostedAgents(t)}), db, nil)
	var header []string
	for name, values := range sign(t, poemSecret, "msg_1", time.Now(), "{}") {
		header = append(header, name, values[0])
	}
	if got := w.send("POST", "/hooks/poem", "", "{}", header...); got.status != http.StatusUnauthorized {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := w.send("POST", "/hooks/poem", w.token(bot), "{}"); got.status != http.StatusAccepted {
		t.Errorf("got %d %s with a token", got.status, got.body)
	}
}

// A webhook starts an agent with a signature, or with a token that start_by names. Any other token is
// rejected.
func TestStartByLimitsWebhooks(t *testing.T) {
	model, err := scripted.Parse("poem", []byte(triageScript))
	if err != nil {
		t.Fatal(err)
	}
	runner, err := agent.NewRunner(agent.Definition{
		Name: "poem", Prompt: "You sort mails.", Model: model, StartBy: []string{"token:ci"},
	})
	if err != nil {
		t.Fatal(err)
	}
	db := memstore.New()
	w := newFixtureOn(t, engine.New(db, &engine.Options{Runner: runner}), db, &httpapi.Options{Hooks: hooks(time.Now)})
	for name, want := range map[string]int{"ci": http.StatusAccepted, "other": http.StatusForbidden} {
		got := w.send("POST", "/hooks/poem", w.token(askback.Principal{Kind: askback.Agent, Name: name}), "{}")
		if got.status != want ||
			(want == http.StatusForbidden) != strings.Contains(got.body, "urn:askback:problem:start-by") {
			t.Errorf("%s: got %d %s, want %d", name, got.status, got.body, want)
		}
	}
	var header []string
	for key, values := range sign(t, poemSecret, "msg_1", time.Now(), "{}") {
		header = append(header, key, values[0])
	}
	if got := w.send("POST", "/hooks/poem", "", "{}", header...); got.status != http.StatusAccepted {
		t.Errorf("signed: got %d %s", got.status, got.body)
	}
}
