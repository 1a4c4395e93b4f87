package compat

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/askback/askback"
)

// separator separates the choices of an answer.
const separator = ", "

// Text parses an answer that is a string. For a single question, the whole string is the answer. For several
// questions, line i answers question i, and further lines are the comment. An empty line skips an optional
// question. The error is [askback.Invalid], with the pointer /answer.
func Text(ask askback.Ask, text string) (askback.Answer, error) {
	questions := ask.Form()
	lines, comment := cutLines(text, len(questions))
	r := &reader{}
	for i, q := range questions {
		if strings.TrimSpace(lines[i]) == "" && !q.Optional {
			r.Problem("/answer", linePrefix(i, len(questions))+"this question is not answered", "write its answer")
		}
	}
	if err := r.err(); err != nil {
		return askback.Answer{}, err
	}
	if ask.Kind == askback.Confirm {
		return r.normalize(parseDecision(text), ask, func(int, string) (string, string) { return "/answer", "" })
	}
	out := askback.Answer{Comment: comment}
	for i, q := range questions {
		out.Answers = append(out.Answers, askback.QuestionAnswer{ID: q.ID, Selected: choices(q, lines[i])})
	}
	return r.normalize(out, ask,
		func(i int, _ string) (string, string) { return "/answer", linePrefix(i, len(questions)) })
}

// linePrefix returns a prefix for a message about line i of n, counted from 0, such as
// "line 2: ". It returns "" if there is only one line, or if i is negative because the message
// is not about one line.
func linePrefix(i, n int) string {
	if n == 1 || i < 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", i+1)
}

// cutLines returns the first n lines of text and the rest. Missing lines are empty. If n is 1,
// the whole text is the first line.
func cutLines(text string, n int) (lines []string, rest string) {
	if n == 1 {
		return []string{text}, ""
	}
	lines = make([]string, n)
	all := strings.SplitN(text, "\n", n+1)
	for i := range min(n, len(all)) {
		lines[i] = strings.TrimSuffix(all[i], "\r")
	}
	if len(all) > n && strings.TrimSpace(all[n]) != "" {
		rest = all[n]
	}
	return lines, rest
}

// choices returns the labels and other strings in text, an answer to q. If q does not allow several answers,
// text is not split.
func choices(q askback.Question, text string) []string {
	if q.MultiSelect {
		return split(q, text)
	}
	return []string{labelOf(q, text)}
}

// labelOf returns the label that equals text. If there is no such label, it returns text. White space around
// the label and the text is ignored, because labels of a question never differ only in white space.
func labelOf(q askback.Question, text string) string {
	for _, o := range q.Options {
		if strings.TrimSpace(o.Label) == strings.TrimSpace(text) {
			return o.Label
		}
	}
	return text
}

// split splits text into labels and other strings. Labels may contain separators, so the
// longest label that matches is chosen. The text between two labels is one string, so that a
// sentence keeps its commas.
func split(q askback.Question, text string) []string {
	var out []string
	own := -1 // start of text outside of labels, or -1
	for at := 0; at <= len(text); {
		chosen, n := leadingLabel(q, text[at:])
		if chosen == "" && own < 0 {
			own = at
		}
		if chosen != "" {
			if own >= 0 {
				out = append(out, text[own:at-len(separator)])
			}
			out, own = append(out, chosen), -1
		}
		at += n + len(separator)
	}
	if own >= 0 {
		out = append(out, text[own:])
	}
	return out
}

// leadingLabel returns the longest label at the beginning of text, or "", and the number of
// bytes before the separator that follows.
func leadingLabel(q askback.Question, text string) (chosen string, n int) {
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	for _, o := range q.Options {
		rest, fits := strings.CutPrefix(trimmed, strings.TrimSpace(o.Label))
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		taken := len(text) - len(rest)
		if fits && taken > n && (rest == "" || strings.HasPrefix(rest, separator)) {
			chosen, n = o.Label, taken
		}
	}
	if chosen == "" {
		first, _, _ := strings.Cut(text, separator)
		n = len(first)
	}
	return chosen, n
}

// parseDecision parses the answer to a confirmation. Only a few words approve, in any letter case;
// "approve_all" must be exact. Any other text is a denial. The text is the reason of the denial, unless it is
// a word such as "no".
func parseDecision(text string) askback.Answer {
	text = strings.TrimSpace(text)
	if text == string(askback.ApproveAll) {
		return askback.Decide(askback.ApproveAll, "")
	}
	switch strings.ToLower(text) {
	case "yes, proceed", "yes", "y", "true", "approved":
		return askback.Decide(askback.Approve, "")
	case "no, cancel", "no", "n", "false", "denied":
		return askback.Decide(askback.Deny, "")
	}
	return askback.Decide(askback.Deny, text)
}
