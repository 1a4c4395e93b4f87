package lifecycle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

var nine = morning.Add(9 * time.Hour)

// No event changes the outcome of a settled ask. Only the acknowledgement and the use of its approval are
// added (E10, F4).
func TestSettledIsFinal(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if !m.before.Ask.Settled() {
			return
		}
		m.after.Ask.AckedAt = m.before.Ask.AckedAt
		if m.before.Ask.ConsumedAt.IsZero() {
			m.after.Ask.ConsumedAt = time.Time{}
		}
		if diff := cmp.Diff(m.before.Ask, m.after.Ask); diff != "" {
			t.Errorf("%T changed a settled ask; before -, after +:\n%s", m.event, diff)
		}
	})
}

// An error changes nothing, with one exception: a late answer is counted in the state and recorded in the
// history.
func TestErrorLeavesStateUnchanged(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if m.err == nil {
			return
		}
		if m.late() {
			m.after.Refused--
			m.history = nil
		}
		if diff := cmp.Diff(m.before, m.after); diff != "" || len(m.history) > 0 || len(m.effects) > 0 {
			t.Errorf("%T was rejected (%v), with history %v; before -, after +:\n%s", m.event, m.err, m.history, diff)
		}
	})
}

// A step has a history if and only if it changes the state. Two inputs change the state without a history: a
// receipt, and the time when a delivery was seen.
func TestOnlyChangesAreRecorded(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		diff := cmp.Diff(m.before, m.after)
		internal := false
		switch m.event.(type) {
		case lifecycle.ReceiptGiven, lifecycle.Seen:
			internal = true
		}
		if (diff != "" && !internal) != (len(m.history) > 0) || m.unchanged != (diff == "") {
			t.Errorf("%T: got history %v, and before -, after +:\n%s", m.event, m.history, diff)
		}
	})
}

// Exactly the settled asks have an outcome, with the status of the ask (F4). The store, the JSON and the
// waiters depend on this.
func TestStatusAndOutcomeAgree(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		a := m.after.Ask
		if a.Settled() != (a.Status != askback.Pending) {
			t.Errorf("got status %s with outcome %+v", a.Status, a.Outcome)
		}
		if a.Settled() && (a.Outcome.Status != a.Status || a.Outcome.At.IsZero() || a.Outcome.Actor.Kind == "") {
			t.Errorf("status %s: got outcome %+v, want the same status, a time and by whom", a.Status, a.Outcome)
		}
	})
}

func TestSettledAskHasOneOutcomeInTheHistory(t *testing.T) {
	ends := []askback.EventType{"question_answered", "question_declined", "question_cancelled", "question_expired"}
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		got := 0
		for _, m := range run {
			for _, h := range m.history {
				if slices.Contains(ends, h.Type) {
					got++
				}
			}
		}
		want := 0
		if run[len(run)-1].after.Ask.Settled() {
			want = 1
		}
		if got != want {
			t.Errorf("got %d endings in the history, want %d", got, want)
		}
	})
}

// An ask is approved only by the answer of a person or by a valid grant. The outcome names the person who
// answered or made the grant (C3, F4, F7, F8).
func TestOnlyPersonOrTheirGrantApproves(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if m.before.Ask.Outcome.Approved() || !m.after.Ask.Outcome.Approved() {
			return
		}
		var want askback.Actor
		switch ev := m.event.(type) {
		case lifecycle.Answered:
			want = askback.Actor{Kind: askback.ActorPerson, Name: ev.By}
			if d := ev.Answer.Decision; d != askback.Approve && d != askback.ApproveAll {
				t.Fatalf("%q approved", d)
			}
		case lifecycle.Covered:
			want = askback.Actor{Kind: askback.ActorPolicy, Name: ev.Grant.By}
			if !ev.Grant.Covers(m.before.Ask, ev.At) {
				t.Fatalf("%+v approved %+v", ev.Grant, m.before.Ask.Confirmation)
			}
		default:
			t.Fatalf("%T %+v approved", m.event, m.event)
		}
		if got := m.after.Ask.Outcome.Actor; got != want {
			t.Errorf("got approved by %+v, want %+v", got, want)
		}
	})
}

// The digest of an approval equals the digest of the original or the edited arguments (F7).
func TestApprovalRecordsTheDigestOfItsArguments(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		o := m.after.Ask.Outcome
		if !o.Approved() {
			if o != nil && o.Digest != "" {
				t.Errorf("got digest %s without an approval", o.Digest)
			}
			return
		}
		want := m.after.Ask.Confirmation.Digest
		if len(o.Input) > 0 {
			want = edited
		}
		if o.Digest != want {
			t.Errorf("got digest %s, want %s", o.Digest, want)
		}
	})
}

// The decision approve_all makes one grant. Its maker is the person who answered, and it is for the owner of
// the ask (D1, F8). The effect makes the same grant that is in the history.
func TestOnlyApproveAllMakesGrant(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		ev, _ := m.event.(lifecycle.Answered)
		for _, h := range m.history {
			if h.Type != askback.EventGrantMade {
				continue
			}
			if made := effectOf[lifecycle.MakeGrant](m); len(made) != 1 || cmp.Diff(*h.Grant, made[0].Grant) != "" {
				t.Errorf("got effects %+v, want an effect that makes %+v", m.effects, h.Grant)
			}
			g, a := h.Grant, m.after.Ask
			if ev.Answer.Decision != askback.ApproveAll || g.By != ev.By || g.Owner != a.Owner || g.Agent != a.Agent ||
				g.ToolName != a.Confirmation.ToolName {
				t.Errorf("%+v made grant %+v", m.event, g)
			}
			if a.Outcome.GrantID != g.ID || !g.ExpiresAt.After(ev.At) {
				t.Errorf("got grant %+v with outcome %+v", g, a.Outcome)
			}
			return
		}
		if o := m.after.Ask.Outcome; o != nil && o.Decision == askback.ApproveAll && !m.before.Ask.Settled() {
			t.Errorf("approve_all made no grant")
		}
	})
}

// When a deadline passes, the ask expires by the timer, without a decision (E7, T19).
func TestTimerNeverApproves(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		ev, ok := m.event.(lifecycle.Due)
		if !ok || len(m.history) == 0 {
			return
		}
		o := m.after.Ask.Outcome
		want := askback.Actor{Kind: askback.ActorTimer}
		if o.Approved() || o.Decision != "" || o.Status != askback.Expired || o.Actor != want || o.Channel != "" {
			t.Errorf("%+v: got %+v, want expired by a timer, without a decision", ev, o)
		}
		asked := m.before.Ask.OnTimeout == askback.OnTimeoutDefault
		if o.Defaulted != asked || len(o.Answers) > 0 != asked {
			t.Errorf("on timeout %s: got defaults applied %v, %d answers", m.before.Ask.OnTimeout, o.Defaulted,
				len(o.Answers))
		}
	})
}

// The event Due ends an ask at or after the time that [lifecycle.AskState.Expires] returns, and
// not earlier (F5).
func TestDueEndsAskOnlyAfterExpiry(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		ev, ok := m.event.(lifecycle.Due)
		if !ok {
			return
		}
		due := m.before.Expires()
		want := !due.IsZero() && !ev.At.Before(due)
		if got := len(m.history) > 0; got != want || m.err != nil {
			t.Errorf("Due at %v, due %v: got an end %v, error %v, want %v", ev.At, due, got, m.err, want)
		}
	})
}

// Claims postpone the deadline to five minutes after the last claim, and by at most half an hour (F5).
func TestClaimsPostponeDeadlineForLimitedTime(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		a, due := m.after.Ask, m.after.Expires()
		if ends := !a.Settled() && !a.Deadline.IsZero() && a.OnTimeout != askback.OnTimeoutWait; due.IsZero() == ends {
			t.Fatalf("%s, deadline %v, then %s: got due %v", a.Status, a.Deadline, a.OnTimeout, due)
		}
		if due.IsZero() {
			return
		}
		if due.Before(a.Deadline) || due.After(a.Deadline.Add(30*time.Minute)) {
			t.Errorf("deadline %v: got due %v, want at most 30 minutes later", a.Deadline, due)
		}
		last := a.Deadline
		for _, c := range a.Claims {
			if held := c.At.Add(5 * time.Minute); held.After(last) {
				last = held
			}
		}
		if due.After(last) || due.Before(last) && due.Before(a.Deadline.Add(30*time.Minute)) {
			t.Errorf("deadline %v, claims %v: got due %v, want %v or half an hour past the deadline", a.Deadline,
				a.Claims, due, last)
		}
	})
}

// An approval can be consumed once, and only with its own digest (F7, T4).
func TestApprovalIsConsumedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spent := 0
		for _, m := range anyRun(t) {
			ev, ok := m.event.(lifecycle.Consumed)
			if !ok {
				continue
			}
			o := m.before.Ask.Outcome
			approved := o.Approved()
			fits := approved && ev.Digest == o.Digest
			var want error
			switch {
			case !approved:
				want = askback.ErrNotApproved
			case !fits:
				want = askback.ErrDigest
			case spent > 0:
				want = askback.ErrConsumed
			}
			if !errors.Is(m.err, want) {
				t.Errorf("approved %v, digest %q, spent before %d times: got %v, want %v", approved, ev.Digest, spent,
					m.err, want)
			}
			if m.err == nil {
				spent++
			}
			if want := m.err == nil; want != (m.after.Ask.ConsumedAt != m.before.Ask.ConsumedAt) {
				t.Errorf("got consumed at %v after %v, error %v", m.after.Ask.ConsumedAt, m.before.Ask.ConsumedAt,
					m.err)
			}
		}
		if spent > 1 {
			t.Errorf("got %d times consumed, want at most once", spent)
		}
	})
}

// An answer, a decline or a cancellation after the outcome returns ErrSettled, unless it
// repeats the outcome. A claim after the outcome returns ErrSettled.
func TestLateEventReturnsErrSettled(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if !m.before.Ask.Settled() {
			return
		}
		o := m.before.Ask.Outcome
		repeat := false
		switch ev := m.event.(type) {
		case lifecycle.Answered:
			again, err := ev.Answer.Normalize(m.before.Ask)
			grantKey := ""
			if again.Grant != nil {
				grantKey = fmt.Sprintf("%s for %s", again.Grant.Scope, again.Grant.ExpiresIn)
			}
			repeat = err == nil && o.Status == askback.Answered && o.Actor.Name == ev.By &&
				o.Actor.Kind == askback.ActorPerson &&
				o.Comment == again.Comment && string(o.Input) == string(again.Input) && grantKey == m.before.Granted &&
				o.Decision == again.Decision && o.Reason == again.Reason &&
				cmp.Equal(o.Answers, again.Answers, cmpopts.EquateEmpty())
			repeat = repeat || err == nil && o.Approved() && again.Decision == askback.Approve &&
				slices.ContainsFunc(m.before.Ask.Votes, func(v askback.Vote) bool { return v.Name == ev.By })
		case lifecycle.Declined:
			repeat = o.Status == askback.Declined && o.Actor.Name == ev.By && o.Reason == ev.Reason
		case lifecycle.Cancelled:
			repeat = o.Status == askback.Cancelled
		case lifecycle.Claimed, lifecycle.Reassigned:
		default:
			return
		}
		if got := errors.Is(m.err, askback.ErrSettled); got == repeat {
			t.Errorf("%T %+v after %+v: got %v, want ErrSettled %v", m.event, m.event, o, m.err, !repeat)
		}
	})
}

// An invalid answer to a pending ask returns Invalid, and the ask stays pending.
func TestInvalidAnswerDoesNotSettle(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		ev, ok := m.event.(lifecycle.Answered)
		if !ok || m.before.Ask.Settled() {
			return
		}
		_, want := ev.Answer.Normalize(m.before.Ask)
		var invalid askback.Invalid
		settles := want == nil && (ev.Answer.Decision != askback.Approve || m.before.Ask.Quorum == 1 ||
			approvers(m) == m.before.Ask.Quorum)
		if (want != nil) != errors.As(m.err, &invalid) || m.after.Ask.Settled() != settles {
			t.Errorf("%+v: got %v and status %s, want %v", ev.Answer, m.err, m.after.Ask.Status, want)
		}
	})
}

// approvers returns the number of people who have approved an ask after a transition.
func approvers(m transition) int {
	names := map[string]bool{m.event.(lifecycle.Answered).By: true}
	for _, v := range m.before.Ask.Votes {
		names[v.Name] = true
	}
	return len(names)
}

func TestAskedIsAcceptedOnlyAsFirstEvent(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		_, asked := m.event.(lifecycle.Asked)
		if first := m.before.Ask.ID == ""; asked && !first && m.err == nil {
			t.Errorf("asked twice: got no error")
		}
		if got, _, err := step(lifecycle.AskState{}, m.event); !asked &&
			(err == nil || cmp.Diff(lifecycle.AskState{}, got) != "") {
			t.Errorf("%T before it was asked: got %+v, %v, want an error", m.event, got, err)
		}
	})
}

// A new ask is pending and has no claims, whatever the event contains.
func TestNewAskIsPending(t *testing.T) {
	ev := anyAsked().Example(1)
	want, _, err := step(lifecycle.AskState{}, ev)
	if err != nil {
		t.Fatal(err)
	}
	ev.Ask.Status, ev.Ask.Outcome = askback.Answered, &askback.Outcome{
		Status: askback.Answered, Decision: askback.Approve,
	}
	ev.Ask.Claims, ev.Ask.CreatedAt = []askback.Claim{{Name: "ana", At: nine}}, nine.Add(-time.Hour)
	got, _, err := step(lifecycle.AskState{}, ev)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got error %v; want -, got +:\n%s", err, diff)
	}
}

func TestNumberOfLateAnswersIsLimited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := settled(anyAsked().Example(1))
		kept := 0
		for range rapid.IntRange(0, 250).Draw(t, "late answers") {
			next, history, err := step(s, lifecycle.Answered{By: "ben", Answer: askback.Choose("A"), At: nine})
			if !errors.Is(err, askback.ErrSettled) {
				t.Fatalf("got error %v, want %v", err, askback.ErrSettled)
			}
			s, kept = next, kept+len(history)
		}
		if kept != s.Refused || kept > 100 {
			t.Errorf("got %d lines of history and counted %d, want the same and at most 100", kept, s.Refused)
		}
	})
}

// settled returns a new ask that ana has declined.
func settled(in lifecycle.Asked) lifecycle.AskState {
	s, _, _ := step(lifecycle.AskState{}, in)
	s, _, _ = step(s, lifecycle.Declined{By: "ana", At: nine})
	return s
}

// The history has the whole text of a late answer that is not too long (F6).
func TestLateAnswerIsRecordedInFull(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if !errors.Is(m.err, askback.ErrSettled) || m.before.Refused >= lifecycle.MaxRefused {
			return
		}
		want := lifecycle.Event{Type: askback.EventAnswerRefused, Why: string(m.before.Ask.Status)}
		switch in := m.event.(type) {
		case lifecycle.Answered:
			a := in.Answer
			want.By, want.Via = in.By, in.Via
			want.Answers, want.Comment, want.Decision, want.Input, want.Reason = a.Answers, a.Comment, a.Decision,
				a.Input, a.Reason
		case lifecycle.Declined:
			want.By, want.Via, want.Reason = in.By, in.Via, in.Reason
		default:
			if len(m.history) > 0 {
				t.Errorf("%T: got history %v, want none", m.event, m.history)
			}
			return
		}
		if diff := cmp.Diff([]lifecycle.Event{want}, m.history); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

// Late answers are not checked against the limits of answers. If an answer is too long, the history keeps
// only the person, the channel and the reason for the rejection.
func TestLongLateAnswerIsRecordedWithoutContent(t *testing.T) {
	s := settled(anyAsked().Example(1))
	const most = 1 << 16
	for name, c := range map[string]struct {
		answer askback.Answer
		kept   bool
	}{
		"the longest comment":       {askback.Answer{Comment: strings.Repeat("x", most)}, true},
		"a longer comment":          {askback.Answer{Comment: strings.Repeat("x", most+1)}, false},
		"a longer reason":           {askback.Answer{Reason: strings.Repeat("x", most+1)}, false},
		"four answers":              {askback.Answer{Answers: make([]askback.QuestionAnswer, 4)}, true},
		"more answers than may be":  {askback.Answer{Answers: make([]askback.QuestionAnswer, most/64+1)}, false},
		"more selected than may be": {askback.Choose(make([]string, most/4)...), false},
		"a label that is a book":    {askback.Choose(strings.Repeat("x", most)), false},
		"own words that are a book": {
			askback.Answer{Answers: []askback.QuestionAnswer{{Other: strings.Repeat("x", most)}}}, false,
		},
		"notes that are a book": {
			askback.Answer{Answers: []askback.QuestionAnswer{{Notes: strings.Repeat("x", most)}}}, false,
		},
		"a question that is a book": {
			askback.Answer{Answers: []askback.QuestionAnswer{{Question: strings.Repeat("x", most)}}}, false,
		},
		"an id that is a book": {
			askback.Answer{Answers: []askback.QuestionAnswer{{ID: strings.Repeat("x", most)}}}, false,
		},
		"a decision that is a novel": {askback.Decide(askback.Decision(strings.Repeat("x", most+1)), ""), false},
	} {
		_, history, err := step(s, lifecycle.Answered{By: "ben", Via: askback.ChannelWeb, Answer: c.answer, At: nine})
		want := lifecycle.Event{Type: askback.EventAnswerRefused, By: "ben", Via: askback.ChannelWeb, Why: "declined"}
		if c.kept {
			want.Answers, want.Comment, want.Decision, want.Reason = c.answer.Answers, c.answer.Comment,
				c.answer.Decision, c.answer.Reason
		}
		if !errors.Is(err, askback.ErrSettled) || !cmp.Equal([]lifecycle.Event{want}, history) {
			t.Errorf("%s: got %d lines of history, error %v, want one line, with the answer %v", name, len(history),
				err, c.kept)
		}
	}
}

// An ask keeps at most twenty claims. Each person has one claim, and the newest claim is last.
func TestClaimsAreLimitedAndDistinct(t *testing.T) {
	s := anyAsked().Example(1)
	state, _, err := step(lifecycle.AskState{}, s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		at := nine.Add(time.Duration(i) * time.Minute)
		if state, _, err = step(state, lifecycle.Claimed{By: fmt.Sprintf("p%d", i*7%30), At: at}); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range state.Ask.Claims {
			if slices.Contains(names, c.Name) || len(names) > 0 && c.At.After(at) {
				t.Fatalf("got claims %v", state.Ask.Claims)
			}
			names = append(names, c.Name)
		}
		if last := state.Ask.Claims[len(state.Ask.Claims)-1]; last.At != at || len(names) > 20 {
			t.Fatalf("got %d claims, the last %v, want at most 20, the last at %v", len(names), last, at)
		}
	}
}

// Replaying the same events gives the same states (F2).
func TestReplayGivesTheSameStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s lifecycle.AskState
		for _, m := range anyRun(t) {
			next, history, err := step(s, m.event)
			if diff := cmp.Diff(m.after,
				next) + cmp.Diff(m.history, history) + cmp.Diff(fmt.Sprint(m.err), fmt.Sprint(err)); diff != "" {
				t.Fatalf("%T: first -, again +:\n%s", m.event, diff)
			}
			s = next
		}
	})
}

// A cache and a waiter share states, so Step must not change the memory of its arguments. The test applies
// further events to every state of a run. Then it compares the states with copies.
func TestStepDoesNotChangeItsArguments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun(t)
		want := make([]lifecycle.AskState, len(run))
		printed := make([]string, len(run))
		for i, m := range run {
			want[i], printed[i] = cloneState(m.after), fmt.Sprintf("%#v", m.event)
		}
		for _, m := range run {
			ev := anyEvent(m.after.Ask, nine.Add(40*time.Minute)).Draw(t, "another way")
			_, _, _ = step(m.after, ev)
			_, _, _ = step(m.after, m.event)
		}
		for i, m := range run {
			if diff := cmp.Diff(want[i], m.after); diff != "" {
				t.Fatalf("a state changed; before -, after +:\n%s", diff)
			}
			if got := fmt.Sprintf("%#v", m.event); got != printed[i] {
				t.Fatalf("an event was %s and became %s", printed[i], got)
			}
		}
	})
}

// The stored form has the whole state.
func TestDecodeIsInverseOfEncode(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		got := roundTrip(t, m.after)
		if diff := cmp.Diff(m.after, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after %T; want -, got +:\n%s", m.event, diff)
		}
	})
}

// The fixed part is written once, so no step may change it.
func TestFixedPartNeverChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var first string
		for _, m := range anyRun(t) {
			raw, err := m.after.AppendFixed(nil)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(raw)
			}
			if string(raw) != first || strings.Contains(string(raw), "\n") {
				t.Fatalf("after %T: got %s, want %s", m.event, raw, first)
			}
		}
	})
}

func roundTrip(t rapid.TB, s lifecycle.AskState) lifecycle.AskState {
	t.Helper()
	fixed, err := s.AppendFixed(nil)
	if err != nil {
		t.Fatal(err)
	}
	moving, err := s.AppendMoving(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lifecycle.DecodeAsk(rowOf(s), fixed, moving)
	if err != nil {
		t.Fatalf("%v, reading %s and %s", err, fixed, moving)
	}
	return out
}
