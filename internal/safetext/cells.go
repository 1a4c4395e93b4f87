package safetext

import (
	"iter"
	"unicode"

	"github.com/rivo/uniseg"
)

// Pieces walks once over the parts of s that a row can begin with, and says how many cells
// each takes at most: characters as people see them (UAX #29), and the pieces of those
// that are wider than width.
func Pieces(s string, width int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for state := -1; s != ""; {
			var cluster string
			var cells int
			cluster, s, cells, state = uniseg.FirstGraphemeClusterInString(s, state)
			if cells = most(cluster, cells); cells <= width {
				if !yield(cluster, cells) {
					return
				}
				continue
			}
			for piece, cells := range pieces(cluster) {
				if !yield(piece, cells) {
					return
				}
			}
		}
	}
}

// Cells returns how many terminal cells r takes at most, where a terminal draws every
// rune by itself: many know nothing of jamo in a row, of skin tones, of marks that are
// spaced and of the halfwidth sound marks, which the rules of characters count as none.
// What no rune is yet may be a wide one for a newer terminal.
func Cells(r rune) int {
	switch {
	case r >= ' ' && r < 0x300:
		return 1
	case isSkinTone(r), isPicture(r), unicode.Is(unicode.Cn, r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me), isJoiner(r), isSelector(r), r >= tagSpace && r <= tagEnd:
		return 0
	}
	return max(1, uniseg.StringWidth(string(r)))
}

// isPicture holds for symbols that are narrow by the tables, or were before Unicode 16, and
// that terminals draw two cells wide nevertheless.
func isPicture(r rune) bool {
	switch {
	case r >= 0x2300 && r <= 0x23FF, r >= 0x2600 && r <= 0x27BF, r >= 0x2E80 && r <= 0xA4CF && r != 0x303F:
		return !unicode.Is(unicode.Mn, r)
	}
	return r >= 0x1D300 && r <= 0x1D37F || r >= 0x1F000 && r <= 0x1FAFF
}

// most returns how many cells a character takes at most: whole, or rune by rune. Whole it
// can be wider, where a selector makes a picture of a letter.
func most(cluster string, whole int) int {
	apart := 0
	for _, r := range cluster {
		apart += Cells(r)
	}
	return max(whole, apart)
}

// pieces cuts a character where a terminal that draws every rune by itself begins a new
// one: before what has a width and is no mark.
func pieces(cluster string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		start, cells := 0, 0
		for i, r := range cluster {
			wide := Cells(r)
			if i > start && wide > 0 && !unicode.Is(unicode.M, r) {
				if !yield(cluster[start:i], cells) {
					return
				}
				start, cells = i, 0
			}
			cells += wide
		}
		yield(cluster[start:], cells)
	}
}
