package view

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/safetext"
)

// Text is safe text. The alias lets pages import package view only.
type Text = safetext.Text

// RawText is the text of a field that a person edits. It is shown unchanged only in that
// field. All other places show [RawText.Text].
type RawText string

// Text returns the text safe for display.
func (t RawText) Text() Text { return safetext.Block(string(t)) }

// A Form contains the input of a person who answers an ask, and its problems.
type Form struct {
	Entries  []Entry // one per question
	Comment  RawText
	Reason   RawText
	Problems []Problem
	Restored bool // whether the input is a draft that was not sent

	// The fields below are for a confirmation.
	Decision  askback.Decision
	Input     RawText       // the arguments, editable; see [Form.Edited]
	Word      RawText       // word typed to approve a dangerous call
	Scope     askback.Scope // scope of the standing approval, for the decision approve_all
	ExpiresIn time.Duration

	initialInput RawText
}

// An Entry is the input for one question.
type Entry struct {
	Picks       []int // indexes of the chosen options
	OtherPicked bool  // whether "Other" was chosen
	Other       RawText
	Notes       RawText
}

// A Problem is a message about a field. It is shown next to the field.
type Problem struct {
	Field string // q1, q1-other, q1-notes, comment, reason, input, word, scope or expires_in; "" for the whole form
	Text  Text
}

// NewForm returns the form of an ask before a person fills it in. It has the arguments of the call, and the
// default scope and lifetime of a standing approval.
func NewForm(a Ask) Form {
	f := Form{Entries: make([]Entry, len(a.Questions))}
	if a.Confirmation != nil {
		f.initialInput = a.Confirmation.Editable()
		f.Input = f.initialInput
		f.Scope, f.ExpiresIn = askback.ScopeInput, limits.DefaultGrant
	}
	return f
}

// Edited reports whether the arguments were changed, other than by white space at their beginning or end. An
// empty field is a change.
func (f Form) Edited() bool {
	return strings.TrimSpace(string(f.Input)) != strings.TrimSpace(string(f.initialInput))
}

// Changes returns the differences between the arguments of the agent and the edited arguments. It returns nil
// if the arguments were not edited.
func (f Form) Changes() []DiffLine {
	if !f.Edited() {
		return nil
	}
	return Diff(strings.TrimSpace(string(f.initialInput)), strings.TrimSpace(string(f.Input)))
}

// Empty reports whether nothing was filled in.
func (f Form) Empty() bool {
	for _, e := range f.Entries {
		if len(e.Picks) > 0 || e.OtherPicked || e.Other != "" || e.Notes != "" {
			return false
		}
	}
	return f.Comment == "" && f.Reason == "" && f.Decision == "" && !f.Edited()
}

// Answer returns the answer that was filled in, with the labels as the agent sent them.
func (f Form) Answer(a Ask) askback.Answer {
	if a.Confirmation != nil {
		return f.decide()
	}
	out := askback.Answer{Comment: string(f.Comment)}
	for i, q := range a.Questions {
		given := q.Pick(f.Entries[i].Picks, string(f.Entries[i].Other))
		given.Notes = string(f.Entries[i].Notes)
		out.Answers = append(out.Answers, given)
	}
	return out
}

// decide returns the answer to a confirmation. A denial has no edited arguments.
func (f Form) decide() askback.Answer {
	out := askback.Decide(f.Decision, string(f.Reason))
	if f.Edited() && f.Decision != askback.Deny {
		out.Input = json.RawMessage(strings.TrimSpace(string(f.Input)))
	}
	if f.Decision == askback.ApproveAll {
		out.Grant = &askback.GrantRequest{Scope: f.Scope, ExpiresIn: f.ExpiresIn}
	}
	return out
}

// Check adds a problem for each optional question for which "Other" was picked without text. A required
// question without an answer is an error of [askback.Answer.Normalize].
func (f *Form) Check(a Ask) {
	for i, e := range f.Entries {
		if q := a.Questions[i]; q.Optional && e.OtherPicked && strings.TrimSpace(string(e.Other)) == "" {
			f.AddProblem(q.ID.String()+"-other", unwritten)
		}
	}
}

// AddInvalid adds problems that package askback reports, reworded for the person.
func (f *Form) AddInvalid(a Ask, why askback.Invalid) {
	for _, p := range why {
		f.AddProblem(f.place(a, p))
	}
}

const unwritten = "Write your own answer here, or choose another."

// AddProblem adds a problem with this field and sentence.
func (f *Form) AddProblem(field, sentence string) {
	f.Problems = append(f.Problems, Problem{field, safetext.Line(sentence)})
}

// Problem returns the first problem with a field, or empty text.
func (f Form) Problem(field string) Text {
	for _, p := range f.Problems {
		if p.Field == field {
			return p.Text
		}
	}
	return Text{}
}

// place returns the field that p concerns, and the sentence to show at this field.
func (f Form) place(a Ask, p askback.Problem) (field, sentence string) {
	sentence = strings.ToUpper(p.Detail[:1]) + p.Detail[1:] + "."
	steps := strings.Split(p.Pointer, "/")
	if len(steps) < 3 || steps[1] != "answers" {
		return steps[len(steps)-1], sentence
	}
	i, err := strconv.Atoi(steps[2])
	if err != nil || i >= len(a.Questions) {
		return "", sentence
	}
	q, id := a.Questions[i], a.Questions[i].ID.String()
	switch {
	case len(steps) == 3:
		return f.unanswered(i, q, id)
	case steps[3] == "selected" && f.Entries[i].Other != "":
		return id, "Please give one answer only. To use your own text, choose Other. To keep your choice, clear the " +
			"text field."
	case steps[3] == "selected":
		return id, sentence
	}
	return id + "-" + steps[3], sentence
}

func (f Form) unanswered(i int, q Question, id string) (field, sentence string) {
	switch {
	case len(q.Choices) == 0:
		return id + "-other", "Please write an answer."
	case f.Entries[i].OtherPicked:
		return id + "-other", unwritten
	case q.AllowsOther():
		return id, "Please choose an answer, or write your own."
	}
	return id, "Please choose an answer."
}

// A Conflict describes how an ask was settled before a late answer arrived.
type Conflict struct {
	Sentence   Text
	SamePerson bool // whether one person sent both answers
}

// ConflictOf describes the outcome to the person me, whose answer was late (E10, F6).
func ConflictOf(o askback.Outcome, me string) Conflict {
	if o.Actor.Kind == askback.ActorPerson && o.Actor.Name == me {
		did := verb(o)
		if o.Approved() {
			did = string(askback.Approve)
		}
		return Conflict{safetext.Line("You " + did + " this " + elsewhere(o.Channel)), true}
	}
	return Conflict{Sentence: settledFirst(o)}
}

// elsewhere describes the channel of a person's own earlier answer.
func elsewhere(via askback.Channel) string {
	switch via {
	case askback.ChannelWeb:
		return "in another window"
	case askback.ChannelTerminal:
		return "at the terminal"
	}
	return place(via)
}

// settledFirst describes the person, the timer or the event that settled the ask.
func settledFirst(o askback.Outcome) Text {
	who := o.Actor.String()
	switch {
	case byGrant(o):
		return safetext.Line("The standing approval of " + o.Actor.Name + " approved first")
	case o.Actor.Kind == askback.ActorTimer && o.Status == askback.Cancelled:
		return safetext.Line("The session of the agent ended before your answer arrived")
	case o.Actor.Kind == askback.ActorTimer:
		return safetext.Line("The deadline passed before your answer arrived")
	case o.Actor.Kind == askback.ActorAgent:
		return safetext.Line("The agent withdrew this before your answer arrived")
	case o.Status == askback.Answered && o.Approved():
		return safetext.Line(who + " approved first")
	case o.Status == askback.Answered && o.Decision != "":
		return safetext.Line(who + " denied first")
	}
	return safetext.Line(who + " " + string(o.Status) + " first")
}
