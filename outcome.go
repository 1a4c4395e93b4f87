package askback

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// An Outcome records how an ask ended, by whom, through which channel and when
// (F4). It never changes.
type Outcome struct {
	Status Status `api:"status" store:"-"`
	// one answer per question, in order, even if the answers are defaults
	Answers  []QuestionAnswer `api:"answers" store:"answers"`
	Comment  string           `api:"comment,null" store:"comment"`   // a remark on the whole form
	Decision Decision         `api:"decision,null" store:"decision"` // the decision, if the ask is a confirmation
	// the arguments as a person edited them; nil: unchanged
	Input json.RawMessage `api:"input" store:"input"`
	// Digest is the digest of the approved arguments, if the outcome is an approval; see [Confirmation].
	Digest  string `api:"digest,null" store:"digest"`
	GrantID string `api:"grant_id,null" store:"grant"` // the grant that was made or used
	Reason  string `api:"reason,null" store:"reason"`  // the reason, as its author wrote it
	Actor   Actor  `api:"by" store:",inline"`          // the actor who ended the ask
	// the channel of the answer; null for a timer and for a policy
	Channel   Channel   `api:"via,null" store:"via"`
	At        time.Time `api:"at" store:"at,keep"`                // the time when the ask ended
	Defaulted bool      `api:"default_applied" store:"defaulted"` // the deadline passed, and the asker's defaults apply
	// the number of pending calls that the new grant of approve_all covered when it was made; the grant approves
	// them shortly after, unless a person answers first
	Waiting int `api:"waiting,omitempty" store:"waiting"`
}

// Approved reports whether the action of a confirmation is approved, by a person or by
// a grant that a person made. A nil outcome approves nothing. Every check for an
// approval must use this method.
func (o *Outcome) Approved() bool {
	return o != nil && o.Status == Answered && (o.Decision == Approve || o.Decision == ApproveAll)
}

// ReasonUnreached is the reason of a deadline that passed although no message about the ask was delivered.
const ReasonUnreached = "no one could be reached in time"

// Unreached reports whether the deadline passed and no message about the ask had been delivered, although there
// were attempts. If no message was sent at all, because people read only the inbox, Unreached returns false.
func (o *Outcome) Unreached() bool {
	return o != nil && o.Status == Expired && o.Actor.Kind == ActorTimer && o.Reason == ReasonUnreached
}

// Same reports whether two outcomes have the same status, answers, comment, decision,
// arguments and reason. It ignores the other fields and the texts of the questions.
func (o *Outcome) Same(p *Outcome) bool {
	return o.Status == p.Status && o.Comment == p.Comment && o.Decision == p.Decision &&
		o.Reason == p.Reason && string(o.Input) == string(p.Input) &&
		slices.EqualFunc(o.Answers, p.Answers, func(a, b QuestionAnswer) bool {
			return a.ID == b.ID && slices.Equal(a.Selected, b.Selected) && a.Other == b.Other && a.Notes == b.Notes
		})
}

// An Actor is the person, agent, timer, policy or operator that ended an ask.
type Actor struct {
	Kind ActorKind `api:"kind" store:"by,keep"`   // the kind of actor
	Name string    `api:"name,null" store:"name"` // the name of the actor, if it has one
}

// An ActorKind distinguishes people from other actors, such as a timer that applies
// defaults.
type ActorKind string

// The kinds of actor. ActorTimer ends an ask whose deadline has passed.
const (
	ActorPerson   ActorKind = "person"
	ActorTimer    ActorKind = "timer"
	ActorPolicy   ActorKind = "policy"
	ActorAgent    ActorKind = "agent"
	ActorOperator ActorKind = "operator"
)

// String describes the actor, as in "ana", "a timer" or "agent deploy-bot".
func (a Actor) String() string {
	switch {
	case a.Kind == ActorPerson:
		return a.Name
	case a.Name == "":
		return "a " + string(a.Kind)
	}
	return string(a.Kind) + " " + a.Name
}

// A Decision is the answer to a confirmation.
type Decision string

// The decisions. [ApproveAll] also makes a grant (D1).
const (
	Approve    Decision = "approved"
	Deny       Decision = "denied"
	ApproveAll Decision = "approve_all"
)

// A QuestionAnswer is the answer to one question.
type QuestionAnswer struct {
	// the question's id; if it is "", Question identifies the question
	ID       string   `api:"id" store:"id,keep" request:"id"`
	Question string   `api:"question" store:"-" request:"question"`               // the question's text
	Selected []string `api:"selected" store:"selected" request:"selected,single"` // labels of options
	Other    string   `api:"other,null" store:"other" request:"other"`            // free text
	Notes    string   `api:"notes,null" store:"notes" request:"notes"`            // the person's note on the answer
}

// Values returns the selected labels, then the free text if there is any.
func (a QuestionAnswer) Values() []string {
	values := slices.Clone(a.Selected)
	if a.Other != "" {
		values = append(values, a.Other)
	}
	return values
}

// String joins the values with ", ".
func (a QuestionAnswer) String() string { return strings.Join(a.Values(), ", ") }

// An Answer is the reply of one person: answers to questions, or a decision.
type Answer struct {
	Answers  []QuestionAnswer `request:"answers,manual"`
	Comment  string           `request:"comment"`
	Decision Decision         `request:"decision"`
	Input    json.RawMessage  `request:"input,object"` // edited arguments of an approval; nil: unchanged
	Reason   string           `request:"reason"`
	Grant    *GrantRequest    `request:"grant"` // the grant to make, with [ApproveAll]; nil: the zero value
}

// Choose returns the answer to an ask with a single question. The values are labels or
// free text.
func Choose(values ...string) Answer {
	return Answer{Answers: []QuestionAnswer{{ID: "q1", Selected: values}}}
}

// Decide returns the answer to a confirmation. The reason may be "".
func Decide(d Decision, reason string) Answer { return Answer{Decision: d, Reason: reason} }
