package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/sqlite"
)

// The reply to a request that asks, claims or settles is sent after its commit (F2). Package
// test/faults/disk checks the same by tracing system calls.
func TestRepliesAreSentAfterTheirCommits(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "askback.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := engine.New(db, nil)
	server := httptest.NewServer(checkTraffic(t, httpapi.NewHandler(e, nil)))
	defer server.Close()
	ctx := context.Background()
	client := func(kind askback.Kind, name string) *httpapi.Client {
		_, secret, err := e.As(root).CreateToken(ctx, askback.TokenRequest{Kind: kind, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return httpapi.NewClient(server.URL, secret, server.Client())
	}
	agent, person := client(askback.Agent, "bot"), client(askback.Responder, "ana")
	var ask askback.Ask
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"ask", func() (err error) { ask, err = agent.Ask(ctx, question("Go on?", "yes", "no")); return err }},
		{"claim", func() error { _, err := person.Claim(ctx, ask.ID); return err }},
		{"answer", func() error { _, err := person.Answer(ctx, ask.ID, askback.Choose("yes")); return err }},
		{"ask again", func() (err error) { ask, err = agent.Ask(ctx, question("Sure?", "yes", "no")); return err }},
		{"decline", func() error { _, err := person.Decline(ctx, ask.ID, ""); return err }},
		{"ask once more", func() (err error) { ask, err = agent.Ask(ctx, question("Really?")); return err }},
		{"cancel", func() error { _, err := agent.Cancel(ctx, ask.ID, ""); return err }},
	} {
		before := db.Stats().Commits
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if after := db.Stats().Commits; after != before+1 {
			t.Errorf("%s: %d commits before the reply, want one", step.what, after-before)
		}
	}
}

// Wait with a short deadline returns the answer as soon as the ask is answered. A cancelled Wait returns the
// open ask.
func TestShortWaitReturnsAnswerOrOpenAsk(t *testing.T) {
	w := newFixture(t, nil)
	agent, person := w.As(bot), w.As(ana)
	ask := w.ask(databases)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	given, stop := context.WithCancel(ctx)
	stop()
	if got, err := agent.Wait(given, ask.ID); got.ID != ask.ID || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: got ask %q, %v; want the ask and %v", got.ID, err, context.Canceled)
	}
	short, end := context.WithTimeout(ctx, 9900*time.Millisecond)
	defer end()
	settled := make(chan askback.Ask, 1)
	go func() {
		got, err := agent.Wait(short, ask.ID)
		if err != nil {
			t.Error(err)
		}
		settled <- got
	}()
	if _, err := person.Answer(ctx, ask.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	if got := <-settled; !got.Settled() {
		t.Errorf("got %s, want the answer", got.Status)
	}
	if short.Err() != nil {
		t.Error("the answer came only after the whole wait")
	}
}

// If a proxy replies 502, 503 or 504 without a problem, the client returns ErrUnreachable, so that the call
// is retried.
func TestProxyErrorIsUnreachable(t *testing.T) {
	for _, status := range []int{502, 503, 504} {
		proxy := httptest.NewServer(statusHandler(status))
		_, err := httpapi.NewClient(proxy.URL, "x", proxy.Client()).Get(context.Background(), "ask_x")
		if !isUnreachable(err) {
			t.Errorf("%d: got %v, want %v", status, err, askback.ErrUnreachable)
		}
		proxy.Close()
	}
}

// A waiting request does not return the answer if its token was revoked.
func TestRevokedTokenGetsNoAnswer(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	made, secret, err := w.engine.As(root).CreateToken(ctx, askback.TokenRequest{Kind: askback.Agent, Name: bot.Name})
	if err != nil {
		t.Fatal(err)
	}
	ask := w.ask(databases)
	w.watch(secret)
	heard := make(chan reply, 1)
	go func() {
		defer close(heard) // close the channel even if the request fails
		heard <- w.send("GET", "/api/v1/asks/"+ask.ID+"?wait=60s", secret, "")
	}()
	<-w.seen
	if _, err := w.engine.As(root).RevokeToken(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.As(ana).Answer(ctx, ask.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got.status != 401 {
		t.Errorf("got %d %s, want 401", got.status, got.body)
	}
}

// The secret of a browser is accepted only as a cookie, because browsers send a cookie to every port of its
// host. The cookie cannot create or list tokens, change the people who may log in, link a chat, or yield the
// database.
func TestBrowserCookieIsAcceptedOnlyOnPageRoutes(t *testing.T) {
	w := newFixture(t, nil)
	secret := w.token(askback.Principal{Kind: askback.Admin, Name: "eve", Channel: askback.ChannelWeb})
	const create = `{"kind": "admin", "name": "thief"}`
	before := w.contents()
	for name, c := range map[string]struct {
		got  reply
		want int
	}{
		"as a bearer":         {w.send("GET", "/api/v1/asks", secret, ""), 401},
		"to make a token":     {w.send("POST", "/api/v1/tokens", "", create, "Cookie", "askback="+secret), 403},
		"to list the tokens":  {w.send("GET", "/api/v1/tokens", "", "", "Cookie", "askback="+secret), 403},
		"to take the machine": {w.send("POST", "/api/v1/yield", "", "", "Cookie", "askback="+secret), 403},
		"to add an address": {
			w.send("PUT", "/api/v1/people/thief", "", `{"email": "thief@example.com"}`, "Cookie", "askback="+secret),
			403,
		},
		"to remove a person": {w.send("DELETE", "/api/v1/people/ana", "", "", "Cookie", "askback="+secret), 403},
		"to make a group": {
			w.send("PUT", "/api/v1/groups/dba", "", `{"people": ["eve"]}`, "Cookie", "askback="+secret), 403,
		},
		"to change routes": {w.send("PUT", "/api/v1/routes", "",
			`{"items": [{"match": {}, "to": ["eve"]}], "revision": 0}`, "Cookie", "askback="+secret), 403},
		"to link a chat": {
			w.send("POST", "/api/v1/contact-codes", "", `{"channel": "telegram"}`, "Cookie", "askback="+secret), 403,
		},
		"to add a contact": {w.send("POST", "/api/v1/contacts", "",
			`{"channel": "webpush", "label": "x", "address": "x"}`, "Cookie", "askback="+secret), 403},
		"to list contacts": {w.send("GET", "/api/v1/contacts", "", "", "Cookie", "askback="+secret), 200},
		"as a cookie":      {w.send("GET", "/api/v1/asks", "", "", "Cookie", "askback="+secret), 200},
	} {
		if c.got.status != c.want {
			t.Errorf("%s: got %d %s, want %d", name, c.got.status, c.got.body, c.want)
		}
	}
	if after := w.contents(); after != before {
		t.Errorf("the store changed:\n%s\nwas\n%s", after, before)
	}
}
