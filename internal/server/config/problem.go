package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/spelling"
)

// A Problem is one error in the file.
type Problem struct {
	Line, Column int    // from 1; columns are counted in code points
	Detail       string // what is wrong
	Fix          string // what to write instead
}

// Invalid is the error for a file with problems. The problems are in the order of the file,
// and never contain the value of a variable.
type Invalid struct {
	File     string
	Problems []Problem
}

// Error returns one line for each problem.
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

// maxProblems is the maximum number of problems in an [Invalid]. Further problems are
// reported when these have been corrected.
const maxProblems = 20

// position is a position in the file, from 1.
type position struct{ line, column int }

// addProblem adds a problem, unless there are already maxProblems.
func (l *loader) addProblem(at position, fix, format string, args ...any) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, Problem{Line: max(at.line, 1), Column: max(at.column, 1), Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// err returns the problems in the order of the file as an [Invalid], or nil if the
// configuration is valid.
func (l *loader) err() error {
	if len(l.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Invalid{l.name, l.problems}
}

// quote returns s in quotes, shortened to 40 characters.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// nearest returns the known name that is most similar to name, or "" if no known name is
// similar.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := spelling.Distance(normalize(name), normalize(k)); d < least && d < len(k)/2+1 {
			best, least = k, d
		}
	}
	return best
}

// normalize removes the most frequent differences between names: case and separators. It
// returns at most 40 characters.
func normalize(name string) []rune {
	letters := []rune(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)))
	return letters[:min(len(letters), 40)]
}
