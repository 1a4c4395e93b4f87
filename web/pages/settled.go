package pages

import (
	"strings"

	"github.com/askback/askback/internal/view"
)

// settledHeading never sounds like consent where there was none.
func settledHeading(o *view.Outcome) string {
	switch {
	case o.Timer:
		return "The time is over"
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
	return len(a.Context) > 0 || said(a.Data) || said(a.Title) || len(a.Repairs) > 0
}
