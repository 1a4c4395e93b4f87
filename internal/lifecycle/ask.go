package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
)

// An AskState is an ask with data that only the state machine needs, such as the number of late answers.
type AskState struct {
	Ask   askback.Ask `store:",inline"`                          // the ask as people and agents read it
	Owner string      `store:"owner,keep,follows,after=session"` // the name of the principal that asked
	// the digest of the request, which is compared with the digest of a repeated request
	Request string `store:"request,after=owner"`
	Refused int    `store:"refused,moving"` // number of late answers in the history
	Moved   int    `store:"moved,moving"`   // how often the ask was reassigned
	// the grantKey of an approve_all, which is compared with the grantKey of a repeated answer
	Granted string `store:"granted,moving"`

	// answers that are not sent yet, in the order in which they were given
	Held     []askback.Held `store:"held,moving"`
	Channels []string       `store:"channels"` // channels that carry the question; empty for all
	Widens   bool           `store:"widens"`   // whether the people of an escalation become approvers
	// Within lists the only people who can become approvers, if Widens is set. If it is empty, no other route
	// limits them.
	Within []string `store:"within"`
	// Call is the number of the call of a hosted run that asks. It is 0 if no hosted run asks.
	Call     int    `store:"call"`
	Callback string `store:"callback"` // the address that receives the events of the ask, or ""
	// CallbackOf is the person who named Callback. It is "" if an agent or the settings did.
	CallbackOf string `store:"callback_of"`
	// Deliveries are the deliveries to the callback and to other receivers, in order for each.
	Deliveries []askback.Delivery `store:"deliveries,moving"`
}

// MaxRefused is the maximum number of late answers in the history of one ask.
const MaxRefused = 100

// claimPause is the minimum time between two claims of one person. A claim that comes
// sooner changes nothing.
const claimPause = 30 * time.Second

// maxClaims is the maximum number of claims in an ask. Older claims are dropped.
const maxClaims = 20

// Asked opens an ask. The questions or the confirmation of Ask must be normalized.
type Asked struct {
	Ask     askback.Ask
	Owner   string
	Request string
	// Channels are the channels that carry the question; empty for all.
	Channels []string
	// Widens is set if the people of an escalation become approvers. If Within is not empty, only the people
	// in Within can become approvers.
	Widens bool
	Within []string
	// Callback is the address that receives question_pending and the event of the
	// outcome, or "".
	Callback string
	// CallbackOf is the person who named Callback, or "" if an agent or the settings did. The callback gets
	// only what this person may read.
	CallbackOf string
	// Call is the number of the call of the hosted run that asks and gets the outcome. It is 0 if no hosted
	// run asks.
	Call int
	At   time.Time
}

// Answered settles the ask with the answer of a person. If more approvals are required, an approval is
// counted as a vote. A late answer is only recorded in the history. An answer that repeats the outcome
// changes nothing.
type Answered struct {
	By      string
	Via     askback.Channel
	Answer  askback.Answer
	Digest  string // the digest of the edited arguments, if there are any
	GrantID string // the id of the grant that approve_all makes
	Token   string // the token or sign-in on which that grant depends
	Waiting int    // the number of other pending asks that the grant covers
	At      time.Time
}

// Declined settles the ask without an answer: a person declined. A late decline is only recorded in the
// history. A decline that repeats the outcome changes nothing.
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

// Claimed records that a person has begun to answer the ask.
type Claimed struct {
	By  string
	Via askback.Channel
	At  time.Time
}

// Due sends the held answers whose time has come, beginning with the earliest answer. If the ask has expired
// at the time At, as [AskState.Expires] returns, Due sends all held answers. If the ask has expired and no
// answer settles it, Due ends the ask. If nothing is due, Due changes nothing.
type Due struct {
	// Lost are the authors of held answers who may no longer answer. These answers are dropped.
	Lost []string
	// Grants are the grants that held answers make, in any order.
	Grants []HeldGrant
	At     time.Time
}

// Consumed spends the approval: the tool call with this digest is about to run.
type Consumed struct {
	Digest string
	At     time.Time
}

// Acked records that the agent acknowledged the outcome. For a pending ask the error is [askback.ErrPending].
type Acked struct{ At time.Time }

// Repeated records that the program of the asker was started again and asked the same question.
type Repeated struct{ At time.Time }

func (Repeated) input()  {}
func (Asked) input()     {}
func (Covered) input()   {}
func (Answered) input()  {}
func (Declined) input()  {}
func (Cancelled) input() {}
func (Claimed) input()   {}
func (Due) input()       {}
func (Consumed) input()  {}
func (Acked) input()     {}

// Step returns the result of an input. The first input of an ask must be [Asked]. Each later input is
// [Covered], [Answered], [Declined], [Cancelled], [Claimed], [Seen], [Reassigned], [FollowedUp], [Held],
// [Undone], [Due], [Consumed], [Acked], [Repeated], [Sent], [ReceiptGiven], [Skipped], [SendFailed], [SendAgain] or
// [ReceiversAdded], in any order.
//
// If Step returns an error, nothing changes, with one exception. After [askback.ErrSettled], the result may
// record a late answer. The errors are [askback.ErrSettled], [askback.ErrConsumed], [askback.ErrDigest],
// [askback.ErrNotApproved], [askback.ErrNotApprover], [askback.ErrPending], [askback.ErrSent],
// [askback.ErrNotFound] for a delivery, and [askback.Invalid]. For an input that these rules do not allow,
// Step returns another error.
func (s AskState) Step(in Input) (Result[AskState], error) {
	if a, ok := in.(Asked); ok != (s.Ask.ID == "") {
		return unchanged(s), fmt.Errorf("%T for ask %q: Asked must be the first input, and only the first", in,
			s.Ask.ID)
	} else if ok {
		return asked(a)
	}
	if err := s.checkApprover(in); err != nil {
		return unchanged(s), err
	}
	switch in := in.(type) {
	case Covered:
		return covered(s, in)
	case Answered:
		return answered(s, in)
	case Declined:
		return declined(s, in)
	case Cancelled:
		return cancelled(s, in)
	case Claimed:
		return claimed(s, in)
	case Reassigned:
		return reassigned(s, in)
	case FollowedUp:
		return followedUp(s, in)
	case Held:
		return held(s, in)
	case Undone:
		return undone(s, in)
	case Due:
		return due(s, in)
	case Consumed:
		return consumed(s, in)
	case Acked:
		return acked(s, in)
	case Repeated:
		return repeated(s, in)
	case Seen:
		return seen(s, in)
	case Sent, ReceiptGiven, Skipped, SendFailed, SendAgain:
		return delivered(s, func(s *AskState) *[]askback.Delivery { return &s.Deliveries }, in)
	case ReceiversAdded:
		return receiversAdded(s, in)
	}
	return unchanged(s), fmt.Errorf("%T is not an input of an ask", in)
}

func asked(in Asked) (Result[AskState], error) {
	s := AskState{
		Ask: in.Ask, Owner: in.Owner, Request: in.Request, Channels: in.Channels, Widens: in.Widens, Within: in.Within,
		Callback: in.Callback, CallbackOf: in.CallbackOf, Call: in.Call,
	}
	s.Ask.Status, s.Ask.CreatedAt, s.Ask.Owner = askback.Pending, in.At, in.Owner
	s.Ask.Outcome, s.Ask.Claims, s.Ask.Votes = nil, nil, nil
	r := changed(s, Event{Type: askback.EventQuestionPending})
	if !s.OwnSession() {
		r.Effects = s.notifySession(AskOpened{ID: s.Ask.ID, At: in.At}, true)
	}
	return deliver(r, in.At), nil
}

// notifySession returns the effect that steps the session of the ask with the input in. The session must not
// be implicit, because an implicit session has no record.
func (s AskState) notifySession(in Input, mustExist bool) []Effect {
	return []Effect{NotifySession{ID: s.Ask.SessionID, Input: in, MustExist: mustExist}}
}

func answered(s AskState, in Answered) (Result[AskState], error) {
	answer, err := in.Answer.Normalize(s.Ask)
	if err != nil && !s.Ask.Settled() {
		return unchanged(s), err
	}
	granted := grantKey(answer.Grant)
	if err != nil || s.Ask.Settled() && granted != s.Granted {
		return refuse(s, in.By, in.Via, in.Answer)
	}
	vote, done := voted(s, in, answer)
	if done {
		return vote, nil
	}
	r, err := settle(vote.State, askback.EventQuestionAnswered, askback.Outcome{
		Status: askback.Answered, Answers: answer.Answers, Comment: answer.Comment, Decision: answer.Decision,
		Input: answer.Input, Digest: approvedDigest(s, in, answer), Reason: answer.Reason,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: in.By}, Channel: in.Via, At: in.At,
	})
	switch {
	case errors.Is(err, askback.ErrSettled):
		return refuse(s, in.By, in.Via, in.Answer)
	case err != nil || r.Unchanged:
		return r, err
	}
	r.History = append(slices.Clip(vote.History), r.History...)
	if answer.Grant == nil {
		return r, nil
	}
	g := newGrant(s, in, *answer.Grant)
	r.State.Granted, r.State.Ask.Outcome.GrantID, r.State.Ask.Outcome.Waiting = granted, g.ID, in.Waiting
	r.History = append(r.History, Event{Type: askback.EventGrantMade, Grant: &g})
	r.Effects = append(r.Effects, MakeGrant{Grant: g, SessionID: s.Ask.SessionID, At: in.At})
	return r, nil
}

// approvedDigest returns the digest of the arguments that an answer approves, or "".
func approvedDigest(s AskState, in Answered, a askback.Answer) string {
	switch {
	case s.Ask.Kind != askback.Confirm, a.Decision != askback.Approve && a.Decision != askback.ApproveAll:
		return ""
	case len(a.Input) > 0:
		return in.Digest
	}
	return s.Ask.Confirmation.Digest
}

func declined(s AskState, in Declined) (Result[AskState], error) {
	r, err := settle(s, askback.EventQuestionDeclined, askback.Outcome{
		Status: askback.Declined, Reason: in.Reason,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: in.By}, Channel: in.Via, At: in.At,
	})
	if errors.Is(err, askback.ErrSettled) {
		return refuse(s, in.By, in.Via, askback.Answer{Reason: in.Reason})
	}
	return r, err
}

func cancelled(s AskState, in Cancelled) (Result[AskState], error) {
	if s.Ask.Status == askback.Cancelled {
		return unchanged(s), nil
	}
	return settle(s, askback.EventQuestionCancelled, askback.Outcome{
		Status: askback.Cancelled, Reason: in.Reason, Actor: in.By, Channel: in.Via, At: in.At,
	})
}

// settle ends a pending ask with outcome o and records an event. If the ask is already settled, the same
// outcome by the same actor changes nothing. For any other outcome, the error is [askback.ErrSettled].
func settle(s AskState, event askback.EventType, o askback.Outcome) (Result[AskState], error) {
	if won := s.Ask.Outcome; won != nil {
		if won.Actor == o.Actor && won.Same(&o) {
			return unchanged(s), nil
		}
		return unchanged(s), askback.ErrSettled
	}
	if o.Actor.Kind == askback.ActorPerson && o.Status != askback.Cancelled {
		s.actedOnScreen(o.Actor.Name, o.Channel, o.At)
	}
	s.Ask.Status, s.Ask.Outcome = o.Status, &o
	r := s.dropHeld(Event{Type: event})
	s = r.State
	if !s.OwnSession() {
		r.Effects = s.notifySession(AskClosed{
			ID: s.Ask.ID, Fails: o.Status == askback.Expired && s.Ask.OnTimeout == askback.OnTimeoutFail, At: o.At,
		}, false)
	}
	if s.Call > 0 {
		r.Effects = append(r.Effects, Resume{AskID: s.Ask.ID, SessionID: s.Ask.SessionID})
	}
	return deliver(r, o.At), nil
}

func claimed(s AskState, in Claimed) (Result[AskState], error) {
	if s.Ask.Settled() {
		return unchanged(s), askback.ErrSettled
	}
	claims := slices.Clone(s.Ask.Claims)
	if i := slices.IndexFunc(claims, func(c askback.Claim) bool { return c.Name == in.By }); i >= 0 {
		if in.At.Before(claims[i].At.Add(claimPause)) {
			return unchanged(s), nil
		}
		claims = slices.Delete(claims, i, i+1)
	}
	claims = append(claims, askback.Claim{Name: in.By, At: in.At})
	if len(claims) > maxClaims {
		claims = claims[1:]
	}
	s.Ask.Claims = claims
	s.actedOnScreen(in.By, in.Via, in.At)
	return changed(s, Event{Type: askback.EventQuestionClaimed, By: in.By}), nil
}

// refuse records an answer that came too late, unless the history already has MaxRefused late answers. The
// content of an answer that is too long is omitted. refuse always returns [askback.ErrSettled].
func refuse(s AskState, by string, via askback.Channel, a askback.Answer) (Result[AskState], error) {
	if s.Refused >= MaxRefused {
		return unchanged(s), askback.ErrSettled
	}
	s.Refused++
	e := Event{Type: askback.EventAnswerRefused, By: by, Via: via, Why: string(s.Ask.Status)}
	if length(a) <= maxRefusedBytes {
		e.Answers, e.Comment, e.Decision, e.Reason = a.Answers, a.Comment, a.Decision, a.Reason
		if codec.Valid(a.Input) { // an input that is not JSON could not be stored
			e.Input = a.Input
		}
	}
	return changed(s, e), askback.ErrSettled
}

// maxRefusedBytes is the maximum length of a late answer that the history keeps in full. For a longer answer,
// the history keeps only the person, the channel and the status of the ask. The limits of answers are not
// checked for late answers.
const maxRefusedBytes = 1 << 16

// length returns the approximate length of an answer as JSON. An empty entry counts too, because its field
// names are written.
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

func consumed(s AskState, in Consumed) (Result[AskState], error) {
	switch {
	case s.Ask.Kind != askback.Confirm, !s.Ask.Outcome.Approved():
		return unchanged(s), askback.ErrNotApproved
	case in.Digest != s.Ask.Outcome.Digest:
		return unchanged(s), askback.ErrDigest
	case !s.Ask.ConsumedAt.IsZero():
		return unchanged(s), askback.ErrConsumed
	}
	s.Ask.ConsumedAt = in.At
	if s.Ask.AckedAt.IsZero() {
		s.Ask.AckedAt = in.At // an agent that spends an approval has received the outcome
	}
	r := changed(s, Event{Type: askback.EventQuestionConsumed, Digest: in.Digest})
	if o := s.Ask.Outcome; o.Actor.Kind == askback.ActorPolicy {
		r.Effects = []Effect{RequireGrant{ID: o.GrantID, At: in.At}}
	}
	return r, nil
}

func repeated(s AskState, in Repeated) (Result[AskState], error) {
	if s.Ask.Settled() || s.Ask.AskedAgainAt.Equal(in.At) {
		return unchanged(s), nil
	}
	s.Ask.AskedAgainAt = in.At
	return changed(s, Event{Type: askback.EventQuestionRepeated}), nil
}

func acked(s AskState, in Acked) (Result[AskState], error) {
	switch {
	case !s.Ask.Settled():
		return unchanged(s), askback.ErrPending
	case !s.Ask.AckedAt.IsZero():
		return unchanged(s), nil
	}
	s.Ask.AckedAt = in.At
	return changed(s, Event{Type: askback.EventAnswerAcked}), nil
}
