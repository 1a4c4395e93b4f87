// Package linediff compares two texts line by line.
package linediff

// A Line is a line of a diff. It is in both texts or in one.
type Line struct {
	Sign byte // ' ' for a line of both texts, '-' for a removed line, '+' for an added line
	Text string
}

// maxPairs is the maximum number of pairs of lines that are compared. The time and the memory are
// proportional to this number.
const maxPairs = 1 << 20

// Compare returns the lines of a and b in order. The unchanged lines are a longest common subsequence. If the
// lines between the first and the last change form more than [maxPairs] pairs, Compare removes and adds all
// these lines.
func Compare(a, b []string) (out []Line) {
	add := func(sign byte, lines []string) {
		for _, s := range lines {
			out = append(out, Line{sign, s})
		}
	}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	add(' ', a[:start])
	same := a[len(a)-end:]
	a, b = a[start:len(a)-end], b[start:len(b)-end]
	if len(a)*len(b) > maxPairs {
		add('-', a)
		add('+', b)
		add(' ', same)
		return out
	}
	common := commonLengths(a, b)
	for len(a) > 0 || len(b) > 0 {
		at := common[len(a)]
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			add(' ', a[:1])
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && common[len(a)-1][len(b)] >= at[len(b)-1]:
			add('-', a[:1])
			a = a[1:]
		default:
			add('+', b[:1])
			b = b[1:]
		}
	}
	add(' ', same)
	return out
}

// commonLengths returns a table. Its element [i][j] is the length of the longest common subsequence of the
// last i lines of a and the last j lines of b.
func commonLengths(a, b []string) [][]int {
	out := make([][]int, len(a)+1)
	for i := range out {
		out[i] = make([]int, len(b)+1)
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			if a[len(a)-i] == b[len(b)-j] {
				out[i][j] = out[i-1][j-1] + 1
			} else {
				out[i][j] = max(out[i-1][j], out[i][j-1])
			}
		}
	}
	return out
}
