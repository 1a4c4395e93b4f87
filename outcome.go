package askback

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// An Outcome is how an ask ended, by whom, where and when (F4). It never
// changes.
type Outcome struct {
	Status    Status
	Answers   []QuestionAnswer // one per question, in order; defaults too
	Comment   string           // remarks on the whole form
	Decision  Decision         // of a confirmation
	Input     json.RawMessage  // the arguments as a person edited them; nil: as they were asked about
	Digest    string           // of an approval: what may run; see [Confirmation]
	GrantID   string           // the grant that was made, or used
	Reason    string
	By        By
	Via       Via
	At        time.Time
	Defaulted bool // a timer applied the asker's defaults
}

// Approved says whether a person, or a grant one made, approved the action of a
// confirmation. It is the only way to say so.
func (o *Outcome) Approved() bool {
	return o != nil && o.Status == Answered && (o.Decision == Approve || o.Decision == ApproveAll)
}

// Same says whether two outcomes give the same answer, whoever gave it, where
// and when.
func (o *Outcome) Same(p *Outcome) bool {
	return o.Status == p.Status && o.Comment == p.Comment && o.Decision == p.Decision &&
		o.Reason == p.Reason && string(o.Input) == string(p.Input) &&
		slices.EqualFunc(o.Answers, p.Answers, func(a, b QuestionAnswer) bool {
			return a.ID == b.ID && slices.Equal(a.Selected, b.Selected) && a.Other == b.Other && a.Notes == b.Notes
		})
}

// A By is who ended an ask.
type By struct {
	Kind ByKind
	Name string
}

// A ByKind says what sort of thing ended an ask.
type ByKind string

// Who can end an ask. Silence is a timer, never a person.
const (
	ByPerson   ByKind = "person"
	ByTimer    ByKind = "timer"
	ByPolicy   ByKind = "policy"
	ByAgent    ByKind = "agent"
	ByOperator ByKind = "operator"
)

// String reads "ana", "a timer", "agent deploy-bot".
func (b By) String() string {
	switch {
	case b.Kind == ByPerson:
		return b.Name
	case b.Name == "":
		return "a " + string(b.Kind)
	}
	return string(b.Kind) + " " + b.Name
}

// A Decision is what a person says to a confirmation.
type Decision string

// The decisions. [ApproveAll] also makes a grant (D1).
const (
	Approve    Decision = "approved"
	Deny       Decision = "denied"
	ApproveAll Decision = "approve_all"
)

// A QuestionAnswer is the answer to one question.
type QuestionAnswer struct {
	ID       string   // the question's id; or Question names it
	Question string   // the question's text
	Selected []string // labels of options
	Other    string   // text of the person's own
	Notes    string
}

// Values returns the labels chosen and the text written, in that order.
func (a QuestionAnswer) Values() []string {
	values := slices.Clone(a.Selected)
	if a.Other != "" {
		values = append(values, a.Other)
	}
	return values
}

// String joins the values with ", ".
func (a QuestionAnswer) String() string { return strings.Join(a.Values(), ", ") }

// An Answer is what one person gives: answers to questions, or a decision.
type Answer struct {
	Answers  []QuestionAnswer
	Comment  string
	Decision Decision
	Input    json.RawMessage // of an approval: the arguments as they should be instead
	Reason   string
	Grant    *GrantRequest // of [ApproveAll]; nil is the zero value
}

// Choose returns the answer to a single question: labels, or text of one's own.
func Choose(values ...string) Answer {
	return Answer{Answers: []QuestionAnswer{{ID: "q1", Selected: values}}}
}

// Decide returns the answer to a confirmation.
func Decide(d Decision, reason string) Answer { return Answer{Decision: d, Reason: reason} }
