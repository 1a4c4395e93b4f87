package terminal

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// brailleBlank is the Braille pattern without dots. It looks like a space.
const brailleBlank = "\u2800"

// leftToRight is U+200E, the invisible left-to-right mark. A terminal with bidirectional text
// takes the direction of a row from its first strong character. The mark comes before the
// text of the agent, so that the gutter and the margin stay in their columns.
const leftToRight = "\u200e"

// hasRightToLeft reports whether a terminal may reorder parts of s.
func hasRightToLeft(s string) bool { return strings.ContainsFunc(s, safetext.IsRightToLeft) }

// keepOrder prevents a terminal from reordering the parts between punctuation. In "a": "b", the name and the
// value would change places if both were right-to-left text. Do not use keepOrder for sentences, whose parts
// must be reordered.
func keepOrder(s string) string {
	if !hasRightToLeft(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if r > ' ' && r <= '~' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteString(leftToRight)
		}
	}
	return b.String()
}

// row draws one row: a word of Askback in the margin, text of the agent right of the gutter.
func (f *frame) row(word, gutter, sgr, text string) {
	f.styledRow(word, gutter, text, f.withSGR(sgr, text))
}

// styledRow is like row, for a text with several styles. drawn is the text with its styles.
func (f *frame) styledRow(word, gutter, text, drawn string) {
	if f.margin == 0 && word != "" {
		f.message(word)
		word = ""
	}
	if hasRightToLeft(text) {
		gutter += leftToRight
	}
	key := strings.Repeat(" ", max(0, f.margin-1-utf8.RuneCountInString(word))) + f.withSGR(bold, word)
	if f.margin > 0 {
		key += " "
	}
	f.b.WriteString(strings.TrimRight(key+f.withSGR(dim, gutter+" ")+drawn, " ") + "\n")
	f.rows++
}

// text draws t in one style, wrapped at spaces. It draws nothing if t is empty.
func (f *frame) text(word, sgr string, t safetext.Text) {
	f.wrapped(word, sgr, t, func(row string) string { return row })
}

// wrapped is like text, but draws the result of change for each row.
func (f *frame) wrapped(word, sgr string, t safetext.Text, change func(row string) string) {
	if t.String() == "" {
		return
	}
	f.withRowCount(func(part *frame) {
		blanks := blankRows{word: word}
		for _, row := range safetext.Wrap(t, f.width) {
			if blanks.hold(gutter, row.String()) {
				continue
			}
			part.row(blanks.flush(part), gutter, sgr, change(row.String()))
		}
		blanks.flush(part)
	})
}

// blankRows are consecutive empty rows that were held back. If there are many, only their number is drawn, so
// that they cannot push text off the screen (T3).
type blankRows struct {
	word    string   // word in the margin of the next row
	gutters []string // gutters of the first rows, at most maxBlank
	n       int
}

// hold reports whether row is empty. If so, it holds the row back.
func (b *blankRows) hold(gutter, row string) bool {
	if strings.TrimSpace(strings.ReplaceAll(row, brailleBlank, " ")) != "" {
		return false
	}
	if b.n++; b.n <= maxBlank {
		b.gutters = append(b.gutters, gutter)
	}
	return true
}

// flush draws the rows held back. It returns the margin word for the next row.
func (b *blankRows) flush(f *frame) string {
	if b.n > maxBlank {
		f.aside("(" + strconv.Itoa(b.n) + " empty rows)")
		b.gutters = nil
	}
	for _, mark := range b.gutters {
		f.row(b.word, mark, plain, "")
		b.word = ""
	}
	word := b.word
	*b = blankRows{}
	return word
}

// exact draws t with all its spaces. It marks the rows that continue a line.
func (f *frame) exact(word, sgr string, t safetext.Text) {
	f.withRowCount(func(part *frame) { part.exactLines(word, sgr, "", t) })
}

// preview draws a preview after indent. It draws nothing if t is empty.
func (f *frame) preview(indent string, t safetext.Text, formatted view.Markdown) {
	if t.String() != "" {
		f.withRowCount(func(part *frame) { part.previewLines("shows", indent, t, formatted) })
	}
}

// previewLines draws all rows of a preview: formatted if it is Markdown to be read, and otherwise exactly.
func (f *frame) previewLines(word, indent string, t safetext.Text, formatted view.Markdown) {
	if len(formatted) == 0 {
		f.exactLines(word, plain, indent, t)
		return
	}
	f.document(word, plain, indent, formatted)
}

// exactLines draws the lines of t, cut at the width and indented.
func (f *frame) exactLines(word, sgr, indent string, t safetext.Text) {
	blanks := blankRows{word: word}
	for line := range strings.SplitSeq(t.String(), "\n") {
		mark := gutter
		for row := range cutRows(line, f.width-len(indent)) {
			if !blanks.hold(mark, row) {
				f.row(blanks.flush(f), mark, sgr, indent+keepOrder(row))
			}
			mark = continued
		}
	}
	blanks.flush(f)
}

// cutRows cuts a line into at least one row, which together are the line. It cuts before the spaces between two words,
// so that each space can be seen, or after them if the word would not fit with them. It cuts inside of a word that is
// longer than a row, and inside a character only if the character is wider than a row.
func cutRows(line string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		c := cutter{line: line, width: width, yield: yield}
		for piece, wide := range safetext.Pieces(line, width) {
			if c.add(piece, wide); c.ended {
				return
			}
		}
		if c.place(); !c.ended {
			yield(line[c.start:])
		}
	}
}

// A cutter cuts a line into rows. It reads the line once.
type cutter struct {
	line  string
	width int
	yield func(row string) bool
	ended bool // whether yield has returned false

	start, cells int // beginning and cells of the row
	pos          int // position after the last piece

	pending      []pendingPiece // the pieces of the last word, and of the spaces before it, that are in no row yet
	spaces, word int            // the cells of these spaces and of the word
	hasWord      bool           // whether the word has begun
	isLong       bool           // whether the spaces or the word are longer than a row, so that no piece is held back
}

type pendingPiece struct{ pos, cells int }

// add adds the next piece of the line.
func (c *cutter) add(piece string, cells int) {
	space := piece == " "
	if space && c.hasWord || !space && !c.hasWord && c.isLong {
		c.place()
	}
	c.pending = append(c.pending, pendingPiece{c.pos, cells})
	c.pos += len(piece)
	if space {
		c.spaces += cells
	} else {
		c.hasWord = true
		c.word += cells
	}
	if c.isLong = c.isLong || c.word > c.width || c.spaces > c.width; c.isLong {
		for _, p := range c.pending {
			c.put(p)
		}
		c.pending = c.pending[:0]
	}
}

// place puts the pending pieces into the row, or ends the row before them.
func (c *cutter) place() {
	switch {
	case len(c.pending) == 0:
	case c.cells+c.spaces+c.word <= c.width:
		c.cells += c.spaces + c.word
	case c.spaces+c.word <= c.width:
		c.end(c.pending[0].pos)
		c.cells += c.spaces + c.word
	default:
		for _, p := range c.pending[:c.spaces] {
			c.put(p)
		}
		if c.cells+c.word > c.width && c.hasWord {
			c.end(c.pending[c.spaces].pos)
		}
		c.cells += c.word
	}
	c.pending, c.spaces, c.word, c.hasWord, c.isLong = c.pending[:0], 0, 0, false, false
}

// put puts a piece into the row, or into the next row if the row is full.
func (c *cutter) put(p pendingPiece) {
	if c.cells+p.cells > c.width {
		c.end(p.pos)
	}
	c.cells += p.cells
}

// end ends the row, unless it is empty.
func (c *cutter) end(at int) {
	if at > c.start && !c.ended {
		c.ended = !c.yield(c.line[c.start:at])
		c.start, c.cells = at, 0
	}
}

// names draws a list of names, with separator between them.
func (f *frame) names(word, sgr string, names []safetext.Text, separator string) {
	f.wrapped(word, sgr, joinNames(names, separator), keepOrder)
}

// joinNames joins names into one line.
func joinNames(names []safetext.Text, separator string) safetext.Text {
	var all []string
	for _, name := range names {
		all = append(all, name.String())
	}
	return safetext.Line(strings.Join(all, separator))
}
