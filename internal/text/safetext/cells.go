package safetext

import (
	"iter"
	"unicode"

	"github.com/rivo/uniseg"
)

// Pieces splits s into the parts between which a row of width cells can be broken. It
// yields each part with its maximum number of cells. A part is a grapheme cluster (UAX
// #29), or a piece of a cluster that is wider than width.
func Pieces(s string, width int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for cluster, cells := range clusters(s) {
			if cells <= width {
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

// Cells returns the maximum number of cells for r in a terminal that draws every rune separately. Many
// terminals draw jamo, skin tones, spacing marks and halfwidth sound marks separately. An unassigned code
// point has two cells, because newer terminals may draw such a code point in two cells.
func Cells(r rune) int {
	switch {
	case r >= ' ' && r < 0x300:
		return 1
	case isSkinTone(r), mayBeWide(r), unicode.Is(unicode.Cn, r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me), isJoiner(r), isSelector(r), r >= tagSpace && r <= tagEnd:
		return 0
	}
	return max(1, uniseg.StringWidth(string(r)))
}

// mayBeWide reports whether r is in a block of symbols or of CJK characters, and is neither a mark nor
// U+303F. Terminals may draw all these characters two cells wide, even characters that Unicode tables count
// as narrow.
func mayBeWide(r rune) bool {
	switch {
	case r >= 0x2300 && r <= 0x23FF, r >= 0x2600 && r <= 0x27BF, r >= 0x2E80 && r <= 0xA4CF && r != 0x303F:
		return !unicode.Is(unicode.Mn, r)
	}
	return r >= 0x1D300 && r <= 0x1D37F || r >= 0x1F000 && r <= 0x1FAFF
}

// clusters yields the grapheme clusters of s. Each has the maximum number of cells that the cluster takes,
// drawn as a whole or rune by rune. A cluster can be wider than its runes together, if a selector turns a
// letter into a picture.
func clusters(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for state := -1; s != ""; {
			var cluster string
			var whole int
			cluster, s, whole, state = uniseg.FirstGraphemeClusterInString(s, state)
			apart := 0
			for _, r := range cluster {
				apart += Cells(r)
			}
			if !yield(cluster, max(whole, apart)) {
				return
			}
		}
	}
}

// pieces splits a grapheme cluster before each rune that takes cells and is not a mark, and
// yields each part with its cells. A terminal that draws every rune separately can break a
// row there.
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

// Fit returns text as one line of at most width columns. A truncated line ends with an ellipsis.
func Fit(text Text, width int) string {
	text = Line(text.String())
	if Width(text) <= width {
		return text.String()
	}
	end, cells := 0, 0
	for piece, wide := range Pieces(text.String(), max(1, width-1)) {
		if cells+wide > width-1 {
			break
		}
		end, cells = end+len(piece), cells+wide
	}
	return text.String()[:end] + "…"
}
