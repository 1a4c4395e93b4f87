package claudecode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
)

// An answer is acknowledged only after the reply was delivered, even if the context of the
// hook has ended by then (B7, F9).
func TestAnswerIsAckedAfterDelivery(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Answer("Which DB?", "SQLite"), askbacktest.Deny("Bash", "no"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, raw := range []string{askDB, runBash} {
		reply, err := runHook(ctx, server.Agent("local"), event(t, raw))
		wantOutput(t, reply, err, "hookSpecificOutput")
		if got := server.Asks()[i]; !got.AckedAt.IsZero() {
			t.Errorf("%s: acked at %s, before the delivery", raw, got.AckedAt)
		}
		if i > 0 {
			cancel()
		}
		reply.Ack(ctx)
		if got := server.Asks()[i]; got.AckedAt.IsZero() {
			t.Errorf("%s: delivered, but not acked", raw)
		}
	}
}

// If a person declines, the reply has no decision, and the outcome is not acknowledged.
func TestReplyWithoutDecisionIsNotAcked(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Decline("Bash", ""))
	reply, err := runHook(t.Context(), server.Agent("local"), event(t, runBash))
	if reply.Output != nil || err != nil {
		t.Fatalf("got %s, %v; want no decision", reply.Output, err)
	}
	reply.Ack(t.Context())
	if got := server.Asks()[0]; !got.AckedAt.IsZero() {
		t.Errorf("acked at %s", got.AckedAt)
	}
}

// If a call is repeated after its ask was settled, the repetition makes a new ask, even within the same
// prompt.
func TestEachRepeatedCallMakesAnAsk(t *testing.T) {
	const times = 10
	server := askbacktest.New(t)
	server.Person("ana", slices.Repeat([]askbacktest.Reply{askbacktest.Approve("Bash")}, times)...)
	for range times {
		reply, err := runHook(t.Context(), server.Agent("local"), event(t, runBash))
		wantOutput(t, reply, err, `"allow"`)
	}
	if n := len(server.Asks()); n != times {
		t.Errorf("%d asks, want %d", n, times)
	}
}

// A pagedClient is a client with small pages.
type pagedClient struct{ hook.Client }

func (p pagedClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	q.Limit = 2
	return p.Client.List(ctx, q)
}

// The end of a turn ends all asks of the session, even if they are listed on several pages.
func TestAllAsksOfASessionAreEnded(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana")
	client := pagedClient{server.Agent("local")}
	for i := range 5 {
		r, _ := requestOf(event(t, strings.Replace(runBash, `"make"`, fmt.Sprintf(`"make %d"`, i), 1)))
		if _, err := client.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := withdrawEnded(t.Context(), client, claudecode.Event{Name: claudecode.Stop, SessionID: "s1"}); err != nil {
		t.Fatal(err)
	}
	for i, ask := range server.Asks() {
		if ask.Status != askback.Cancelled {
			t.Fatalf("ask %d is %s, want it cancelled", i, ask.Status)
		}
	}
}

// The form of an elicitation has no field for a comment. An answer with a comment therefore leads to no
// decision, because the comment would be lost.
func TestAnswerWithACommentIsNotSentAsForm(t *testing.T) {
	ev := event(t, `{"session_id":"s1","prompt_id":"p1","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which?","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`)
	for comment, want := range map[string]bool{"": true, "only if it is urgent": false} {
		r, ok := requestOf(ev)
		if !ok {
			t.Fatal("the event has no request")
		}
		ask, err := askbacktest.New(t).Agent("local").Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		ask.Status, ask.Outcome = askback.Answered, &askback.Outcome{
			Status: askback.Answered, Comment: comment,
			Answers: []askback.QuestionAnswer{{ID: ask.Questions[0].ID, Question: ask.Questions[0].Text, Other: "42"}},
		}
		if out, ok := decisionOf(ev, ask); ok != want || want != json.Valid(out) {
			t.Errorf("with %q: got %s, %t; want %t", comment, out, ok, want)
		}
	}
}
