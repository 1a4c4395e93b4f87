// Package markdown parses the text of agents into a tree of safe text. It supports a small
// subset of Markdown.
//
// It does not implement CommonMark, which hides text: reference definitions, comments,
// tags, link titles. Here every character that is not a mark is in the tree, in its order,
// and unknown marks are text. HTML is text, an image is a link, and parsing never fails.
// Parsing takes linear time, and the depth of the tree is limited.
package markdown

import (
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// A Document is the tree of blocks that [Parse] returns.
type Document []Block

// A Block is a [Paragraph], [Heading], [List], [Quote], [Code] or [Rule].
type Block interface{ block() }

// A Paragraph is text with line breaks. Its spans contain line feeds.
type Paragraph struct{ Spans []Span }

// A Heading is a heading in the text of an agent. A frontend must not display it like a
// heading of Askback.
type Heading struct {
	Level int // 1 to 6
	Spans []Span
}

// A List is a list of items. Each item is either bulleted or numbered.
type List struct{ Items []Item }

// An Item is an item of a list. Its blocks can include further lists.
type Item struct {
	Marker safetext.Text // "3." as it was typed; empty for a bullet
	Blocks []Block
}

// A Quote is a block quote.
type Quote struct{ Blocks []Block }

// Code is text that is displayed exactly, in a monospaced font. A table is code too, with
// its columns aligned. A frontend that has tables displays the cells instead.
type Code struct {
	Label safetext.Text // the text after the opening fence; it must be displayed, too
	Text  safetext.Text
	Table []Row // the rows of a table, beginning with its header; nil for other code
}

// A Row is a row of a table.
type Row []Cell

// A Cell is a cell of a table.
type Cell []Span

// A Rule is a horizontal line.
type Rule struct{}

func (Paragraph) block() {}
func (Heading) block()   {}
func (List) block()      {}
func (Quote) block()     {}
func (Code) block()      {}
func (Rule) block()      {}

// A Span is text in one style.
type Span struct {
	Text     safetext.Text
	Strong   bool
	Emphasis bool
	Code     bool
	Link     *Link // nil if the span is not a link
}

// A Link is a link to exactly its URL. A frontend must display the text, the whole URL and the warning
// Suspicious, never the text alone.
type Link struct {
	URL        safetext.Text // address with http, https or mailto
	Host       safetext.Text // with code points in place of characters that are not ASCII, if the link is suspicious
	Suspicious string        // reason why the link is suspicious, in a sentence, or ""
}

// Bare reports whether the span is a link whose text is its address. The address is then displayed once.
func (s Span) Bare() bool { return s.Link != nil && s.Text == s.Link.URL }

// Parse returns the tree of src. Every string is a valid document.
func Parse(src string) Document {
	var p parser
	return p.blocks(lines(src), 0)
}

// Plain returns the text without formatting. The address of each link follows its text, unless the text is
// the address.
func (d Document) Plain() safetext.Text {
	var b strings.Builder
	plain(&b, d)
	return safetext.Block(strings.TrimSuffix(b.String(), "\n"))
}

// String returns [Document.Plain] as a string.
func (d Document) String() string { return d.Plain().String() }

func plain(b *strings.Builder, blocks []Block) {
	for _, block := range blocks {
		switch block := block.(type) {
		case Paragraph:
			plainSpans(b, block.Spans)
		case Heading:
			plainSpans(b, block.Spans)
		case Quote:
			plain(b, block.Blocks)
		case Code:
			if block.Label.String() != "" {
				b.WriteString(block.Label.String() + "\n")
			}
			b.WriteString(block.Text.String() + "\n")
		case List:
			for _, item := range block.Items {
				b.WriteString(item.bullet() + " ")
				plain(b, item.Blocks)
			}
		case Rule:
			b.WriteString("———\n")
		}
	}
}

func plainSpans(b *strings.Builder, spans []Span) {
	for _, s := range spans {
		b.WriteString(s.Text.String())
		if s.Link != nil && !s.Bare() {
			b.WriteString(" (" + s.Link.URL.String() + ")")
		}
	}
	b.WriteString("\n")
}

func (i Item) bullet() string {
	if i.Marker.String() == "" {
		return "•"
	}
	return i.Marker.String()
}
