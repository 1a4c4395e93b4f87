package safetext

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width returns the maximum number of terminal cells for the widest line of t.
func Width(t Text) int {
	widest := 0
	for l := range strings.SplitSeq(t.s, "\n") {
		widest = max(widest, lineWidth(l))
	}
	return widest
}

func lineWidth(l string) int {
	total := 0
	for _, cells := range clusters(l) {
		total += cells
	}
	return total
}

// Wrap breaks t into rows of at most width cells, and returns at least one row. It breaks
// between words (UAX #14), and a long word between grapheme clusters (UAX #29). It drops
// only line feeds, the spaces at the breaks, and spaces at the end of a line that do not
// fit.
//
// A cluster that can be wider than a row is broken between its runes. Only a rune that is
// wider than width makes a wider row. A terminal would continue a wider row in its first
// column, which is reserved for Askback's own text.
func Wrap(t Text, width int) []Text {
	var rows []Text
	for l := range strings.SplitSeq(t.s, "\n") {
		w := wrapper{text: l, width: max(width, 1), rows: rows}
		w.run()
		rows = w.rows
	}
	return rows
}

// Beginning returns the beginning of a line in at most width columns. If the rest is cut, " …" follows it. The line
// is cut between two words, or where a script without spaces allows a break. A word is cut only if it is the first
// word, and wider than width.
func Beginning(t Text, width int) string {
	rows := Wrap(t, width)
	if len(rows) == 1 {
		return t.s
	}
	begin := rows[0].s
	before, _ := utf8.DecodeLastRuneInString(begin)
	after, _ := utf8.DecodeRuneInString(t.s[min(len(begin), len(t.s)):])
	if end := strings.LastIndexByte(strings.TrimLeft(begin, " "), ' '); end > 0 && after != ' ' &&
		before < utf8.RuneSelf && after < utf8.RuneSelf {
		begin = begin[:strings.LastIndexByte(begin, ' ')]
	}
	return strings.TrimRight(begin, " ") + " …"
}

// A wrapper wraps one line. All positions are byte offsets in text.
type wrapper struct {
	text  string
	width int
	rows  []Text

	start, cells int // cells of the current row
	gap, beyond  int // the last possible break, and the cells after it; there is no break if gap == start
}

func (w *wrapper) run() {
	pos, end := 0, 0 // end is the end of the current line segment, where a break is allowed
	words, state := w.text, -1
	for piece, cells := range Pieces(w.text, w.width) {
		w.add(pos, piece, cells)
		pos += len(piece)
		for end < pos {
			var segment string
			segment, words, _, state = uniseg.FirstLineSegmentInString(words, state)
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

// add adds a piece to the row. If the piece does not fit, add first ends the row before the
// word of the piece. If the rest of the word is still too long, add ends the row before the
// piece. Spaces do not end a row: they are cut at its end.
func (w *wrapper) add(pos int, piece string, cells int) {
	if piece != " " && w.cells+cells > w.width {
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

// end ends the row at a position. The text after that position, which begins the next row,
// has the given number of cells.
func (w *wrapper) end(at, cells int) {
	w.rows = append(w.rows, Text{strings.TrimRight(w.text[w.start:at], " ")})
	w.start, w.gap, w.cells, w.beyond = at, at, cells, cells
}
