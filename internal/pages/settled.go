package pages

import (
	"strings"

	"github.com/askback/askback/internal/text/view"
)

// settledHeading returns the heading of a settled ask.
func settledHeading(o *view.Outcome) string {
	switch {
	case o.ByTimer:
		return "Expired"
	case o.Approved:
		return "Approved"
	}
	word, _, _ := strings.Cut(o.Sentence.String(), " ")
	return capitalize(word)
}

// withoutAnswer reports whether a confirmation was not approved, or questions were not
// answered.
func withoutAnswer(a view.Ask) bool {
	return a.Confirmation != nil && !a.Outcome.Approved || len(a.Outcome.Answers) == 0 && !a.Outcome.Approved
}

// colon returns ":" if a single answer follows the sentence of a conflict, and otherwise "".
func colon(a view.Ask) string {
	if len(a.Outcome.Answers) == 1 && len(a.Outcome.Answers[0].Values) > 0 {
		return ":"
	}
	return ""
}

// endSentence describes the outcome of an ask.
func endSentence(o *view.Outcome) string {
	switch {
	case o.ByTimer && o.Defaulted:
		return "The deadline passed without an answer; the default answers were used"
	case o.ByTimer:
		return "The deadline passed without an answer"
	}
	return capitalText(o.Sentence)
}

// correction explains how to correct a wrong decision of a person. It returns "" if there is no way.
func correction(a view.Ask) string {
	switch o := a.Outcome; {
	case o.ByTimer || o.ByGrant || withoutAnswer(a):
		return ""
	case o.Approved && a.Run != nil && a.Run.MayEndTurn():
		return "An approval cannot be taken back. If it is wrong, cancel the turn of the agent below."
	case o.Approved:
		return "An approval cannot be taken back. If it is wrong, stop the agent."
	case a.Run != nil && a.Run.Reads && !a.Run.Ended:
		return "An answer cannot be changed. If it is wrong, tell the agent below: it can ask again."
	}
	return "An answer cannot be changed. If it is wrong, tell the agent: it can ask again."
}

// lateHeading returns the heading for a late answer.
func lateHeading(w view.Conflict) string {
	if w.SamePerson {
		return "Already answered"
	}
	return "Too late"
}

// linkSettledHeading returns the heading of the page for a link to a settled ask. If mine is true, the person
// of the link settled the ask. The conflict c describes a late answer of that person.
func linkSettledHeading(a view.Ask, mine bool, c view.Conflict) string {
	switch {
	case isSet(c.Sentence):
		return lateHeading(c)
	case mine && len(a.Outcome.Answers) > 0:
		return "You answered"
	case mine && a.Outcome.Approved:
		return "You approved this call"
	case mine && a.Confirmation != nil:
		return "You did not approve this call"
	}
	return settledHeading(a.Outcome)
}

// argumentsLabel returns the label of the arguments in a settled confirmation.
func argumentsLabel(a view.Ask) string {
	if a.Outcome.Approved {
		return "Approved, exactly these arguments"
	}
	return "Not approved: the arguments"
}

// capitalText returns t as a string whose first letter is a capital.
func capitalText(t view.Text) string { return capitalize(t.String()) }

// Sentence returns words with a capital letter and a period.
func Sentence(words string) string { return capitalize(words) + "." }

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// instructions returns a sentence on how to answer a question.
func instructions(q view.Question) string {
	s := "Choose one."
	switch {
	case len(q.Choices) == 0:
		s = "Answer in your own words."
	case q.Multi:
		s = "Choose any number."
	}
	if q.Optional {
		s += " This question is optional."
	}
	return s
}

// isPlain reports whether radio buttons alone show how to answer a question.
func isPlain(q view.Question) bool { return len(q.Choices) > 0 && !q.Multi && !q.Optional }

// hasBackground reports whether the agent sent a title, a context or tags, or whether its request has warnings.
func hasBackground(a view.Ask) bool {
	return len(a.Context) > 0 || isSet(a.Data) || isSet(a.Title) || len(a.Tags)+len(a.Warnings)+len(a.LeftOut) > 0
}

// diffClass returns the CSS class for a line of a comparison.
func diffClass(l view.DiffLine) string {
	switch l.Sign {
	case "+":
		return "is-added"
	case "-":
		return "is-removed"
	}
	return ""
}
