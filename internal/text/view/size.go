package view

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// A Size describes how long a displayed text is. It is shown before folded text (T3).
type Size struct {
	Lines      int
	Characters int
	Longest    int // characters in the longest line
	Blank      int // maximum number of consecutive blank lines
	Spaces     int // maximum number of consecutive spaces inside a line
}

// SizeOf returns the size of t. A line that has only escaped white space, such as \n in
// arguments, counts as blank.
func SizeOf(t safetext.Text) Size {
	s := Size{Characters: utf8.RuneCountInString(t.String())}
	blank := 0
	for line := range strings.SplitSeq(t.String(), "\n") {
		s.Lines++
		s.Longest = max(s.Longest, utf8.RuneCountInString(line))
		if isEmpty(line) {
			blank++
			s.Blank = max(s.Blank, blank)
			continue
		}
		blank = 0
		s.Spaces = max(s.Spaces, spaces(strings.TrimLeft(line, " ")))
	}
	return s
}

var unseen = strings.NewReplacer(`\n`, "", `\r`, "", `\t`, "", "\u2800", "", "\u3164", "")

func isEmpty(line string) bool {
	return strings.TrimSpace(line) == "" || line[len(line)-1] == 'n' && strings.TrimSpace(unseen.Replace(line)) == ""
}

// spaces returns the length of the longest run of spaces.
func spaces(line string) int {
	most := 0
	for run := range strings.FieldsFuncSeq(line, func(r rune) bool { return r != ' ' }) {
		most = max(most, len(run))
	}
	return most
}

// Text that reaches these limits gets a warning. Text that people write is far below them.
const (
	manyBlank  = 20
	manySpaces = 80
	longLine   = 160 // for [Size.String]; it causes no warning
	hugeLine   = 2000
)

// String returns the size in words: "3 lines, 51 characters". It adds the length of the
// longest of several lines if that exceeds longLine.
func (s Size) String() string {
	out := Count(s.Lines, "line") + ", " + Count(s.Characters, "character")
	if s.Longest > longLine && s.Lines > 1 {
		out += ", the longest line " + Number(s.Longest)
	}
	return out
}

// Warning warns of padding that may push a part of the text out of view. It returns ""
// if there is no such padding.
func (s Size) Warning() string {
	var found []string
	if s.Blank >= manyBlank {
		found = append(found, Number(s.Blank)+" empty lines in a row")
	}
	if s.Spaces >= manySpaces {
		found = append(found, Number(s.Spaces)+" spaces in a row")
	}
	if s.Longest >= hugeLine {
		found = append(found, "a line of "+Number(s.Longest)+" characters")
	}
	if len(found) == 0 {
		return ""
	}
	return "Read to the end: this has " + enumerate(found) + ", and more text may follow."
}

// Number formats a number that is not negative. From 10000, a no-break space separates
// groups of three digits.
func Number(n int) string {
	s := strconv.Itoa(n)
	if len(s) <= 4 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u00a0" + s[i:]
	}
	return s
}

// Count formats a number with its noun: "1 line", "2 lines".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}
