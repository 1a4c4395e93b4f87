package compat

import (
	"cmp"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/text/resumecontext"
)

// ResumeContext returns the context for an agent that resumes a session (wire.md §6). It contains the asks
// that were settled since its last turn, in order, and its todos. People do not see it; see
// [resumecontext.Strip].
func ResumeContext(s askback.Session, settled []askback.Ask) string {
	lines := []string{resumecontext.Open}
	if s.Status == askback.SessionWaiting {
		lines = append(lines, "Previous execution paused waiting for user input.")
	}
	var text []string
	for _, a := range settled {
		text = append(text, questionLines(a)...)
	}
	if len(text) > 0 {
		lines = append(append(lines, "User answered the following questions:"), text...)
	}
	if len(s.Todos) > 0 {
		lines = append(lines, "Todo state at pause:")
	}
	for _, t := range s.Todos {
		lines = append(lines,
			"  "+checkbox(t.Status)+" "+escape(t.Content, "      ")+" ["+escape(string(t.Status), "      ")+"]")
	}
	return strings.Join(append(lines, resumecontext.Close), "\n")
}

func checkbox(status askback.TodoStatus) string {
	switch status {
	case askback.TodoCompleted:
		return "[x]"
	case askback.TodoInProgress:
		return "[~]"
	}
	return "[ ]"
}

// questionLines returns the lines for the questions, the answers and the comment of an ask,
// or nil if it is not settled.
func questionLines(a askback.Ask) (lines []string) {
	o := a.Outcome
	if o == nil {
		return nil
	}
	for i, q := range a.Form() {
		lines = append(lines, "  Q: "+escape(q.Text, "     "), "  A: "+escape(resultText(a, i), "     "))
	}
	if o.Comment != "" {
		lines = append(lines, "  Comment: "+escape(o.Comment, "     "))
	}
	return lines
}

// resultText returns the outcome of question i. An answer, a decision or a default is
// formatted as an answer. Every other outcome states that it is not consent.
func resultText(a askback.Ask, i int) string {
	o := a.Outcome
	switch {
	case o.Status == askback.Expired && o.Defaulted:
		return answerText(a, i) + " (there was no answer in time; this is the default that was set beforehand)"
	case o.Status == askback.Expired:
		return outcometext.Ended(a) + notConsent(a)
	case o.Status != askback.Answered:
		return outcometext.Ended(a) + notConsent(a) + suffix("reason", o.Reason)
	case a.Confirmation != nil:
		return decisionText(o)
	}
	return answerText(a, i)
}

// notConsent states that an outcome is not consent.
func notConsent(a askback.Ask) string {
	if a.Kind == askback.Confirm {
		return " This is not consent: " + outcometext.Boundary + "."
	}
	return " This is not consent."
}

// answerText returns the answer to question i with the notes, or "(no answer)".
func answerText(a askback.Ask, i int) string {
	if i >= len(a.Outcome.Answers) {
		return "(no answer)"
	}
	given := a.Outcome.Answers[i]
	return cmp.Or(joined(a.Form()[i].Options, given.Values()), "(no answer)") + suffix("notes", given.Notes)
}

func decisionText(o *askback.Outcome) string {
	text := askback.ConfirmNo
	if o.Approved() {
		text = askback.ConfirmYes
	}
	switch {
	case !o.Approved():
		text += " (" + outcometext.Boundary + ")"
	case o.Actor.Kind == askback.ActorPolicy:
		text += " (by a standing approval)"
	case o.Decision == askback.ApproveAll:
		text += " (from now on without asking)"
	}
	if len(o.Input) > 0 {
		text += ", with these arguments instead, changed by " + outcometext.Actor(o.Actor) + ": " + string(o.Input)
	}
	return text + suffix("reason", o.Reason)
}

// suffix formats the reason or notes of a person as a suffix of an answer.
func suffix(kind, text string) string {
	if text == "" {
		return ""
	}
	return " [" + kind + ": " + text + "]"
}

// escape makes text safe inside the block. It escapes tags of the block, and indents
// further lines, so that the text cannot imitate another question and answer.
func escape(text, indent string) string {
	text = lineBreaks.Replace(escapeTags(text))
	return strings.ReplaceAll(text, "\n", "\n"+indent)
}

// lineBreaks replaces every character that a reader may treat as a line break by a newline.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// escapeTags writes &lt; at the beginning of each tag of the block. It also recognizes closing
// tags, other letter case, and white space before the name.
func escapeTags(text string) string {
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

// isTag reports whether the text after a "<" begins with the name of the block, possibly after
// slashes and white space.
func isTag(after string) bool {
	const name = "resume-context"
	after = strings.TrimLeft(after, "/ \t\r\n\v\f\u0085\u00a0\u2028\u2029")
	return len(after) >= len(name) && strings.EqualFold(after[:len(name)], name)
}
