package terminal

import (
	"strings"

	"github.com/askback/askback/internal/markdown"
	"github.com/askback/askback/internal/safetext"
)

// minProse is how many columns a nested text has at least: deeper than that it is not
// indented any more.
const minProse = 12

// prose draws what an agent wrote, right of the gutter, every character of it. Looks are
// added where the terminal has any; words do not depend on them.
func (f *frame) prose(word, sgr string, d markdown.Document) { f.nested(word, sgr, "", d) }

func (f *frame) nested(word, sgr, indent string, d markdown.Document) {
	if len(d) == 0 {
		return
	}
	f.measured(func(part *frame) {
		w := writer{frame: part, sgr: sgr, blanks: blanks{word: word}, warned: map[markdown.Link]bool{}}
		w.blocks(d, indent, indent)
		w.blanks.drawn(part)
	})
}

// writer draws a document row by row.
type writer struct {
	*frame
	sgr    string // of all of it
	blanks blanks
	warned map[markdown.Link]bool
}

// blocks draws blocks with an empty row between them. The first row begins with first, as
// the first of an item does with its bullet, and all others with rest. An item that says
// nothing still shows its bullet.
func (w *writer) blocks(blocks []markdown.Block, first, rest string) {
	if len(blocks) == 0 {
		w.styled(w.blanks.drawn(w.frame), gutter, "", first)
	}
	for i, block := range blocks {
		if _, list := block.(markdown.List); i > 0 && !list {
			w.row(w.blanks.drawn(w.frame), gutter, plain, "")
		}
		w.block(block, first, rest)
		first = rest
	}
}

func (w *writer) block(block markdown.Block, first, rest string) {
	switch b := block.(type) {
	case markdown.Paragraph:
		w.spans(b.Spans, w.sgr, first, rest)
	case markdown.Heading:
		w.spans(b.Spans, bold, first, rest)
	case markdown.Quote:
		w.blocks(b.Blocks, w.deeper(first, "> "), w.deeper(rest, "> "))
	case markdown.Code:
		w.code(b, first, rest)
	case markdown.Rule:
		w.put(first, "- - -", "- - -")
	case markdown.List:
		for i, item := range b.Items {
			if i > 0 {
				first = rest
			}
			w.item(item, first, rest)
		}
	}
}

func (w *writer) item(item markdown.Item, first, rest string) {
	bullet := item.Marker.String()
	if bullet == "" {
		bullet = "•"
	}
	w.blocks(item.Blocks, w.deeper(first, bullet+" "), w.deeper(rest, strings.Repeat(" ", safetext.Width(safetext.Line(bullet))+1)))
}

// deeper adds to what a row begins with, as long as there is room for words.
func (w *writer) deeper(indent, more string) string {
	if w.width-cells(indent+more) < min(minProse, w.width/2) {
		return indent
	}
	return indent + more
}

func cells(s string) int { return safetext.Width(safetext.Line(s)) }

func (w *writer) code(c markdown.Code, first, rest string) {
	for row := range cut(c.Label.String(), w.width-cells(rest)) {
		if row != "" {
			w.put(first, row, w.look(dim, row))
			first = rest
		}
	}
	for line := range strings.SplitSeq(c.Text.String(), "\n") {
		mark := gutter
		for row := range cut(line, w.width-cells(rest)-2) {
			if strings.Trim(first, " >") != "" || !w.blanks.takes(mark, row) {
				w.styled(w.blanks.drawn(w.frame), mark, row, first+"  "+ordered(row))
			}
			first, mark = rest, goesOn
		}
	}
}

// put draws one row, or keeps it back if it is empty and has no bullet.
func (w *writer) put(indent, text, drawn string) {
	if strings.Trim(indent, " >") != "" || !w.blanks.takes(gutter, text) {
		w.styled(w.blanks.drawn(w.frame), gutter, text, indent+drawn)
	}
}

// spans draws words of several looks. They are wrapped as one text, and each row finds
// its looks again by where it stands in that text.
func (w *writer) spans(spans []markdown.Span, sgr, first, rest string) {
	all, looks := spoken(spans, sgr)
	pos := 0
	for _, row := range safetext.Wrap(all, w.width-cells(rest)) {
		s := row.String()
		if skipped := strings.Index(all.String()[pos:], s); skipped > 0 {
			pos += skipped
		}
		w.put(first, s, w.dress(s, pos, looks))
		pos += len(s)
		for len(looks) > 0 && looks[0].end <= pos {
			looks = looks[1:]
		}
		first = rest
	}
	w.warn(spans)
}
