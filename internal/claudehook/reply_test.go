package claudehook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/claudehook"
)

// An answer has its receipt once the reply was delivered, also when the time of the
// hook is over by then, and not before (B7, F9).
func TestAnAnswerHasItsReceiptOnceItIsDelivered(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana", askbacktest.Answer("Which DB?", "SQLite"), askbacktest.Deny("Bash", "no"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, raw := range []string{askDB, runBash} {
		reply, err := claudehook.Run(ctx, desk.Agent("local"), event(t, raw))
		wantOutput(t, reply, err, "hookSpecificOutput")
		if got := desk.Asks()[i]; !got.AckedAt.IsZero() {
			t.Errorf("%s: it has a receipt of %s and nobody took it", raw, got.AckedAt)
		}
		if i > 0 {
			cancel()
		}
		reply.Delivered(ctx)
		if got := desk.Asks()[i]; got.AckedAt.IsZero() {
			t.Errorf("%s: delivered, and there is no receipt", raw)
		}
	}
}

// What tells nothing of a person has no receipt.
func TestNoDecisionHasNoReceipt(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana", askbacktest.Decline("Bash", ""))
	reply, err := claudehook.Run(t.Context(), desk.Agent("local"), event(t, runBash))
	if reply.Output != nil || err != nil {
		t.Fatalf("got %s, %v; want no decision", reply.Output, err)
	}
	reply.Delivered(t.Context())
	if got := desk.Asks()[0]; !got.AckedAt.IsZero() {
		t.Errorf("it has a receipt of %s", got.AckedAt)
	}
}

// The same call may come often in one prompt: each is asked about.
func TestTheSameCallIsAskedAboutEachTime(t *testing.T) {
	const times = 10
	desk := askbacktest.New(t)
	desk.Person("ana", slices.Repeat([]askbacktest.Reply{askbacktest.Approve("Bash")}, times)...)
	for range times {
		reply, err := claudehook.Run(t.Context(), desk.Agent("local"), event(t, runBash))
		wantOutput(t, reply, err, `"allow"`)
	}
	if n := len(desk.Asks()); n != times {
		t.Errorf("%d asks, want %d", n, times)
	}
}

// paged is a seat whose lists come in small pages.
type paged struct{ claudehook.Client }

func (p paged) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	q.Limit = 2
	return p.Client.List(ctx, q)
}

// However many are open, all of the session are retired.
func TestAllAsksOfASessionAreRetired(t *testing.T) {
	desk := askbacktest.New(t)
	desk.Person("ana")
	seat := paged{desk.Agent("local")}
	for i := range 5 {
		r, _ := claudehook.Request(event(t, strings.Replace(runBash, `"make"`, fmt.Sprintf(`"make %d"`, i), 1)))
		if _, err := seat.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := claudehook.Retire(t.Context(), seat, claudehook.Event{Name: claudehook.Stop, SessionID: "s1"}); err != nil {
		t.Fatal(err)
	}
	for i, ask := range desk.Asks() {
		if ask.Status != askback.Cancelled {
			t.Fatalf("ask %d is %s, want it cancelled", i, ask.Status)
		}
	}
}

// A form has no place for a remark, and an answer is never sent without what was
// said beside it: its own dialog asks again.
func TestAFormIsNotSentWithoutItsRemark(t *testing.T) {
	ev := event(t, `{"session_id":"s1","prompt_id":"p1","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which?","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`)
	for remark, want := range map[string]bool{"": true, "only if it is urgent": false} {
		r, ok := claudehook.Request(ev)
		if !ok {
			t.Fatal("it asks nothing")
		}
		ask, err := askbacktest.New(t).Agent("local").Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		ask.Status, ask.Outcome = askback.Answered, &askback.Outcome{
			Status: askback.Answered, Comment: remark, Answers: []askback.QuestionAnswer{{ID: ask.Questions[0].ID, Question: ask.Questions[0].Text, Other: "42"}},
		}
		if out, ok := claudehook.Decision(ev, ask); ok != want || want != json.Valid(out) {
			t.Errorf("with %q: got %s, %t; want %t", remark, out, ok, want)
		}
	}
}
