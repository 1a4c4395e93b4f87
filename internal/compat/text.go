package compat

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/askback/askback"
)

// separator stands between the choices of a text answer.
const separator = ", "

// Text reads an answer that is one text, for this ask. The answer to a single
// question is the whole text. For several, line i answers question i and the
// lines after them are the comment; an empty line leaves an optional question
// out. The error is [askback.Invalid] and points to /answer.
func Text(ask askback.Ask, said string) (askback.Answer, error) {
	questions := ask.Form()
	lines, comment := cutLines(said, len(questions))
	b := &body{}
	for i, q := range questions {
		if strings.TrimSpace(lines[i]) == "" && !q.Optional {
			b.wrong("/answer", inLine(i, len(questions))+"this question is not answered", "write its answer")
		}
	}
	if err := b.err(); err != nil {
		return askback.Answer{}, err
	}
	if ask.Kind == askback.Confirm {
		return b.check(decide(said), ask, func(int, string) (string, string) { return "/answer", "" })
	}
	out := askback.Answer{Comment: comment}
	for i, q := range questions {
		out.Answers = append(out.Answers, askback.QuestionAnswer{ID: q.ID, Selected: choices(q, lines[i])})
	}
	return b.check(out, ask, func(i int, _ string) (string, string) { return "/answer", inLine(i, len(questions)) })
}

// inLine says which line of the text is meant, where there are several.
func inLine(i, n int) string {
	if n == 1 || i < 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", i+1)
}

// cutLines gives n lines, empty where the text has fewer, and what follows them.
func cutLines(said string, n int) (lines []string, rest string) {
	if n == 1 {
		return []string{said}, ""
	}
	lines = make([]string, n)
	more := true
	for i := range lines {
		if !more {
			break
		}
		lines[i], said, more = strings.Cut(said, "\n")
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if !more || strings.TrimSpace(said) == "" {
		return lines, ""
	}
	return lines, said
}

// choices are the labels and texts that a text names for a question.
func choices(q askback.Question, said string) []string {
	if q.MultiSelect {
		return split(q, said)
	}
	return []string{label(q, said)}
}

// label is the label that a text stands for, or the text. Space around a label
// tells nobody anything: no two labels of a question differ only in it.
func label(q askback.Question, said string) string {
	for _, o := range q.Options {
		if strings.TrimSpace(o.Label) == strings.TrimSpace(said) {
			return o.Label
		}
	}
	return said
}

// split cuts a text at each separator, except inside a label: labels may hold
// one, and the longest label that fits wins. Texts that are no labels and stand
// together stay together, so that a sentence with commas remains as it is.
func split(q askback.Question, said string) []string {
	var out []string
	own := -1 // where text of the person's own began
	for at := 0; at <= len(said); {
		chosen, n := front(q, said[at:])
		if chosen == "" && own < 0 {
			own = at
		}
		if chosen != "" {
			if own >= 0 {
				out = append(out, said[own:at-len(separator)])
			}
			out, own = append(out, chosen), -1
		}
		at += n + len(separator)
	}
	if own >= 0 {
		out = append(out, said[own:])
	}
	return out
}

// front finds the longest label at the front of a text, "" if there is none,
// and how much of the text it or the text up to the next separator takes.
func front(q askback.Question, said string) (chosen string, n int) {
	trimmed := strings.TrimLeftFunc(said, unicode.IsSpace)
	for _, o := range q.Options {
		rest, fits := strings.CutPrefix(trimmed, strings.TrimSpace(o.Label))
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		taken := len(said) - len(rest)
		if fits && taken > n && (rest == "" || strings.HasPrefix(rest, separator)) {
			chosen, n = o.Label, taken
		}
	}
	if chosen == "" {
		first, _, _ := strings.Cut(said, separator)
		n = len(first)
	}
	return chosen, n
}
