package compat

import (
	"strings"

	"github.com/askback/askback"
)

// ResumeContext tells an agent whose turn ended what happened since (wire.md §6):
// the asks that were settled, in order, and its todos. It is for the agent alone;
// see [askback.StripResumeContext].
func ResumeContext(s askback.Session, settled []askback.Ask) string {
	lines := []string{askback.ResumeOpen}
	if s.Status == askback.SessionWaiting {
		lines = append(lines, "Previous execution paused waiting for user input.")
	}
	var said []string
	for _, a := range settled {
		said = append(said, dialogue(a)...)
	}
	if len(said) > 0 {
		lines = append(append(lines, "User answered the following questions:"), said...)
	}
	if len(s.Todos) > 0 {
		lines = append(lines, "Todo state at pause:")
	}
	for _, t := range s.Todos {
		lines = append(lines, "  "+icon(t.Status)+" "+inside(t.Content, "      ")+" ["+inside(string(t.Status), "      ")+"]")
	}
	return strings.Join(append(lines, askback.ResumeClose), "\n")
}

func icon(status askback.TodoStatus) string {
	switch status {
	case askback.TodoCompleted:
		return "[x]"
	case askback.TodoInProgress:
		return "[~]"
	}
	return "[ ]"
}

// dialogue is an ask that is settled, line by line.
func dialogue(a askback.Ask) (lines []string) {
	o := a.Outcome
	if o == nil {
		return nil
	}
	for i, q := range a.Form() {
		lines = append(lines, "  Q: "+inside(q.Text, "     "), "  A: "+inside(answered(a, i), "     "))
	}
	if o.Comment != "" {
		lines = append(lines, "  Comment: "+inside(o.Comment, "     "))
	}
	return lines
}

// answered is what became of question i. Only an answer reads like one: silence
// and refusal are said to be what they are, lest an agent take them for consent.
func answered(a askback.Ask, i int) string {
	o := a.Outcome
	switch {
	case o.Status == askback.Declined:
		return "The person declined to answer. This is not consent." + remark("reason", o.Reason)
	case o.Status == askback.Cancelled:
		return "The question was withdrawn; nobody answered. This is not consent." + remark("reason", o.Reason)
	case o.Status == askback.Expired && o.Defaulted:
		return given(o, i) + " (nobody answered in time; this is the default that was set beforehand)"
	case o.Status == askback.Expired:
		return "Nobody answered in time. This is not consent."
	case a.Confirmation != nil:
		return decided(o)
	}
	return given(o, i)
}

// given is the answer to question i, with the person's notes.
func given(o *askback.Outcome, i int) string {
	if i >= len(o.Answers) {
		return "(no answer)"
	}
	answer := o.Answers[i]
	said := answer.String()
	if said == "" {
		said = "(no answer)"
	}
	return said + remark("notes", answer.Notes)
}

func decided(o *askback.Outcome) string {
	said := askback.ConfirmNo
	if o.Approved() {
		said = askback.ConfirmYes
	}
	switch {
	case o.Actor.Kind == askback.ActorPolicy:
		said += " (by a standing approval)"
	case o.Decision == askback.ApproveAll:
		said += " (from now on without asking)"
	}
	if len(o.Input) > 0 {
		said += ", with these arguments instead: " + string(o.Input)
	}
	return said + remark("reason", o.Reason)
}

// remark is what a person said beside the answer.
func remark(kind, text string) string {
	if text == "" {
		return ""
	}
	return " [" + kind + ": " + text + "]"
}

// inside makes a text safe inside a block: what looks like one of our tags is
// defused, and its further lines are indented below the first, so that a text
// cannot pass for another question and its answer.
func inside(text, indent string) string {
	text = lineEnds.Replace(defuse(text))
	return strings.ReplaceAll(text, "\n", "\n"+indent)
}

// lineEnds are all the characters that some reader takes for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// defuse writes &lt; for the first character of each tag of ours, opening or
// closing, in any case and with any space a lenient reader might forgive.
func defuse(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if isTag(after) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		text = after
	}
}

// isTag says whether what follows a "<" makes it a tag of ours.
func isTag(after string) bool {
	const name = "resume-context"
	after = strings.TrimLeft(after, "/ \t\r\n\v\f\u0085\u00a0\u2028\u2029")
	return len(after) >= len(name) && strings.EqualFold(after[:len(name)], name)
}
