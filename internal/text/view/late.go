package view

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/reports"
)

// A LateAnswer is a [reports.LateAnswer] for display.
type LateAnswer struct {
	Sentence  safetext.Text // "ben answered too late in the terminal"
	Answers   []Answer
	Comment   safetext.Text
	Reason    safetext.Text
	Arguments safetext.Text // the edited arguments; empty if the person edited no arguments
	At        time.Time
}

// LateAnswerOf returns the view of a late answer to an ask.
func LateAnswerOf(a askback.Ask, l reports.LateAnswer) LateAnswer {
	var c cleaner
	v := LateAnswer{
		Sentence: safetext.Line(strings.TrimSpace(l.Name + " " + lateVerb(l.Answer) + " too late " + place(l.Channel))),
		Comment:  c.block(l.Answer.Comment), Reason: c.block(l.Answer.Reason), At: l.At,
	}
	if len(l.Answer.Input) > 0 {
		v.Arguments = c.json(l.Answer.Input)
	}
	for _, one := range l.Answer.Answers {
		answer := Answer{Notes: c.block(one.Notes)}
		for _, q := range a.Questions { // late answers are stored as they were sent
			if one.ID == q.ID || one.ID == "" && one.Question == q.Text {
				answer.Question = c.markdown(q.Text)
			}
		}
		for _, value := range one.Values() {
			answer.Values = append(answer.Values, c.block(value))
		}
		v.Answers = append(v.Answers, answer)
	}
	return v
}

// lateVerb returns the verb for a late answer.
func lateVerb(a askback.Answer) string {
	switch {
	case a.Decision == askback.Approve, a.Decision == askback.ApproveAll:
		return "approved"
	case a.Decision == askback.Deny:
		return "denied"
	case len(a.Answers) > 0:
		return "answered"
	}
	return "responded" // declined, or the answer was too long to be kept
}
