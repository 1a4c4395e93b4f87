package config

import (
	"fmt"
	"strings"

	"github.com/askback/askback/internal/text/linediff"
)

// contextLines is the number of unchanged lines that a diff shows before and after a change.
const contextLines = 3

// Diff returns the change of the file at path as a unified diff. It returns "" if the texts are equal. If
// before or after is nil, the diff shows that the file does not exist.
func Diff(path string, before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	a, b := lines(before), lines(after)
	ops := linediff.Compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", diffName(path, before), diffName(path, after))
	for i := 0; i < len(ops); {
		if ops[i].Sign == ' ' {
			i++
			continue
		}
		from := max(0, i-contextLines)
		to := i
		for unchanged := 0; to < len(ops) && unchanged <= 2*contextLines; to++ {
			unchanged++
			if ops[to].Sign != ' ' {
				unchanged, i = 0, to+1
			}
		}
		to = min(len(ops), i+contextLines)
		hunk(&out, ops, from, to)
		i = to
	}
	return out.String()
}

func diffName(path string, content []byte) string {
	if content == nil {
		return "/dev/null"
	}
	return path
}

// lines returns the lines of a file without their newlines.
func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// hunk writes ops[from:to] as a hunk of a unified diff.
func hunk(out *strings.Builder, ops []linediff.Line, from, to int) {
	count := func(ops []linediff.Line, not byte) (n int) {
		for _, o := range ops {
			if o.Sign != not {
				n++
			}
		}
		return n
	}
	oldN, newN := count(ops[from:to], '+'), count(ops[from:to], '-')
	// an empty range names the line before it
	oldAt, newAt := count(ops[:from], '+')+min(oldN, 1), count(ops[:from], '-')+min(newN, 1)
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", oldAt, oldN, newAt, newN)
	for _, o := range ops[from:to] {
		fmt.Fprintf(out, "%c%s\n", o.Sign, o.Text)
	}
}
