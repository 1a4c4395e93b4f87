package view

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// A Size is how much there is to read of a text. A door that folds one says so before the
// fold (T3).
type Size struct {
	Lines      int
	Characters int
	Longest    int // characters of the longest line
	Blank      int // lines without anything to see, most in a row
	Spaces     int // between words of one line, most in a row
}

// SizeOf measures a text. In arguments, \n alone in a row is nothing to see.
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

// spaces returns the length of the longest run of them.
func spaces(line string) int {
	most, n := 0, 0
	for i := range len(line) {
		if line[i] != ' ' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// What is longer than these is said before it is read: far more than anybody writes by
// hand.
const (
	manyBlank  = 20
	manySpaces = 80
	longLine   = 160
	hugeLine   = 2000
)

// String says how much there is: "3 lines, 51 characters".
func (s Size) String() string {
	out := Count(s.Lines, "line") + ", " + Count(s.Characters, "character")
	if s.Longest > longLine && s.Lines > 1 {
		out += ", the longest line " + Number(s.Longest)
	}
	return out
}

// Warning says in a sentence what pushes a part of the text out of sight, and "" where
// nothing does.
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
	all := found[0]
	for i, f := range found[1:] {
		if i < len(found)-2 {
			all += ", " + f
		} else {
			all += " and " + f
		}
	}
	return "Read to the end: it has " + all + ", and something may stand behind."
}

// Number writes a number in groups of three.
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

// Count writes a number of things.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}
