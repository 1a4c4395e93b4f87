package terminal

import (
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// settled draws how an ask ended, on one row where that fits.
func (f *frame) settled(o *view.Outcome) {
	words := "Settled: " + o.Sentence.String()
	if len(o.Answers) != 1 || len(o.Answers[0].Values) == 0 || !f.beside(words, list(o.Answers[0].Values, ", ")) {
		f.say(words)
		for _, answer := range o.Answers {
			f.answer(answer, len(o.Answers) > 1)
		}
	}
	f.added(o)
}

// beside draws a sentence of ours and what was said on one row, if they fit.
func (f *frame) beside(words string, said safetext.Text) bool {
	if safetext.Width(safetext.Line(words))+safetext.Width(said)+3 > f.full() {
		return false
	}
	mark := gutter
	if turns(words + said.String()) {
		mark += leftToRight
	}
	f.b.WriteString(words + " " + f.look(dim, mark+" ") + f.look(bold, ordered(said.String())) + "\n")
	f.rows++
	return true
}

// outcome draws how an ask ended with everything that went with it.
func (f *frame) outcome(o *view.Outcome) {
	f.say("Settled: " + o.Sentence.String() + ", " + view.FormatTime(o.At, f.zone))
	for _, answer := range o.Answers {
		f.answer(answer, len(o.Answers) > 1)
		f.text("note", plain, answer.Notes)
	}
	f.text("remark", plain, o.Comment)
	f.added(o)
}

func (f *frame) answer(a view.Answer, several bool) {
	if several {
		f.prose("asked", dim, a.Question)
	}
	for _, value := range a.Values {
		f.text("said", bold, value)
	}
}

// added draws what a person gave with a decision: what follows, why, and what may run
// instead.
func (f *frame) added(o *view.Outcome) {
	if !o.ByGrant { // its sentence names the grant
		f.text("grant", bold, o.Grant)
	}
	f.text("reason", plain, o.Reason)
	if o.Arguments.String() != "" {
		f.say("Approved with other arguments than were asked about. These may run:")
		f.exact("with", plain, o.Arguments)
	}
}
