// Package lifecycle has the state machines of asks and sessions, as pure functions.
//
// The result of [Step] depends only on its arguments: times, ids and digests are
// part of the event. An ask is pending until exactly one outcome ends it. The
// outcome is final, but later events are still recorded: late answers, the use of
// an approval and the acknowledgement. The transcripts in testdata specify the
// machines.
package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A State is the state of one ask.
type State struct {
	Ask      askback.Ask // the ask as people and agents read it
	Owner    string      // the name of the principal that asked
	Request  string      // digest of the request, to compare a repeat with the same key
	Refused  int         // number of late answers in the history
	Granted  string      // the grant that approve_all requested, to compare a repeat
	Consumed time.Time   // when the approval was spent; zero: not yet
}

// MaxRefused is the number of late answers that the history of one ask keeps.
const MaxRefused = 100

// claimPause is the least time between two claims of one person. Earlier ones change
// nothing.
const claimPause = 30 * time.Second

// maxClaims is the number of claims that an ask keeps, the latest ones.
const maxClaims = 20

// An Input is an input to the machine of an ask: [Asked], [Covered], [Answered],
// [Declined], [Cancelled], [Claimed], [Due], [Refused], [Consumed] or [Acked].
type Input interface{ input() }

// Asked opens an ask. Its questions or confirmation are normalized.
type Asked struct {
	Ask     askback.Ask
	Owner   string
	Request string
	At      time.Time
}

// Covered approves the ask by a grant. Grant already counts this use.
type Covered struct {
	Grant askback.Grant
	At    time.Time
}

// Answered settles the ask with the answer of a person.
type Answered struct {
	By      string
	Via     askback.Channel
	Answer  askback.Answer
	Digest  string // of the edited arguments, if there are any
	GrantID string // the id of the grant that approve_all makes
	Token   string // the id of the token on which that grant depends
	At      time.Time
}

// Declined settles the ask without an answer: a person declined.
type Declined struct {
	By     string
	Via    askback.Channel
	Reason string
	At     time.Time
}

// Cancelled settles the ask without an answer: the agent withdrew it, or its session
// ended.
type Cancelled struct {
	By     askback.Actor
	Via    askback.Channel
	Reason string
	At     time.Time
}

// Claimed records that a person is reading the ask.
type Claimed struct {
	By string
	At time.Time
}

// Due is the time of a clock. It ends the ask if [State.Due] is past.
type Due struct{ At time.Time }

// Refused records an answer, or a refusal to answer, that came too late.
type Refused struct {
	By     string
	Via    askback.Channel
	Answer askback.Answer
	Why    string
	At     time.Time
}

// Consumed spends the approval: the action with this digest is about to run.
type Consumed struct {
	Digest string
	At     time.Time
}

// Acked records that the agent acknowledged the outcome.
type Acked struct{ At time.Time }

func (Asked) input()     {}
func (Covered) input()   {}
func (Answered) input()  {}
func (Declined) input()  {}
func (Cancelled) input() {}
func (Claimed) input()   {}
func (Due) input()       {}
func (Refused) input()   {}
func (Consumed) input()  {}
func (Acked) input()     {}

// Step returns the state after an event, and its records for the history. An event
// that changes the state has at least one record, any other event has none. With an
// error, Step returns s.
//
// The errors are [askback.ErrSettled], [askback.ErrConsumed], [askback.ErrDigest],
// [askback.ErrNotApproved], [askback.ErrPending] and [askback.Invalid].
func Step(s State, ev Input) (State, []Event, error) {
	next, history, err := dispatch(s, ev)
	if err != nil || len(history) == 0 {
		return s, nil, err
	}
	return next, history, nil
}

func dispatch(s State, ev Input) (State, []Event, error) {
	if a, ok := ev.(Asked); ok != (s.Ask.ID == "") {
		return s, nil, fmt.Errorf("%T for ask %q: Asked must be the first event, and only the first", ev, s.Ask.ID)
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
	case Acked:
		return acked(s, ev)
	}
	return s, nil, fmt.Errorf("unknown event %T", ev)
}

// Due returns the time at which [Due] ends the ask, or zero if it never does. Claims
// hold the deadline until [askback.ClaimHold] after the last one, but at most
// [askback.MaxClaimHold] past the deadline (F5).
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

func asked(ev Asked) (State, []Event, error) {
	s := State{Ask: ev.Ask, Owner: ev.Owner, Request: ev.Request}
	s.Ask.Status, s.Ask.CreatedAt, s.Ask.Owner = askback.Pending, ev.At, ev.Owner
	s.Ask.Outcome, s.Ask.Claims = nil, nil
	return s, []Event{{Type: askback.EventQuestionPending}}, nil
}

func answered(s State, ev Answered) (State, []Event, error) {
	answer, err := ev.Answer.Normalize(s.Ask)
	granted := grantKey(answer.Grant)
	if s.Ask.Settled() && granted != s.Granted {
		return s, nil, askback.ErrSettled
	}
	next, history, err := settle(s, err, askback.Outcome{
		Status: askback.Answered, Answers: answer.Answers, Comment: answer.Comment, Decision: answer.Decision,
		Input: answer.Input, Digest: approvedDigest(s, ev, answer), Reason: answer.Reason,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: ev.By}, Channel: ev.Via, At: ev.At,
	})
	if err != nil || len(history) == 0 || answer.Grant == nil {
		return next, history, err
	}
	g := grant(next, ev, *answer.Grant)
	next.Granted, next.Ask.Outcome.GrantID = granted, g.ID
	return next, append(history, Event{Type: askback.EventGrantMade, Grant: &g}), nil
}

// approvedDigest returns the digest of the arguments that an answer approves, or "".
func approvedDigest(s State, ev Answered, a askback.Answer) string {
	switch {
	case s.Ask.Kind != askback.Confirm, a.Decision != askback.Approve && a.Decision != askback.ApproveAll:
		return ""
	case len(a.Input) > 0:
		return ev.Digest
	}
	return s.Ask.Confirmation.Digest
}

func declined(s State, ev Declined) (State, []Event, error) {
	return settle(s, nil, askback.Outcome{
		Status: askback.Declined, Reason: ev.Reason,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: ev.By}, Channel: ev.Via, At: ev.At,
	})
}

func cancelled(s State, ev Cancelled) (State, []Event, error) {
	if s.Ask.Status == askback.Cancelled {
		return s, nil, nil
	}
	return settle(s, nil, askback.Outcome{
		Status: askback.Cancelled, Reason: ev.Reason, Actor: ev.By, Channel: ev.Via, At: ev.At,
	})
}

func due(s State, ev Due) (State, []Event, error) {
	if at := s.Due(); at.IsZero() || ev.At.Before(at) {
		return s, nil, nil
	}
	o := askback.Outcome{
		Status: askback.Expired, Reason: "no one answered in time", Actor: askback.Actor{Kind: askback.ActorTimer}, At: ev.At,
	}
	if s.Ask.OnTimeout == askback.OnTimeoutDefault {
		o.Answers, o.Defaulted = s.Ask.Defaults(), true
	}
	return settle(s, nil, o)
}

// settle ends a pending ask with outcome o, unless the input is invalid. A settled
// ask does not change: the same outcome by the same actor is a repeat and no error.
// Any other one, also an invalid one, returns [askback.ErrSettled].
func settle(s State, invalid error, o askback.Outcome) (State, []Event, error) {
	if won := s.Ask.Outcome; won != nil {
		if invalid == nil && won.Actor == o.Actor && won.Same(&o) {
			return s, nil, nil
		}
		return s, nil, askback.ErrSettled
	}
	if invalid != nil {
		return s, nil, invalid
	}
	s.Ask.Status, s.Ask.Outcome = o.Status, &o
	return s, []Event{{Type: settledEvent(o.Status)}}, nil
}

// settledEvent returns the type of the event that settles an ask with a status.
func settledEvent(s askback.Status) askback.EventType {
	switch s {
	case askback.Answered:
		return askback.EventQuestionAnswered
	case askback.Declined:
		return askback.EventQuestionDeclined
	case askback.Cancelled:
		return askback.EventQuestionCancelled
	}
	return askback.EventQuestionExpired
}

func claimed(s State, ev Claimed) (State, []Event, error) {
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
	return s, []Event{{Type: askback.EventQuestionClaimed, By: ev.By}}, nil
}

func refused(s State, ev Refused) (State, []Event, error) {
	if s.Refused >= MaxRefused {
		return s, nil, nil
	}
	s.Refused++
	e := Event{Type: askback.EventAnswerRefused, By: ev.By, Via: ev.Via, Why: ev.Why}
	if a := ev.Answer; length(a) <= maxRefused {
		e.Answers, e.Comment, e.Decision, e.Reason = a.Answers, a.Comment, a.Decision, a.Reason
		e.Input = validJSON(a.Input)
	}
	return s, []Event{e}, nil
}

// maxRefused is the longest late answer in bytes that the history keeps. A late
// answer is not checked against the limits of answers. Of a longer one, only the
// actor and the reason are kept.
const maxRefused = 1 << 16

// validJSON returns raw, or nil if it is not valid JSON and could not be encoded.
func validJSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	return raw
}

// length returns the approximate length of an answer as JSON. An empty entry counts
// too, because its field names are written.
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

func consumed(s State, ev Consumed) (State, []Event, error) {
	switch {
	case s.Ask.Kind != askback.Confirm, !s.Ask.Outcome.Approved():
		return s, nil, askback.ErrNotApproved
	case ev.Digest != s.Ask.Outcome.Digest:
		return s, nil, askback.ErrDigest
	case !s.Consumed.IsZero():
		return s, nil, askback.ErrConsumed
	}
	s.Consumed = ev.At
	if s.Ask.AckedAt.IsZero() {
		s.Ask.AckedAt = ev.At // an agent that spends an approval has the outcome
	}
	return s, []Event{{Type: askback.EventQuestionConsumed, Digest: ev.Digest}}, nil
}

func acked(s State, ev Acked) (State, []Event, error) {
	switch {
	case !s.Ask.Settled():
		return s, nil, askback.ErrPending
	case !s.Ask.AckedAt.IsZero():
		return s, nil, nil
	}
	s.Ask.AckedAt = ev.At
	return s, []Event{{Type: askback.EventAnswerAcked}}, nil
}
