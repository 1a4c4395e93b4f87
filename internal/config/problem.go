package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Problem is one thing that is wrong with the file.
type Problem struct {
	Line, Column int    // from 1; columns count code points
	Detail       string // what is wrong
	Fix          string // what to write instead
}

// Invalid is the error for a file that cannot be used: all that is wrong with
// it, in the order of the file. It never quotes what came from the environment.
type Invalid struct {
	File     string
	Problems []Problem
}

// Error has one line for each problem.
func (v Invalid) Error() string {
	var lines []string
	for _, p := range v.Problems {
		line := fmt.Sprintf("%s:%d:%d: %s", v.File, p.Line, p.Column, p.Detail)
		if p.Fix != "" {
			line += "; " + p.Fix
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many problems are named. Whoever makes more can mend these
// first.
const maxProblems = 20

// position is a place in the file, from 1.
type position struct{ line, column int }

func (f *file) wrong(at position, fix, format string, args ...any) {
	if len(f.bad) < maxProblems {
		f.bad = append(f.bad, Problem{max(at.line, 1), max(at.column, 1), fmt.Sprintf(format, args...), fix})
	}
}

// err returns what was wrong, or nil.
func (f *file) err() error {
	if len(f.bad) == 0 {
		return nil
	}
	slices.SortStableFunc(f.bad, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Invalid{f.name, f.bad}
}

// quote shows at most 40 characters of what the file says.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// nearest is the name that was probably meant, "" if none is near.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(plain(name), plain(k)); d < least && d < len(k)/2+1 {
			best, least = k, d
		}
	}
	return best
}

// plain is a name without what people get wrong first: case, and what stands
// between its words.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance counts the letters to add, drop or change to make b of a. It gives up
// on names that are too long to be one of ours.
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j+1], row[j]) + 1
			if a[i] == b[j] {
				next = min(next, diagonal)
			} else {
				next = min(next, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
