package config

import (
	"fmt"
	"strings"
)

// contextLines is how many unchanged lines a diff shows before and after a change.
const contextLines = 3

// Diff returns the change of a file as a unified diff, or "" if it does not change. Nil as
// before or after means that the file does not exist.
func Diff(path string, before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	a, b := lines(before), lines(after)
	ops := compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", diffName(path, before), diffName(path, after))
	for i := 0; i < len(ops); {
		if ops[i].mark == ' ' {
			i++
			continue
		}
		from := max(0, i-contextLines)
		to := i
		for unchanged := 0; to < len(ops) && unchanged <= 2*contextLines; to++ {
			unchanged++
			if ops[to].mark != ' ' {
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

// op is a line with its mark in a diff: space, minus or plus.
type op struct {
	mark byte
	line string
}

// compare returns a shortest edit script from a to b, with the unchanged lines. Its time is
// quadratic in the lines between the first and the last change, which is fast enough for
// configurations.
func compare(a, b []string) (ops []op) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		ops = append(ops, op{' ', a[head]})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	ops = append(ops, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:] {
		ops = append(ops, op{' ', line})
	}
	return ops
}

func middle(a, b []string) (ops []op) {
	common := make([][]int, len(a)+1) // length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			ops = append(ops, op{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			ops = append(ops, op{'-', a[i]})
			i++
		default:
			ops = append(ops, op{'+', b[j]})
			j++
		}
	}
	return ops
}

// hunk writes ops[from:to] as a hunk of a unified diff.
func hunk(out *strings.Builder, ops []op, from, to int) {
	count := func(ops []op, not byte) (n int) {
		for _, o := range ops {
			if o.mark != not {
				n++
			}
		}
		return n
	}
	oldN, newN := count(ops[from:to], '+'), count(ops[from:to], '-')
	oldAt, newAt := count(ops[:from], '+')+min(oldN, 1), count(ops[:from], '-')+min(newN, 1) // an empty range names the line before it
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", oldAt, oldN, newAt, newN)
	for _, o := range ops[from:to] {
		fmt.Fprintf(out, "%c%s\n", o.mark, o.line)
	}
}
