package lifecycle

import (
	"slices"
	"time"

	"github.com/askback/askback"
)

// FollowedUp performs the next reminder or escalation, if it is due. If no process was running for a while,
// several reminders may be due. They then become one reminder.
type FollowedUp struct {
	People []string // for an escalation: the people in its groups who may answer from now on
	// Receivers are the receivers of the people who may answer after this step. A receiver without the
	// question gets the question, and the other receivers get a reminder.
	Receivers []Receiver
	Why       string // a warning, such as the names of people who are left out
	At        time.Time
}

// Reassigned gives the ask to other people. The approvers stay the same. After [MaxReassigned] reassignments,
// the error is [askback.Invalid].
type Reassigned struct {
	By        string
	Via       askback.Channel
	To        []string   // the people and groups
	People    []string   // the people in To who may answer from now on
	Receivers []Receiver // the receivers of these people
	Why       string     // a warning, such as the names of people who are left out
	At        time.Time
}

func (FollowedUp) input() {}
func (Reassigned) input() {}

// NextFollowUp returns the next reminder or escalation of a pending ask. It reports false otherwise.
func (s AskState) NextFollowUp() (askback.FollowUp, bool) {
	if s.Ask.Settled() {
		return askback.FollowUp{}, false
	}
	if i := s.next(); i < len(s.Ask.FollowUps) {
		return s.Ask.FollowUps[i], true
	}
	return askback.FollowUp{}, false
}

// next returns the index of the first reminder or escalation that has not happened yet, or the number of
// follow-ups.
func (s AskState) next() int {
	i := slices.IndexFunc(s.Ask.FollowUps, func(f askback.FollowUp) bool { return f.DoneAt.IsZero() })
	if i < 0 {
		return len(s.Ask.FollowUps)
	}
	return i
}

func followedUp(s AskState, in FollowedUp) (Result[AskState], error) {
	next, ok := s.NextFollowUp()
	if !ok || in.At.Before(next.At) {
		return unchanged(s), nil
	}
	escalates := len(next.To) > 0
	s.Ask.FollowUps = slices.Clone(s.Ask.FollowUps)
	for i := s.next(); i < len(s.Ask.FollowUps); i++ {
		f := &s.Ask.FollowUps[i]
		f.DoneAt = in.At
		if rest := s.Ask.FollowUps[i+1:]; escalates || len(rest) == 0 || len(rest[0].To) > 0 ||
			in.At.Before(rest[0].At) {
			break
		}
	}
	event := Event{Type: askback.EventQuestionReminded, Why: in.Why}
	if escalates {
		event = Event{Type: askback.EventQuestionEscalated, To: next.To, Why: in.Why}
		if people := s.Ask.People(); len(people) > 0 { // with an empty list, every person may already answer
			s.setPeople(union(s.Ask.To, next.To), union(people, in.People))
			s.widen(in.People)
		}
	}
	r := changed(s, event)
	return remind(r, in.Receivers, in.At), nil
}

func reassigned(s AskState, in Reassigned) (Result[AskState], error) {
	if s.Ask.Settled() {
		return unchanged(s), askback.ErrSettled
	}
	before := s.Ask
	s.setPeople(in.To, in.People)
	if slices.Equal(before.To, s.Ask.To) && slices.Equal(before.Recipients, s.Ask.Recipients) {
		return unchanged(s), nil
	}
	if s.Moved++; s.Moved > MaxReassigned {
		s.Ask, s.Moved = before, MaxReassigned
		return unchanged(s), askback.Invalid{
			{Pointer: "/to", Detail: "this ask was reassigned too often", Fix: "answer it, or let the agent ask again"},
		}
	}
	s.Ask.ReassignedBy, s.Ask.ReassignedAt = in.By, in.At
	r := s.dropUnaddressed(Event{Type: askback.EventQuestionReassigned, By: in.By, Via: in.Via, To: in.To, Why: in.Why})
	return move(r, in.Receivers, in.At), nil
}

// MaxReassigned is the maximum number of reassignments of an ask. The number is limited because each
// reassignment adds to the record of the ask.
const MaxReassigned = 50

// setPeople sets Ask.To to the names in to, and Ask.Recipients to the people who may answer. Recipients is
// nil if the lists are equal.
func (s *AskState) setPeople(to, people []string) {
	s.Ask.To, s.Ask.Recipients = to, people
	if slices.Equal(to, people) {
		s.Ask.Recipients = nil
	}
}

// widen adds the people of an escalation to the approvers, if its route has approvers and no other route
// excludes them.
func (s *AskState) widen(people []string) {
	if !s.Widens || len(s.Ask.Approvers) == 0 {
		return
	}
	people = slices.DeleteFunc(slices.Clone(people), func(name string) bool {
		return len(s.Within) > 0 && !slices.Contains(s.Within, name)
	})
	s.Ask.Approvers = union(s.Ask.Approvers, people)
}

// union returns the names in a, then the names in b that are not in a.
func union(a, b []string) []string {
	a = slices.Clip(a)
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}
