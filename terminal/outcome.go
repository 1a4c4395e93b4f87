package terminal

import (
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// settled draws the outcome of an ask. A single answer is on the same row if it fits.
func (f *frame) settled(o *view.Outcome) {
	words := "Settled: " + o.Sentence.String()
	if len(o.Answers) != 1 || len(o.Answers[0].Values) == 0 || !f.oneRow(words, joinNames(o.Answers[0].Values, ", ")) {
		f.message(words)
		for _, answer := range o.Answers {
			f.answer(answer, len(o.Answers) > 1)
		}
	}
	f.decisionDetails(o)
}

// oneRow draws a message and an answer on one row if they fit, and reports whether they do.
func (f *frame) oneRow(words string, answer safetext.Text) bool {
	if width(words)+safetext.Width(answer)+3 > f.fullWidth() {
		return false
	}
	mark := gutter
	if hasRightToLeft(words + answer.String()) {
		mark += leftToRight
	}
	f.b.WriteString(words + " " + f.withSGR(dim, mark+" ") + f.withSGR(bold, keepOrder(answer.String())) + "\n")
	f.rows++
	return true
}

// outcome draws the outcome of an ask and its time, with notes and comments.
func (f *frame) outcome(o *view.Outcome) {
	f.message("Settled: " + o.Sentence.String() + ", " + view.FormatTime(o.At, f.zone))
	for _, answer := range o.Answers {
		f.answer(answer, len(o.Answers) > 1)
		f.text("note", plain, answer.Notes)
	}
	f.text("remark", plain, o.Comment)
	f.decisionDetails(o)
}

func (f *frame) answer(a view.Answer, several bool) {
	if several {
		f.markdown("asked", dim, a.Question)
	}
	for _, value := range a.Values {
		f.text("answer", bold, value)
	}
}

// decisionDetails draws the details of a decision: its grant, its reason, and changed
// arguments.
func (f *frame) decisionDetails(o *view.Outcome) {
	if !o.ByGrant { // otherwise the sentence names the grant
		f.text("grant", bold, o.Grant)
	}
	f.text("reason", plain, o.Reason)
	if o.Arguments.String() != "" {
		f.message("Approved with other arguments than the agent asked for. These may run:")
		f.exact("with", plain, o.Lines)
	}
}
