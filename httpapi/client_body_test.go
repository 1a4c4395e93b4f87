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
	"github.com/askback/askback/internal/decode"
)

// The handler parses all fields of a request that the client sends.
func TestClientSendsWholeRequest(t *testing.T) {
	for name, want := range map[string]askback.Request{
		"questions": {
			Questions: []askback.Question{
				{
					Text: "Which?", Header: "Database", Options: []askback.Option{{Label: "a", Description: "<b>", Preview: "p & q"}, {Label: "b"}},
					Default: []string{"b"},
				},
				{Text: "Which ones?", MultiSelect: true, NoOther: true, Optional: true, Options: askback.Options("x", "y"), Default: []string{"x", "y"}},
				{Text: "Name?"},
			},
			SessionKey: "run 7", Agent: "bot", Title: "T", Context: json.RawMessage(`{"n":1}`), To: []string{"ana", "ben"},
			Tags: []string{"prod"}, Timeout: 36*time.Hour + 90*time.Second, OnTimeout: askback.OnTimeoutDecline,
		},
		"confirmation": {
			Confirmation: &askback.Confirmation{
				ToolName: "rm", Server: "files", Description: "d", Input: json.RawMessage(`{"path":"a<b","n":1}`),
				InputPreview: "p", Dangerous: true, Context: "c",
			},
			SessionID: "ses_1", Deadline: time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC),
		},
	} {
		want, err := want.Normalize()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := httpapi.RequestBody(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode.Request(raw)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, raw, err)
		}
		if got, err = got.Normalize(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The handler parses all fields of an answer that the client sends.
func TestClientSendsWholeAnswer(t *testing.T) {
	for name, want := range map[string]askback.Answer{
		"answers": {
			Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"a", "b"}, Notes: "n"}, {ID: "q2", Other: "<o>"}},
			Comment: "c & d",
		},
		"approval": {
			Decision: askback.Approve, Input: json.RawMessage(`{"n":1}`),
			Grant: &askback.GrantRequest{Scope: askback.ScopeTool, ExpiresIn: 2 * time.Hour},
		},
		"denial": {Decision: askback.Deny, Reason: "r"},
	} {
		raw, err := httpapi.AnswerBody(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode.Answer(raw)
		if err != nil {
			t.Fatalf("%s: %s: %v", name, raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s:\n%s", name, raw, diff)
		}
	}
}

// Each person has their own draft, until the ask is settled.
func TestEachPersonHasOwnDraft(t *testing.T) {
	w := newFixture(t, nil)
	ctx := context.Background()
	ask := w.ask(databases)
	one, other := w.As(ana), w.As(askback.Principal{Kind: askback.Responder, Name: "ben"})
	if got, err := one.Draft(ctx, ask.ID); got != nil || err != nil {
		t.Errorf("no draft: got %s, %v", got, err)
	}
	for _, draft := range []string{`{"answers":[{"id":"q1","other":"Maria"}]}`, `{"answers":[{"id":"q1","other":"MariaDB"}]}`} {
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

// An agent with too many open asks gets an error with Retry-After for a new ask, until one of
// them is settled. Other agents can still ask.
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
		t.Errorf("got %d, Retry-After %q, %s; want 429 with 10 and the reason", got.status, got.header.Get("Retry-After"), got.body)
	}
	_, err := remote.Ask(ctx, question("And now?"))
	if retry, ok := errors.AsType[*askback.RetryError](err); !ok || retry.After != 10*time.Second || !strings.Contains(retry.Why, "1000 open asks") {
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
