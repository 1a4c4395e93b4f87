package safetext

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns how many terminal cells t takes at most: those of its widest line.
func Width(t Text) int {
	widest := 0
	for l := range strings.SplitSeq(t.s, "\n") {
		widest = max(widest, lineWidth(l))
	}
	return widest
}

func lineWidth(l string) int {
	total := 0
	for state := -1; l != ""; {
		var cluster string
		var cells int
		cluster, l, cells, state = uniseg.FirstGraphemeClusterInString(l, state)
		total += most(cluster, cells)
	}
	return total
}

// Wrap breaks t into rows of at most width cells, at least one row. It breaks between
// words (UAX #14), a long word between characters as people see them (UAX #29), and
// keeps every byte but line feeds and the spaces at the breaks. A character that is wider
// than a row, if a terminal draws its runes one by one, is broken between those. Only a
// rune that is itself wider than width, with its marks, makes a wider row: a terminal
// that has to break a row goes on in its first column, which is ours.
func Wrap(t Text, width int) []Text {
	var rows []Text
	for l := range strings.SplitSeq(t.s, "\n") {
		w := wrapper{text: l, width: max(width, 1), rows: rows}
		w.run()
		rows = w.rows
	}
	return rows
}

// wrapper breaks one line. All positions are byte offsets in text.
type wrapper struct {
	text  string
	width int
	rows  []Text

	start, cells int // of the row being filled
	gap, beyond  int // the last place to break, and the cells since; none if gap == start
}

func (w *wrapper) run() {
	clusters, segments := -1, -1
	var end int // of the segment that may be followed by a break
	rest, words := w.text, w.text
	for pos := 0; rest != ""; {
		cluster, after, cells, state := uniseg.FirstGraphemeClusterInString(rest, clusters)
		rest, clusters = after, state
		w.put(pos, cluster, most(cluster, cells))
		pos += len(cluster)
		for end < pos {
			segment, more, _, s := uniseg.FirstLineSegmentInString(words, segments)
			words, segments = more, s
			end += len(segment)
		}
		if end == pos {
			w.gap, w.beyond = pos, 0
		}
	}
	last := w.text[w.start:]
	for w.cells > w.width && strings.HasSuffix(last, " ") {
		last, w.cells = last[:len(last)-1], w.cells-1
	}
	w.rows = append(w.rows, Text{last})
}

// put puts the cluster at pos into the row, in pieces if it is wider than any row.
func (w *wrapper) put(pos int, cluster string, cells int) {
	if cells <= w.width {
		w.add(pos, cluster, cells)
		return
	}
	for piece, cells := range pieces(cluster) {
		w.add(pos, piece, cells)
		pos += len(piece)
	}
}

// add puts what stands at pos into the row, which may end before it or before the word
// it belongs to. Spaces never end a row: they hang over its edge and are cut there.
func (w *wrapper) add(pos int, cluster string, cells int) {
	if cluster != " " && w.cells+cells > w.width {
		if w.gap > w.start {
			w.end(w.gap, w.beyond)
		}
		if w.cells+cells > w.width && pos > w.start {
			w.end(pos, 0)
		}
	}
	w.cells += cells
	w.beyond += cells
}

// end closes the row at a position; cells of it belong to the next one.
func (w *wrapper) end(at, cells int) {
	w.rows = append(w.rows, Text{strings.TrimRight(w.text[w.start:at], " ")})
	w.start, w.gap, w.cells, w.beyond = at, at, cells, cells
}
