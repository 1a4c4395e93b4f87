// Package lifecycle decides how an ask lives, and does none of it.
//
// [Step] is a function of its arguments alone: time, chance and identity come
// in the event. An ask is pending until exactly one outcome ends it. The
// outcome is final, the ask is not frozen: what comes late is still recorded.
// The stories in testdata are the specification.
package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A State is all that is remembered of one ask.
type State struct {
	Ask      askback.Ask // as people and agents see it now
	Owner    string      // the name of the principal that asked
	Request  string      // digest of the request, to know it again by its key
	Refused  int         // answers that came late
	Granted  string      // what approve_all granted, to know the same answer again
	Consumed time.Time   // when the approval was spent; zero: not yet
}

// MaxRefused is how many late answers the history of one ask keeps.
const MaxRefused = 100

// claimPause is how soon the same person's next claim is news.
const claimPause = 30 * time.Second

// maxClaims bounds the people who are shown to be looking; the latest stay.
const maxClaims = 20

// An Event is something that happened to an ask: [Asked], [Covered],
// [Answered], [Declined], [Cancelled], [Claimed], [Due], [Refused],
// [Consumed] or [Received].
type Event interface{ event() }

// Asked opens an ask. Its questions or confirmation are normal already.
type Asked struct {
	Ask     askback.Ask
	Owner   string
	Request string
	At      time.Time
}

// Covered says that a grant approves the ask, with the use of it counted.
type Covered struct {
	Grant askback.Grant
	At    time.Time
}

// Answered says that a person gave an answer.
type Answered struct {
	By      string
	Via     askback.Via
	Answer  askback.Answer
	Digest  string // of the arguments as edited, if they were
	GrantID string // for the grant that approve_all makes
	Token   string // by which it ends, should that be revoked
	At      time.Time
}

// Declined says that a person will not answer.
type Declined struct {
	By     string
	Via    askback.Via
	Reason string
	At     time.Time
}

// Cancelled says that the agent withdrew the ask.
type Cancelled struct {
	By     askback.By
	Via    askback.Via
	Reason string
	At     time.Time
}

// Claimed says that a person is looking at the ask.
type Claimed struct {
	By string
	At time.Time
}

// Due says what time it is; it matters when the deadline is past.
type Due struct{ At time.Time }

// Refused says that an answer or a refusal to answer came too late.
type Refused struct {
	By     string
	Via    askback.Via
	Answer askback.Answer
	Why    string
	At     time.Time
}

// Consumed says that the action with this digest is about to run.
type Consumed struct {
	Digest string
	At     time.Time
}

// Received says that the agent has the outcome.
type Received struct{ At time.Time }

func (Asked) event()     {}
func (Covered) event()   {}
func (Answered) event()  {}
func (Declined) event()  {}
func (Cancelled) event() {}
func (Claimed) event()   {}
func (Due) event()       {}
func (Refused) event()   {}
func (Consumed) event()  {}
func (Received) event()  {}

// Step returns the state after an event, and what the history says of it. An
// event that changes nothing has no history, and a change always has some. On
// error the state is the one before.
//
// Errors: [askback.ErrSettled], [askback.ErrConsumed], [askback.ErrDigest],
// [askback.ErrNotApproved], [askback.ErrPending], [askback.Invalid].
func Step(s State, ev Event) (State, []Entry, error) {
	next, history, err := dispatch(s, ev)
	if err != nil || len(history) == 0 {
		return s, nil, err
	}
	return next, history, nil
}

func dispatch(s State, ev Event) (State, []Entry, error) {
	if a, ok := ev.(Asked); ok != (s.Ask.ID == "") {
		return s, nil, fmt.Errorf("%T for ask %q: an ask is asked once, first of all", ev, s.Ask.ID)
	} else if ok {
		return asked(a)
	}
	switch ev := ev.(type) {
	case Covered:
		return covered(s, ev)
	case Answered:
		return answered(s, ev)
	case Declined:
		return declined(s, ev)
	case Cancelled:
		return cancelled(s, ev)
	case Claimed:
		return claimed(s, ev)
	case Due:
		return due(s, ev)
	case Refused:
		return refused(s, ev)
	case Consumed:
		return consumed(s, ev)
	case Received:
		return received(s, ev)
	}
	return s, nil, fmt.Errorf("unknown event %T", ev)
}

// Due returns when the ask wants [Due]; zero is never. Claims hold the
// deadline for [askback.ClaimHold] after the last one, and for
// [askback.MaxClaimHold] past it at the most (F5).
func (s State) Due() time.Time {
	a := s.Ask
	if a.Settled() || a.Deadline.IsZero() || a.OnTimeout == askback.OnTimeoutWait {
		return time.Time{}
	}
	due := a.Deadline
	for _, c := range a.Claims {
		if held := c.At.Add(askback.ClaimHold); held.After(due) {
			due = held
		}
	}
	if last := a.Deadline.Add(askback.MaxClaimHold); due.After(last) {
		due = last
	}
	return due
}

func asked(ev Asked) (State, []Entry, error) {
	s := State{Ask: ev.Ask, Owner: ev.Owner, Request: ev.Request}
	s.Ask.Status, s.Ask.CreatedAt, s.Ask.Owner = askback.Pending, ev.At, ev.Owner
	s.Ask.Outcome, s.Ask.Claims = nil, nil
	return s, []Entry{{Type: "question_pending"}}, nil
}

func answered(s State, ev Answered) (State, []Entry, error) {
	answer, err := ev.Answer.Normalize(s.Ask)
	granted := wish(answer.Grant)
	if s.Ask.Settled() && granted != s.Granted {
		return s, nil, askback.ErrSettled
	}
	next, history, err := settle(s, err, askback.Outcome{
		Status: askback.Answered, Answers: answer.Answers, Comment: answer.Comment, Decision: answer.Decision,
		Input: answer.Input, Digest: approvedDigest(s, ev, answer), Reason: answer.Reason,
		By: askback.By{Kind: askback.ByPerson, Name: ev.By}, Via: ev.Via, At: ev.At,
	})
	if err != nil || len(history) == 0 || answer.Grant == nil {
		return next, history, err
	}
	g := grant(next, ev, *answer.Grant)
	next.Granted, next.Ask.Outcome.GrantID = granted, g.ID
	return next, append(history, Entry{Type: "grant_made", Grant: &g}), nil
}

// approvedDigest is that of what may run after an answer.
func approvedDigest(s State, ev Answered, a askback.Answer) string {
	switch {
	case s.Ask.Kind != askback.Confirm, a.Decision != askback.Approve && a.Decision != askback.ApproveAll:
		return ""
	case len(a.Input) > 0:
		return ev.Digest
	}
	return s.Ask.Confirmation.Digest
}

func declined(s State, ev Declined) (State, []Entry, error) {
	return settle(s, nil, askback.Outcome{
		Status: askback.Declined, Reason: ev.Reason,
		By: askback.By{Kind: askback.ByPerson, Name: ev.By}, Via: ev.Via, At: ev.At,
	})
}

func cancelled(s State, ev Cancelled) (State, []Entry, error) {
	if s.Ask.Status == askback.Cancelled {
		return s, nil, nil
	}
	return settle(s, nil, askback.Outcome{
		Status: askback.Cancelled, Reason: ev.Reason, By: ev.By, Via: ev.Via, At: ev.At,
	})
}

func due(s State, ev Due) (State, []Entry, error) {
	if at := s.Due(); at.IsZero() || ev.At.Before(at) {
		return s, nil, nil
	}
	o := askback.Outcome{
		Status: askback.Expired, Reason: "nobody answered in time", By: askback.By{Kind: askback.ByTimer}, At: ev.At,
	}
	if s.Ask.OnTimeout == askback.OnTimeoutDefault {
		o.Answers, o.Defaulted = s.Ask.Defaults(), true
	}
	return settle(s, nil, o)
}

// settle ends a pending ask. A settled one stays as it is: the same outcome by
// the same hand is a repeat and no error; anything else came too late, whatever
// else is wrong with it.
func settle(s State, invalid error, o askback.Outcome) (State, []Entry, error) {
	if won := s.Ask.Outcome; won != nil {
		if invalid == nil && won.By == o.By && won.Same(&o) {
			return s, nil, nil
		}
		return s, nil, askback.ErrSettled
	}
	if invalid != nil {
		return s, nil, invalid
	}
	s.Ask.Status, s.Ask.Outcome = o.Status, &o
	return s, []Entry{{Type: "question_" + string(o.Status)}}, nil
}

func claimed(s State, ev Claimed) (State, []Entry, error) {
	if s.Ask.Settled() {
		return s, nil, askback.ErrSettled
	}
	claims := slices.Clone(s.Ask.Claims)
	if i := slices.IndexFunc(claims, func(c askback.Claim) bool { return c.Name == ev.By }); i >= 0 {
		if ev.At.Before(claims[i].At.Add(claimPause)) {
			return s, nil, nil
		}
		claims = slices.Delete(claims, i, i+1)
	}
	claims = append(claims, askback.Claim{Name: ev.By, At: ev.At})
	if len(claims) > maxClaims {
		claims = claims[1:]
	}
	s.Ask.Claims = claims
	return s, []Entry{{Type: "question_claimed", By: ev.By}}, nil
}

func refused(s State, ev Refused) (State, []Entry, error) {
	if s.Refused >= MaxRefused {
		return s, nil, nil
	}
	s.Refused++
	e := Entry{Type: "answer_refused", By: ev.By, Via: ev.Via, Why: ev.Why}
	if a := ev.Answer; length(a) <= maxRefused {
		e.Answers, e.Comment, e.Decision, e.Reason = a.Answers, a.Comment, a.Decision, a.Reason
		e.Input = kept(a.Input)
	}
	return s, []Entry{e}, nil
}

// maxRefused is how many bytes of a late answer are kept. Nobody checked it
// against the limits of an answer; of a longer one only who and why is kept.
const maxRefused = 1 << 16

// kept is JSON as it can be written down; what is none is not.
func kept(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	return raw
}

// length is about what an answer takes as JSON: an entry that says nothing is
// still written down with all its names.
func length(a askback.Answer) int {
	const entry, value = 64, 4
	n := len(a.Comment) + len(a.Decision) + len(a.Reason) + len(a.Input)
	for _, q := range a.Answers {
		n += entry + len(q.ID) + len(q.Question) + len(q.Other) + len(q.Notes)
		for _, s := range q.Selected {
			n += value + len(s)
		}
	}
	return n
}

func consumed(s State, ev Consumed) (State, []Entry, error) {
	switch {
	case s.Ask.Kind != askback.Confirm, !s.Ask.Outcome.Approved():
		return s, nil, askback.ErrNotApproved
	case ev.Digest != s.Ask.Outcome.Digest:
		return s, nil, askback.ErrDigest
	case !s.Consumed.IsZero():
		return s, nil, askback.ErrConsumed
	}
	s.Consumed = ev.At
	if s.Ask.ReceivedAt.IsZero() {
		s.Ask.ReceivedAt = ev.At // whoever spends an approval has it
	}
	return s, []Entry{{Type: "question_consumed", Digest: ev.Digest}}, nil
}

func received(s State, ev Received) (State, []Entry, error) {
	switch {
	case !s.Ask.Settled():
		return s, nil, askback.ErrPending
	case !s.Ask.ReceivedAt.IsZero():
		return s, nil, nil
	}
	s.Ask.ReceivedAt = ev.At
	return s, []Entry{{Type: "answer_received"}}, nil
}
