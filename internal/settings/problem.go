package settings

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/spelling"
)

// A Problem is one error in a settings file.
type Problem struct {
	Line, Column int    // both begin at 1; columns are counted in code points
	Detail       string // the problem
	Fix          string // the text to write instead
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

// maxProblems is the maximum number of problems in an [Invalid]. Further problems are reported after the
// first problems have been corrected.
const maxProblems = 20

// Quote returns s in quotes, shortened to 40 characters.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Nearest returns the known name that is most similar to name, or "" if no known name is
// similar.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := spelling.Distance(normalize(name), normalize(k)); d < least && d < len(k)/2+1 {
			best, least = k, d
		}
	}
	return best
}

// normalize removes the most frequent differences between names: case and separators. It returns at most 40
// characters.
func normalize(name string) []rune {
	letters := []rune(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)))
	return letters[:min(len(letters), 40)]
}
