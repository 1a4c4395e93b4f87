package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/filltest"
)

// The handler reads every field of a request or a command that the client sends. The exceptions are the key
// and the position in a trace, which are sent in headers, and fields that Askback sets.
func TestClientSendsEveryField(t *testing.T) {
	request := filltest.New[askback.Request]()
	request.Key, request.TraceParent = "", ""
	for i := range request.Questions {
		request.Questions[i].ID = ""
	}
	request.Confirmation.Digest = ""
	testClientSends(t, request, decode.Request)
	testClientSends(t, filltest.New[askback.Answer](), decode.Answer)
	testClientSends(t, filltest.New[askback.TokenRequest](), decode.TokenRequest)
	testClientSends(t, filltest.New[askback.EndpointRequest](), decode.EndpointRequest)
	testClientSends(t, filltest.New[askback.ContactRequest](), decode.ContactRequest)
	hosted := filltest.New[askback.SessionRequest]()
	hosted.Unattended = false
	testClientSends(t, hosted, decode.SessionRequest)
	external := hosted
	external.Prompt, external.Payload = "", nil
	testClientSends(t, external, decode.SessionRequest)
	testClientSends(t, filltest.New[askback.ResumeSession](), decode.Resume)
	testClientSends(t, filltest.New[askback.Complete](), decode.Complete)
	testClientSends(t, filltest.New[askback.SetTodos](), decode.Todos)
	testClientSends(t, askback.SetTodos{}, decode.Todos)
	message := func(raw []byte) (askback.Command, error) { return decode.Message(raw, "") }
	testClientSends[askback.Command](t, filltest.New[askback.SendMessage](), message)
	testClientSends[askback.Command](t, filltest.New[askback.Report](), message)
	testClientSends(t, filltest.New[askback.EndSession](), func(raw []byte) (askback.EndSession, error) {
		reason, err := decode.Reason(raw)
		return askback.EndSession{Reason: reason}, err
	})
	testClientSends(t, filltest.New[askback.EndTurn](), func(raw []byte) (askback.EndTurn, error) {
		reason, err := decode.Reason(raw)
		return askback.EndTurn{Reason: reason}, err
	})
}

// testClientSends requires that read decodes the body from the client to the value that was sent.
func testClientSends[T any](t *testing.T, want T, read func([]byte) (T, error)) {
	t.Helper()
	raw, err := httpapi.Body(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(raw)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: error %v\n%s", raw, err, diff)
	}
}

// A person can read only their own draft. When the ask is settled, the draft is gone and cannot be saved
// again.
func TestDraftIsVisibleOnlyToItsPerson(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	ask := w.ask(databases)
	one, other := w.As(ana), w.As(askback.Principal{Kind: askback.Responder, Name: "ben"})
	if got, err := one.Draft(ctx, ask.ID); got != nil || err != nil {
		t.Errorf("no draft: got %s, %v", got, err)
	}
	for _, draft := range []string{
		`{"answers":[{"id":"q1","other":"Maria"}]}`, `{"answers":[{"id":"q1","other":"MariaDB"}]}`,
	} {
		if err := one.SaveDraft(ctx, ask.ID, json.RawMessage(draft)); err != nil {
			t.Fatal(err)
		}
		if got, err := one.Draft(ctx, ask.ID); string(got) != draft || err != nil {
			t.Errorf("got %s, %v; want %s", got, err, draft)
		}
	}
	if got, err := other.Draft(ctx, ask.ID); got != nil || err != nil {
		t.Errorf("another person gets %s, %v", got, err)
	}
	var invalid askback.Invalid
	if err := one.SaveDraft(ctx, ask.ID, json.RawMessage(`[1]`)); !errors.As(err, &invalid) {
		t.Errorf("a list as a draft: got %v, want Invalid", err)
	}
	if _, err := other.Answer(ctx, ask.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	if got, err := one.Draft(ctx, ask.ID); got != nil || err != nil {
		t.Errorf("after the end: got %s, %v; want nothing", got, err)
	}
	if err := one.SaveDraft(ctx, ask.ID, json.RawMessage(`{}`)); !errors.Is(err, askback.ErrSettled) {
		t.Errorf("after the end: got %v, want %v", err, askback.ErrSettled)
	}
}

// An agent with too many open asks gets an error with Retry-After for a new ask. The agent can ask again when
// an open ask is settled. Other agents can still ask.
func TestTooManyAsksAreRejected(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	agent := w.engine.As(bot)
	for range 1000 {
		if _, err := agent.Ask(ctx, question("Again?")); err != nil {
			t.Fatal(err)
		}
	}
	remote := w.As(bot)
	if _, err := remote.Ask(ctx, question("Once more?")); !errors.Is(err, askback.ErrTooMany) {
		t.Errorf("got %v, want %v", err, askback.ErrTooMany)
	}
	got := w.send("POST", "/api/v1/asks", w.token(bot), databases)
	if got.status != 429 || got.header.Get("Retry-After") != "10" || !strings.Contains(got.body, "1000 open asks") {
		t.Errorf("got %d, Retry-After %q, %s; want 429 with 10 and the reason", got.status,
			got.header.Get("Retry-After"), got.body)
	}
	_, err := remote.Ask(ctx, question("And now?"))
	if retry, ok := errors.AsType[*askback.RetryError](err); !ok || retry.After != 10*time.Second ||
		!strings.Contains(retry.Why, "1000 open asks") {
		t.Errorf("the client got %v, want the time and the reason as well", err)
	}
	if _, err := w.As(askback.Principal{Kind: askback.Agent, Name: "calm"}).Ask(ctx, question("Mine?")); err != nil {
		t.Errorf("another agent: %v", err)
	}
	page, err := w.engine.As(ana).List(ctx, askback.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.As(ana).Decline(ctx, page.Items[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Ask(ctx, question("Now?")); err != nil {
		t.Errorf("after one is settled: %v", err)
	}
}
