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

// A commit of the writer lies between every request that asks or answers and
// its reply (F2). prove/disk sees the same in system calls.
func TestEachReplyHasItsCommit(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "askback.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := engine.New(db, nil)
	server := httptest.NewServer(httpapi.NewHandler(e, nil))
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

// Somebody who waits a short time gets the answer as soon as it is there, and
// somebody who gives up gets the ask as it is.
func TestShortWaits(t *testing.T) {
	w := newWire(t, nil)
	agent, person := w.As(bot), w.As(ana)
	ask := w.ask(databases)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	given, stop := context.WithCancel(ctx)
	stop()
	if got, err := agent.Wait(given, ask.ID); got.ID != ask.ID || !errors.Is(err, context.Canceled) {
		t.Errorf("gave up at once: got ask %q, %v; want the ask and %v", got.ID, err, context.Canceled)
	}
	short, end := context.WithTimeout(ctx, 1900*time.Millisecond)
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
		t.Error("the answer came only when the time was over")
	}
}

// A proxy's own error is no refusal: the server may be there in a moment.
func TestAProxysErrorIsUnreachable(t *testing.T) {
	for _, status := range []int{502, 503, 504} {
		proxy := httptest.NewServer(statusHandler(status))
		_, err := httpapi.NewClient(proxy.URL, "x", proxy.Client()).Get(context.Background(), "ask_x")
		if !isUnreachable(err) {
			t.Errorf("%d: got %v, want %v", status, err, askback.ErrUnreachable)
		}
		proxy.Close()
	}
}
