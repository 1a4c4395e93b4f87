package agentconfig

import (
	"fmt"
	"strings"
)

// around is how many lines are shown before and after a change.
const around = 3

// Diff shows how a file changes, as a unified diff; "" when it does not. Nil
// stands for no file.
func Diff(path string, before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	a, b := lines(before), lines(after)
	ops := compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", named(path, before), named(path, after))
	for i := 0; i < len(ops); {
		if ops[i].mark == ' ' {
			i++
			continue
		}
		from := max(0, i-around)
		to := i
		for quiet := 0; to < len(ops) && quiet <= 2*around; to++ {
			quiet++
			if ops[to].mark != ' ' {
				quiet, i = 0, to+1
			}
		}
		to = min(len(ops), i+around)
		hunk(&out, ops, from, to)
		i = to
	}
	return out.String()
}

func named(path string, content []byte) string {
	if content == nil {
		return "/dev/null"
	}
	return path
}

func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
}

// op is a line that stays, goes or comes.
type op struct {
	mark byte
	line string
}

// compare finds a shortest way from a to b, by the longest common subsequence
// of what is between equal beginnings and ends. Files here are short.
func compare(a, b []string) (ops []op) {
	head := 0
	for head < len(a) && head < len(b) && clean(a[head]) == clean(b[head]) {
		ops = append(ops, op{' ', a[head]})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && clean(a[len(a)-1-tail]) == clean(b[len(b)-1-tail]) {
		tail++
	}
	ops = append(ops, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:] {
		ops = append(ops, op{' ', line})
	}
	return ops
}

// clean is a line without its end: the last one may have none.
func clean(line string) string { return strings.TrimSuffix(line, "\n") }

func middle(a, b []string) (ops []op) {
	common := make([][]int, len(a)+1) // length of the rest that both have
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if clean(a[i]) == clean(b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && clean(a[i]) == clean(b[j]):
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

// hunk writes ops from..to with the numbers of their lines.
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
	oldAt, newAt := count(ops[:from], '+')+1, count(ops[:from], '-')+1
	if oldN == 0 {
		oldAt--
	}
	if newN == 0 {
		newAt--
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", oldAt, oldN, newAt, newN)
	for _, o := range ops[from:to] {
		fmt.Fprintf(out, "%c%s\n", o.mark, clean(o.line))
	}
}
