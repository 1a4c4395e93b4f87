package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// Held holds the answer of a person. The person can undo the answer until [Due] sends it. The answer replaces
// an earlier held answer of the person. The same answer again changes nothing. If the ask is settled, the
// call is dangerous, or For is zero, the answer is sent without holding.
type Held struct {
	Answered
	Declines bool          // the person declines to answer; the answer has only a reason
	For      time.Duration // how long the answer is held
}

// A HeldGrant is the grant that the held answer of a person makes.
type HeldGrant struct {
	By      string
	Waiting int // the number of other pending asks that the grant covers
}

// Undone deletes the held answer of a person. Without a held answer, the error is [askback.ErrSettled] if the
// ask is settled, or [askback.ErrSent] if the person has voted. Otherwise nothing changes.
type Undone struct {
	By  string
	Via askback.Channel
	At  time.Time
}

func (Held) input()   {}
func (Undone) input() {}

// The reasons in an event of type [askback.EventAnswerUndone], if the answer was dropped and the person did
// not undo it.
const (
	WhyReassigned = "reassigned"  // the ask was given to other people
	WhyNotAllowed = "not_allowed" // the person may no longer answer the ask
)

func held(s AskState, in Held) (Result[AskState], error) {
	if in.For <= 0 || s.Ask.Settled() || s.Ask.Confirmation != nil && s.Ask.Confirmation.Dangerous {
		return sendNow(s, in)
	}
	answer := in.Answer
	if !in.Declines {
		var err error
		if answer, err = in.Answer.Normalize(s.Ask); err != nil {
			return unchanged(s), err
		}
	}
	if answer.Decision == askback.Approve && s.Ask.Voted(in.By) {
		return unchanged(s), nil
	}
	h := heldOf(in, answer)
	if before, ok := heldBy(s.Held, in.By); ok && sameHeld(before, h) {
		return unchanged(s), nil
	}
	others := withoutHeld(s.Held, in.By)
	if len(others) >= limits.MaxHeld {
		return unchanged(s), askback.Invalid{{
			Detail: fmt.Sprintf("%d people are answering this ask at this moment, which is the maximum",
				limits.MaxHeld), Fix: "send it again in a few seconds",
		}}
	}
	s.Held = append(slices.Clip(others), h)
	s.actedOnScreen(in.By, in.Via, in.At)
	return changed(s, Event{Type: askback.EventAnswerHeld, By: in.By, Via: in.Via}), nil
}

// sendNow steps the ask with an answer that is not held.
func sendNow(s AskState, in Held) (Result[AskState], error) {
	if in.Declines {
		return declined(s, Declined{By: in.By, Via: in.Via, Reason: in.Answer.Reason, At: in.At})
	}
	return answered(s, in.Answered)
}

// heldOf returns the held answer for the input in and the normalized answer a.
func heldOf(in Held, a askback.Answer) askback.Held {
	h := askback.Held{
		Name: in.By, Channel: in.Via, Declines: in.Declines, Answers: a.Answers, Comment: a.Comment,
		Decision: a.Decision, Input: a.Input, Reason: a.Reason, At: in.At, SendsAt: in.At.Add(in.For), Token: in.Token,
	}
	if len(a.Input) > 0 {
		h.Digest = in.Digest
	}
	if a.Grant != nil {
		h.Scope, h.Until, h.GrantID = a.Grant.Scope, in.At.Add(a.Grant.ExpiresIn), in.GrantID
	}
	return h
}

// sameHeld reports whether two held answers have the same content and token. Answers with different tokens
// differ, because an answer is dropped if its token is revoked.
func sameHeld(a, b askback.Held) bool {
	outcome := func(h askback.Held) *askback.Outcome {
		return &askback.Outcome{
			Answers: h.Answers, Comment: h.Comment, Decision: h.Decision, Input: h.Input, Reason: h.Reason,
		}
	}
	return a.Token == b.Token && a.Declines == b.Declines && a.Scope == b.Scope &&
		a.Until.Sub(a.At) == b.Until.Sub(b.At) && outcome(a).Same(outcome(b))
}

func undone(s AskState, in Undone) (Result[AskState], error) {
	switch _, ok := heldBy(s.Held, in.By); {
	case ok:
		s.Held = withoutHeld(s.Held, in.By)
		return changed(s, Event{Type: askback.EventAnswerUndone, By: in.By, Via: in.Via}), nil
	case s.Ask.Settled():
		return unchanged(s), askback.ErrSettled
	case s.Ask.Voted(in.By):
		return unchanged(s), askback.ErrSent
	}
	return unchanged(s), nil
}

// sendHeld steps a pending ask with a held answer. If the author of the answer may no longer answer, or the
// step changes nothing, the answer is dropped.
func sendHeld(s AskState, h askback.Held, in Due) Result[AskState] {
	s.Held = withoutHeld(s.Held, h.Name)
	if !slices.Contains(in.Lost, h.Name) && s.Ask.MayDecide(h.Name) {
		sent := AnswerOf(h, in.At)
		if i := slices.IndexFunc(in.Grants, func(g HeldGrant) bool { return g.By == h.Name }); i >= 0 {
			sent.Waiting = in.Grants[i].Waiting
		}
		r, err := sendNow(s, Held{Declines: h.Declines, Answered: sent})
		if err == nil && !r.Unchanged {
			return r
		}
	}
	return changed(s, notSent(h, WhyNotAllowed))
}

// AnswerOf returns the input that sends a held answer.
func AnswerOf(h askback.Held, at time.Time) Answered {
	return Answered{
		By: h.Name, Via: h.Channel, Answer: h.Answer(), Digest: h.Digest, GrantID: h.GrantID, Token: h.Token, At: at,
	}
}

// then returns the combined result of two steps: r, and the result next of the step after r.
func (r Result[S]) then(next Result[S]) Result[S] {
	if next.Unchanged {
		return r
	}
	next.History = append(slices.Clip(r.History), next.History...)
	next.Effects = append(slices.Clip(r.Effects), next.Effects...)
	return next
}

// dropHeld returns the result of a step that has settled the ask. It records the answers that are still held
// as late answers. It omits a held answer of the person whose answer settled the ask.
func (s AskState) dropHeld(event Event) Result[AskState] {
	all, o := s.Held, s.Ask.Outcome
	s.Held = nil
	r := changed(s, event)
	for _, h := range all {
		if o.Actor.Kind == askback.ActorPerson && o.Actor.Name == h.Name && o.Status != askback.Cancelled {
			continue
		}
		late, _ := refuse(r.State, h.Name, h.Channel, h.Answer())
		r = r.then(late)
	}
	return r
}

// dropUnaddressed returns the result of a step that gave the ask to other people. It drops the held answers
// of people who may no longer answer.
func (s AskState) dropUnaddressed(event Event) Result[AskState] {
	history := []Event{event}
	for _, h := range s.Held {
		if !s.Ask.MayDecide(h.Name) {
			s.Held = withoutHeld(s.Held, h.Name)
			history = append(history, notSent(h, WhyReassigned))
		}
	}
	return changed(s, history...)
}

// notSent returns the event for the held answer h, which is dropped for the reason why.
func notSent(h askback.Held, why string) Event {
	return Event{Type: askback.EventAnswerUndone, By: h.Name, Via: h.Channel, Why: why}
}

// nextHeld returns the held answer that is sent next. It reports false if no answer is held.
func (s AskState) nextHeld() (next askback.Held, ok bool) {
	for _, h := range s.Held {
		if !ok || h.SendsAt.Before(next.SendsAt) {
			next, ok = h, true
		}
	}
	return next, ok
}

func heldBy(all []askback.Held, name string) (askback.Held, bool) {
	return (&askback.Ask{Held: all}).HeldBy(name)
}

// withoutHeld returns the held answers of people other than name, without changing the list.
func withoutHeld(all []askback.Held, name string) []askback.Held {
	if _, ok := heldBy(all, name); !ok {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(h askback.Held) bool { return h.Name == name })
}
