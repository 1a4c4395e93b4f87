package askback_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

var statuses = []askback.Status{
	askback.Pending, askback.Answered, askback.Declined, askback.Cancelled, askback.Expired, askback.AnyStatus, "",
	"approved",
}

// Only an answer with an approving decision is an approval, whatever the other fields are (C3, F4, F7).
func TestOnlyApprovedAnswersAreApprovals(t *testing.T) {
	var none *askback.Outcome
	if none.Approved() {
		t.Error("no outcome: got approved, want not")
	}
	for _, status := range statuses {
		for _, decision := range []askback.Decision{
			askback.Approve, askback.ApproveAll, askback.Deny, "", "yes", "Approved",
		} {
			for _, defaulted := range []bool{false, true} {
				o := askback.Outcome{Status: status, Decision: decision, Defaulted: defaulted, Reason: "approved"}
				want := status == askback.Answered && (decision == "approved" || decision == "approve_all")
				if got := o.Approved(); got != want {
					t.Errorf("%+v: got %v, want %v", o, got, want)
				}
			}
		}
	}
}

// Two outcomes are the same if they differ only in the actor, the channel or the time (E10).
func TestSameIgnoresActorChannelAndTime(t *testing.T) {
	base := func() askback.Outcome {
		return askback.Outcome{
			Status: askback.Answered, Comment: "c", Decision: askback.Deny, Reason: "r", Input: json.RawMessage(`{}`),
			Channel: askback.ChannelWeb,
			Answers: []askback.QuestionAnswer{
				{ID: "q1", Question: "Which?", Selected: []string{"A"}, Other: "o", Notes: "n"},
			},
		}
	}
	for name, c := range map[string]struct {
		change func(o *askback.Outcome)
		want   bool
	}{
		"nothing":  {func(o *askback.Outcome) {}, true},
		"by":       {func(o *askback.Outcome) { o.Actor.Name = "ben" }, true},
		"via":      {func(o *askback.Outcome) { o.Channel = askback.ChannelSlack }, true},
		"at":       {func(o *askback.Outcome) { o.At = o.At.AddDate(1, 0, 0) }, true},
		"status":   {func(o *askback.Outcome) { o.Status = askback.Declined }, false},
		"comment":  {func(o *askback.Outcome) { o.Comment = "" }, false},
		"decision": {func(o *askback.Outcome) { o.Decision = askback.Approve }, false},
		"reason":   {func(o *askback.Outcome) { o.Reason = "s" }, false},
		"input":    {func(o *askback.Outcome) { o.Input = nil }, false},
		"id":       {func(o *askback.Outcome) { o.Answers[0].ID = "q2" }, false},
		"selected": {func(o *askback.Outcome) { o.Answers[0].Selected = []string{"B"} }, false},
		"other":    {func(o *askback.Outcome) { o.Answers[0].Other = "" }, false},
		"notes":    {func(o *askback.Outcome) { o.Answers[0].Notes = "" }, false},
		"fewer":    {func(o *askback.Outcome) { o.Answers = nil }, false},
	} {
		a, b := base(), base()
		c.change(&b)
		if got := a.Same(&b); got != c.want {
			t.Errorf("another %s: got %v, want %v", name, got, c.want)
		}
		if got := b.Same(&a); got != c.want {
			t.Errorf("another %s, the other way: got %v, want %v", name, got, c.want)
		}
	}
}

func TestActorStringDescribesTheActor(t *testing.T) {
	for _, c := range []struct {
		by   askback.Actor
		want string
	}{
		{askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, "ana"},
		{askback.Actor{Kind: askback.ActorTimer}, "a timer"},
		{askback.Actor{Kind: askback.ActorAgent, Name: "deploy-bot"}, "agent deploy-bot"},
		{askback.Actor{Kind: askback.ActorPolicy, Name: "no deploys on Friday"}, "policy no deploys on Friday"},
	} {
		if got := c.by.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestInvalidErrorListsEveryProblem(t *testing.T) {
	for _, c := range []struct {
		v    askback.Invalid
		want string
	}{
		{
			askback.Invalid{{Pointer: "/title", Detail: "is blank", Fix: "write something"}},
			"/title: is blank (write something)",
		},
		{askback.Invalid{{Pointer: "/a", Detail: "one"}, {Detail: "two", Fix: "three"}}, "/a: one; two (three)"},
		{askback.Invalid{{Detail: "alone"}}, "alone"},
	} {
		if got := c.v.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		var back askback.Invalid
		if err := fmt.Errorf("ask: %w", c.v); !errors.As(err, &back) || len(back) != len(c.v) {
			t.Errorf("%v: got %v from the chain, want %v", err, back, c.v)
		}
	}
}

// No two sentinel errors match each other or have the same message.
func TestSentinelErrorsAreDistinct(t *testing.T) {
	all := []error{
		askback.ErrNotFound, askback.ErrForbidden, askback.ErrSettled, askback.ErrKeyReused, askback.ErrConsumed,
		askback.ErrDigest, askback.ErrNotApproved, askback.ErrBusy, askback.ErrFull, askback.ErrStopping,
		askback.ErrDiskFull, askback.ErrUnknown, askback.ErrDamaged, askback.ErrPending, askback.ErrEnded,
		askback.ErrAsksOpen, askback.ErrUnauthorized, askback.ErrTooMany, askback.ErrTooFast, askback.ErrUnreachable,
		askback.ErrStartBy,
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if errors.Is(a, b) || a.Error() == b.Error() {
				t.Errorf("%v and %v are the same", a, b)
			}
		}
	}
}

func TestInvalidQueriesAreRejected(t *testing.T) {
	for _, c := range []struct {
		q    askback.Query
		want []string
	}{
		{askback.Query{}, nil},
		{askback.Query{Status: askback.AnyStatus, Limit: 200}, nil},
		{askback.Query{Status: askback.Expired, Limit: 1}, nil},
		{askback.Query{Limit: 201}, []string{"/limit"}},
		{askback.Query{Limit: -1}, []string{"/limit"}},
		{askback.Query{Search: strings.Repeat("é", limits.MaxSearch)}, nil},
		{askback.Query{Search: strings.Repeat("é", limits.MaxSearch+1)}, []string{"/q"}},
		{askback.Query{Status: "open", Limit: -1}, []string{"/status", "/limit"}},
	} {
		if got := pointers(t, c.q.Check()); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%+v: got problems at %q, want %q", c.q, got, c.want)
		}
	}
}
