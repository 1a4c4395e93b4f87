// Package qrtest reads QR codes from a terminal, for tests. It is written from the
// standard, ISO/IEC 18004, and shares no code with the drawing.
package qrtest

import (
	"errors"
	"fmt"
	"strings"
)

// Read returns the text of the QR code that rows of half blocks draw. The rows have no escape sequences. If
// inverted is true, blocks are light modules. Read corrects no errors. It reads codes of versions 1 to 6 with
// the lowest level of correction.
func Read(rows []string, inverted bool) (string, error) {
	g, err := grid(rows, inverted)
	if err != nil {
		return "", err
	}
	version := (len(g) - 17) / 4
	if version < 1 || version > 6 || len(g) != 17+4*version {
		return "", fmt.Errorf("a code cannot have %d modules in a row", len(g))
	}
	return text(codewords(g, version), version)
}

// grid returns the modules of a drawing without its margin. A dark module is true.
func grid(rows []string, inverted bool) ([][]bool, error) {
	var all [][]bool
	for _, row := range rows {
		var upper, lower []bool
		for _, r := range row {
			u, l := r == '▀' || r == '█', r == '▄' || r == '█'
			if !u && !l && r != ' ' {
				return nil, fmt.Errorf("%q is not part of a code", r)
			}
			upper, lower = append(upper, u != inverted), append(lower, l != inverted)
		}
		all = append(all, upper, lower)
	}
	top, left := 0, -1
	for ; top < len(all) && left < 0; top++ {
		for x, dark := range all[top] {
			if dark {
				left = x
				break
			}
		}
	}
	if left < 0 {
		return nil, errors.New("there is no code")
	}
	top--
	n := len(all[top]) - 2*left
	if top+n > len(all) {
		return nil, errors.New("the code is cut off")
	}
	var out [][]bool
	for _, row := range all[top : top+n] {
		if len(row) < left+n {
			return nil, errors.New("a row is too short")
		}
		out = append(out, row[left:left+n])
	}
	return out, nil
}

// codewords returns the bytes of a code in the order in which they are placed.
func codewords(g [][]bool, version int) []byte {
	n := len(g)
	mask := 0 // the three bits after the level in the format
	for i, x := range []int{2, 3, 4} {
		if g[8][x] {
			mask |= 4 >> i
		}
	}
	mask ^= 0b101 // the mask of the format itself
	var out []byte
	bits, up := 0, true
	for right := n - 1; right > 0; right -= 2 {
		if right == 6 {
			right-- // the column of the timing pattern
		}
		for i := range n {
			y := i
			if up {
				y = n - 1 - i
			}
			for _, x := range []int{right, right - 1} {
				if isFunction(n, version, x, y) {
					continue
				}
				if bits%8 == 0 {
					out = append(out, 0)
				}
				out[len(out)-1] <<= 1
				if g[y][x] != isMasked(mask, x, y) {
					out[len(out)-1] |= 1
				}
				bits++
			}
		}
		up = !up
	}
	return out
}

// isFunction reports whether a module is part of a pattern or of the format information.
func isFunction(n, version, x, y int) bool {
	center := n - 7 // part of the alignment pattern
	return x == 6 || y == 6 || x < 9 && y < 9 || x >= n-8 && y < 9 || x < 9 && y >= n-8 ||
		version > 1 && x >= center-2 && x <= center+2 && y >= center-2 && y <= center+2
}

func isMasked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (y/2+x/3)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	}
	return ((x+y)%2+x*y%3)%2 == 0
}

// text returns the text of a code in byte mode. Version 6 has two blocks, whose bytes alternate.
func text(words []byte, version int) (string, error) {
	if version == 6 {
		const block = 68
		var first, second []byte
		for i := 0; i < 2*block; i += 2 {
			first, second = append(first, words[i]), append(second, words[i+1])
		}
		words = append(first, second...)
	}
	var b strings.Builder
	if words[0]>>4 != 0b0100 {
		return "", fmt.Errorf("the mode is %04b, not that for bytes", words[0]>>4)
	}
	at := func(i int) byte { return words[i]<<4 | words[i+1]>>4 }
	for i := range int(at(0)) {
		b.WriteByte(at(i + 1))
	}
	return b.String(), nil
}
