package terminal

import (
	"cmp"
	"strings"

	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/safetext"
)

// minMarkdownWidth is the minimum width of nested text in columns, unless the frame is narrower than twice
// this width. Deeper levels are not indented further.
const minMarkdownWidth = 12

// markdown draws a document of the agent right of the gutter, with all of its words. The rows have the same
// meaning without styles, which some terminals lack.
func (f *frame) markdown(word, sgr string, d markdown.Document) { f.indentedMarkdown(word, sgr, "", d) }

func (f *frame) indentedMarkdown(word, sgr, indent string, d markdown.Document) {
	if len(d) == 0 {
		return
	}
	f.withRowCount(func(part *frame) { part.document(word, sgr, indent, d) })
}

// document draws all rows of a document, which is not empty.
func (f *frame) document(word, sgr, indent string, d markdown.Document) {
	w := markdownWriter{frame: f, sgr: sgr, blanks: blankRows{word: word}, warned: map[markdown.Link]bool{}}
	w.blocks(d, indent, indent)
	w.blanks.flush(f)
}

// A markdownWriter draws the rows of a document.
type markdownWriter struct {
	*frame
	sgr    string // the style of the whole text
	blanks blankRows
	warned map[markdown.Link]bool
}

// blocks draws blocks with an empty row between them, except before a list. The first row begins with first,
// such as the bullet of an item. All other rows begin with rest. An empty item still shows its bullet.
func (w *markdownWriter) blocks(blocks []markdown.Block, first, rest string) {
	if len(blocks) == 0 {
		w.styledRow(w.blanks.flush(w.frame), gutter, "", first)
	}
	for i, block := range blocks {
		if _, list := block.(markdown.List); i > 0 && !list {
			w.row(w.blanks.flush(w.frame), gutter, plain, "")
		}
		w.block(block, first, rest)
		first = rest
	}
}

func (w *markdownWriter) block(block markdown.Block, first, rest string) {
	switch b := block.(type) {
	case markdown.Paragraph:
		w.spans(b.Spans, w.sgr, first, rest)
	case markdown.Heading:
		w.spans(b.Spans, bold, first, rest)
	case markdown.Quote:
		w.blocks(b.Blocks, w.indent(first, "> "), w.indent(rest, "> "))
	case markdown.Code:
		w.code(b, first, rest)
	case markdown.Rule:
		w.put(gutter, first, "- - -", "- - -")
	case markdown.List:
		for i, item := range b.Items {
			if i > 0 {
				first = rest
			}
			w.item(item, first, rest)
		}
	}
}

func (w *markdownWriter) item(item markdown.Item, first, rest string) {
	bullet := cmp.Or(item.Marker.String(), "•")
	w.blocks(item.Blocks, w.indent(first, bullet+" "), w.indent(rest, strings.Repeat(" ", width(bullet)+1)))
}

// indent returns indent followed by more. If too little room would be left, it returns indent alone.
func (w *markdownWriter) indent(indent, more string) string {
	if w.width-width(indent+more) < min(minMarkdownWidth, w.width/2) {
		return indent
	}
	return indent + more
}

func width(s string) int { return safetext.Width(safetext.Line(s)) }

func (w *markdownWriter) code(c markdown.Code, first, rest string) {
	for row := range cutRows(c.Label.String(), w.width-width(rest)) {
		if row != "" {
			w.put(gutter, first, row, w.withSGR(dim, row))
			first = rest
		}
	}
	for line := range strings.SplitSeq(c.Text.String(), "\n") {
		mark := gutter
		for row := range cutRows(line, w.width-width(rest)-2) {
			w.put(mark, first, row, "  "+keepOrder(row))
			first, mark = rest, continued
		}
	}
}

// put draws one row. It holds back an empty row without a bullet.
func (w *markdownWriter) put(mark, indent, text, drawn string) {
	if strings.Trim(indent, " >") != "" || !w.blanks.hold(mark, text) {
		w.styledRow(w.blanks.flush(w.frame), mark, text, indent+drawn)
	}
}

// spans draws text in several styles. It wraps the whole text, then finds the styles of each
// row by its position in the text.
func (w *markdownWriter) spans(spans []markdown.Span, sgr, first, rest string) {
	all, styles := joinSpans(spans, sgr)
	pos := 0
	for _, row := range safetext.Wrap(all, w.width-width(rest)) {
		s := row.String()
		if skipped := strings.Index(all.String()[pos:], s); skipped > 0 {
			pos += skipped
		}
		w.put(gutter, first, s, w.applyStyles(s, pos, styles))
		pos += len(s)
		for len(styles) > 0 && styles[0].end <= pos {
			styles = styles[1:]
		}
		first = rest
	}
	w.warnOfLinks(spans)
}
