package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A grant ends with the token of its maker. This holds even if the grant was made in a browser that was
// logged in with the token. The end of the browser's log-in does not end the grant (F8).
func TestGrantEndsWithTokenOfItsMaker(t *testing.T) {
	ctx := t.Context()
	e := engine.New(memstore.New(), nil)
	admin := e.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	token, secret, err := admin.CreateToken(ctx, askback.TokenRequest{Kind: askback.Responder, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	client := func(secret string) askback.Client {
		t.Helper()
		who, err := e.Authenticate(ctx, secret)
		if err != nil {
			t.Fatal(err)
		}
		return e.As(who)
	}
	link, err := client(secret).LoginSecret(ctx)
	if err != nil {
		t.Fatal(err)
	}
	browser, err := e.Login(ctx, link, askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ask := func(path string) askback.Ask {
		t.Helper()
		a, err := agent.Ask(ctx, askback.Request{Confirmation: &askback.Confirmation{
			ToolName: "rm", Input: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, err := client(browser).Answer(ctx, ask("/a").ID, anyArguments()); err != nil {
		t.Fatal(err)
	}
	if err := e.Logout(ctx, browser); err != nil {
		t.Fatal(err)
	}
	hoarded := ask("/b")
	if !hoarded.Settled() {
		t.Errorf("the grant ended when a browser was logged out")
	}
	wantListed := func(ended bool) {
		t.Helper()
		page, err := admin.Grants(ctx, askback.GrantQuery{})
		if err != nil || len(page.Items) != 1 || page.Items[0].MakerEnded != ended ||
			!page.Items[0].LastUsedAt.Equal(hoarded.Outcome.At) {
			t.Errorf("got %+v, %v, want one grant, last used at %v, its maker ended: %t", page.Items, err,
				hoarded.Outcome.At, ended)
		}
	}
	wantListed(false)
	if _, err := admin.RevokeToken(ctx, token.ID); err != nil {
		t.Fatal(err)
	}
	wantListed(true)
	if a := ask("/c"); a.Settled() {
		t.Errorf("got outcome %+v by a person whose token was revoked", a.Outcome)
	}
	if _, err := agent.Consume(ctx, hoarded.ID, hoarded.Outcome.Digest); !errors.Is(err, askback.ErrNotApproved) {
		t.Errorf("got %v, want what was approved beforehand not to run any more", err)
	}
}

// failingStore fails each commit that changes an existing ask of one agent.
type failingStore struct{ *memstore.Store }

func (s failingStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	for _, r := range c.Put {
		if r.Agent == "stuck" && r.Version > 0 {
			return 0, errors.New("not this one")
		}
	}
	return s.Store.Commit(ctx, c)
}

// An ask expires even if many asks with earlier deadlines cannot be expired (F5).
func TestFailingExpiriesDoNotDelayOtherAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(failingStore{memstore.New()}, nil)
		go func() { _ = e.Run(t.Context()) }()
		ask := func(agent string, wait time.Duration) askback.Ask {
			t.Helper()
			a, err := e.As(askback.Principal{Kind: askback.Agent, Name: agent}).Ask(t.Context(), askback.Request{
				Questions: []askback.Question{{Text: "Name?"}}, Timeout: wait,
			})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for range 300 {
			ask("stuck", time.Second)
		}
		other := ask("bot", 2*time.Second)
		<-time.After(time.Minute)
		got, err := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Get(t.Context(), other.ID)
		if err != nil || got.Status != askback.Expired {
			t.Errorf("got an ask that is %s, %v, want it expired", got.Status, err)
		}
	})
}

// All open asks of a session can be cancelled in one commit, so their number is
// limited (C6, T18).
func TestOpenAsksOfSessionAreLimited(t *testing.T) {
	ctx := t.Context()
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	to := []string{}
	for i := range 10 {
		to = append(to, fmt.Sprintf("%0190d", i))
	}
	request := askback.Request{Questions: []askback.Question{{Text: "Name?"}}, SessionKey: "run", To: to}
	var last askback.Ask
	for i := range lifecycle.MaxSessionAsks + 1 {
		a, err := agent.Ask(ctx, request)
		if full := i == lifecycle.MaxSessionAsks; full != errors.Is(err, askback.ErrTooMany) || !full && err != nil {
			t.Fatalf("ask %d: got %v", i, err)
		}
		if err == nil {
			last = a
		}
	}
	one, err := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Send(ctx, last.SessionID,
		askback.EndSession{})
	if err != nil || one.Status != askback.SessionCancelled || one.AsksPending != 0 {
		t.Errorf("got %s, %v, want it cancelled with all of them", one.Status, err)
	}
	request.To = append(to, to...)
	for i := range request.To {
		request.To[i] += fmt.Sprint(i)
	}
	var bad askback.Invalid
	if _, err := agent.Ask(ctx, request); !errors.As(err, &bad) || bad[0].Pointer != "/to" {
		t.Errorf("got %v, want /to refused", err)
	}
}

// A repeated request finds its ask, even if the session accepts no new ask.
func TestRepeatedRequestInFullSessionReturnsItsAsk(t *testing.T) {
	agent := engine.New(memstore.New(), nil).As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	request := askback.Request{Questions: []askback.Question{{Text: "Name?"}}, SessionKey: "run", Key: "first"}
	first, err := agent.Ask(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lifecycle.MaxSessionAsks - 1 {
		request.Key = fmt.Sprint(i)
		if _, err := agent.Ask(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	request.Key = "another"
	if _, err := agent.Ask(t.Context(), request); !errors.Is(err, askback.ErrTooMany) {
		t.Errorf("got error %v, want %v", err, askback.ErrTooMany)
	}
	request.Key = "first"
	if got, err := agent.Ask(t.Context(), request); err != nil || got.ID != first.ID || !got.Repeated {
		t.Errorf("got ask %q, repeated: %t, error %v; want %s", got.ID, got.Repeated, err, first.ID)
	}
}

// anyArguments approves a call and all further calls of its tool.
func anyArguments() askback.Answer {
	return askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}}
}
