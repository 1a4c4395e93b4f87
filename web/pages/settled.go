package pages

import (
	"strings"

	"github.com/askback/askback/internal/view"
)

// settledHeading never sounds like consent where there was none.
func settledHeading(o *view.Outcome) string {
	switch {
	case o.ByTimer:
		return "Expired"
	case o.Approved:
		return "Approved"
	}
	word, _, _ := strings.Cut(o.Sentence.String(), " ")
	return capital(word)
}

// refused says that the ask ended without an answer the agent may act on.
func refused(a view.Ask) bool {
	return a.Confirmation != nil && !a.Outcome.Approved || len(a.Outcome.Answers) == 0 && !a.Outcome.Approved
}

// colon stands before the winner's answer where there is a single one.
func colon(a view.Ask) string {
	if len(a.Outcome.Answers) == 1 && len(a.Outcome.Answers[0].Values) > 0 {
		return ":"
	}
	return ""
}

// ending is how an ask ended, in a sentence.
func ending(o *view.Outcome) string {
	switch {
	case o.ByTimer && o.Defaulted:
		return "The deadline passed without an answer; a timer applied the defaults"
	case o.ByTimer:
		return "The deadline passed without an answer"
	}
	return upper(o.Sentence)
}

// lateHeading is the heading over an answer that came too late.
func lateHeading(w view.Conflict) string {
	if w.SamePerson {
		return "Already answered"
	}
	return "Too late"
}

// argumentsOf is the label over the arguments of a settled confirmation.
func argumentsOf(a view.Ask) string {
	if a.Outcome.Approved {
		return "Approved, exactly these arguments"
	}
	return "Not approved: the arguments"
}

func upper(t view.Text) string { return capital(t.String()) }

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// hint says how to answer a question.
func hint(q view.Question) string {
	s := "Choose one."
	switch {
	case len(q.Choices) == 0:
		s = "Answer in your own words."
	case q.Multi:
		s = "Choose any number."
	}
	if q.Optional {
		s += " You may leave it out."
	}
	return s
}

// beside says whether the agent wrote anything beside its questions.
func beside(a view.Ask) bool {
	return len(a.Context) > 0 || said(a.Data) || said(a.Title) || len(a.Warnings) > 0
}
