package view

import (
	"slices"
	"strings"
	"unicode"

	"github.com/askback/askback/internal/text/spelling"
)

// MatchList returns the choices, by index, that a line names for a question with several
// answers. The line is "all" or "*", or a list of keys, ranges of keys ("1-3") and labels
// of one word. They are separated by spaces, "and" or any of ,;/&+|. MatchList returns nil
// if a part of the line does not match exactly one choice or a range, or if the question
// takes one answer.
func (q Question) MatchList(typed string) []int {
	if !q.Multi || len(q.Choices) == 0 {
		return nil
	}
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "all", "*":
		return indexes(0, len(q.Choices)-1)
	}
	var all []int
	for _, part := range parts(typed, "and") {
		if found := q.keyRange(part); found != nil {
			all = append(all, found...)
			continue
		}
		found := q.Match(part)
		if len(found) != 1 || found[0] == len(q.Choices) {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// keyRange returns the choices in a range of keys, such as "1-3", or nil if typed is not
// a range of keys.
func (q Question) keyRange(typed string) []int {
	first, last, ok := strings.Cut(typed, "-")
	if !ok {
		return nil
	}
	choice := func(key string) int {
		return slices.IndexFunc(q.Choices,
			func(c Choice) bool { return strings.EqualFold(strings.TrimSpace(key), c.Key) })
	}
	from, to := choice(first), choice(last)
	if from < 0 || to < from {
		return nil
	}
	return indexes(from, to)
}

func indexes(from, to int) (all []int) {
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all
}

// parts splits a line at the separators of lists, and drops the given words.
func parts(typed string, words ...string) []string {
	typed = strings.ReplaceAll(typed, " - ", "-")
	fields := strings.FieldsFunc(typed,
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;/&+|", r) })
	return slices.DeleteFunc(fields, func(s string) bool { return slices.Contains(words, strings.ToLower(s)) })
}

// Nearest returns the key of the choice whose label is closest to typed, or "". A label is close if it begins
// with typed, contains typed of at least three letters, or differs by a few letters.
func (q Question) Nearest(typed string) string {
	words := folded(typed)
	if len(words) == 0 {
		return ""
	}
	best, distance := "", len(words)+1
	for _, c := range q.Choices {
		label := folded(c.Label.String())
		d := spelling.Distance(words, label)
		switch most := max(len(words), len(label)); {
		case strings.HasPrefix(string(label), string(words)),
			len(words) > 2 && strings.Contains(string(label), string(words)):
			d = min(d, 1)
		case d > maxTypos(most):
			continue
		}
		if d < distance {
			best, distance = c.Key, d
		}
	}
	return best
}

// maxTypos returns how many letters may differ in a mistyped word of the given length.
func maxTypos(letters int) int {
	switch {
	case letters <= 4:
		return 1
	case letters <= 8:
		return 2
	}
	return letters / 4
}

// maxFolded limits the letters and digits of a line or a label that are compared.
const maxFolded = 200

// folded returns the letters and digits of s in lower case. It stops when there are more than maxFolded.
func folded(s string) []rune {
	var out []rune
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
		if len(out) > maxFolded {
			break
		}
	}
	return out
}

// Resembles reports whether words that match no choice were probably meant as a choice. Either the words as a
// whole, or each of the words, must resemble a label (see [Question.Nearest]) or a key.
func (q Question) Resembles(typed string) bool {
	if len(q.Choices) == 0 {
		return false
	}
	if q.LooksLikeKey(typed) || q.Nearest(typed) != "" {
		return true
	}
	all := parts(typed, "and", "or", "to")
	return len(all) > 0 && !slices.ContainsFunc(all, func(part string) bool {
		return len(q.Match(part)) == 0 && q.Nearest(part) == "" && !q.resemblesKey(part)
	})
}

// resemblesKey reports whether the keys are numbers and a word has only digits and signs.
func (q Question) resemblesKey(part string) bool {
	return q.Numbered() && isNumber(part, "-.:()#–")
}

// IsHelpOrQuit reports whether a word is a common command to get help or to leave a
// program. The terminal accepts it as an answer only after a confirmation.
func IsHelpOrQuit(typed string) bool {
	return IsHelp(typed) || slices.Contains([]string{"q", "quit", "exit"}, strings.ToLower(strings.TrimSpace(typed)))
}

// IsHelp reports whether a word asks for help.
func IsHelp(typed string) bool {
	return slices.Contains([]string{"?", "h", "help"}, strings.ToLower(strings.TrimSpace(typed)))
}

// IsAllOrNone reports whether a word means all choices, or no choice.
func IsAllOrNone(typed string) bool {
	return slices.Contains([]string{"all", "none", "*"}, strings.ToLower(strings.TrimSpace(typed)))
}
