// Package markdown reads what agents write, a small part of Markdown, into a tree that each
// door draws in its own way.
//
// It is no CommonMark, in which words can vanish: reference definitions, comments, tags,
// link titles. Here every character that is not a mark itself is in the tree, in its
// order, and what is not understood stands as it was typed. HTML is text, an image is a
// link, and there is no text that cannot be read. Reading takes time in proportion to the
// text, and the tree is never deep.
package markdown

import (
	"strings"

	"github.com/askback/askback/internal/safetext"
)

// A Document is what was written, block by block.
type Document []Block

// A Block is a [Paragraph], [Heading], [List], [Quote], [Code] or [Rule].
type Block interface{ block() }

// A Paragraph has its lines as they were broken: its spans contain line feeds.
type Paragraph struct{ Spans []Span }

// A Heading is a line of its own. It is the agent's, so a door never draws it like one of
// its own headings.
type Heading struct {
	Level int // 1 to 6
	Spans []Span
}

// A List is bulleted, numbered, or both.
type List struct{ Items []Item }

// An Item of a list can hold further lists.
type Item struct {
	Marker safetext.Text // "3." as it was typed; nothing is a bullet
	Blocks []Block
}

// A Quote is what the agent says that somebody said.
type Quote struct{ Blocks []Block }

// Code is drawn exactly, in a fixed width. A table is code as well, its columns in line.
type Code struct {
	Label safetext.Text // what stood beside the fence: words too, so it is drawn
	Text  safetext.Text
}

// A Rule is a line across.
type Rule struct{}

func (Paragraph) block() {}
func (Heading) block()   {}
func (List) block()      {}
func (Quote) block()     {}
func (Code) block()      {}
func (Rule) block()      {}

// A Span is text of one look.
type Span struct {
	Text     safetext.Text
	Strong   bool
	Emphasis bool
	Code     bool
	Link     *Link // nil: none
}

// A Link leads to exactly what its URL says. A door shows Text and then the whole URL,
// never the text alone, and what is Suspicious beside it.
type Link struct {
	URL        safetext.Text // http, https or mailto
	Host       safetext.Text // letters beyond ASCII by their number where it is suspicious
	Suspicious string        // a sentence of ours; "" is nothing
}

// Bare says whether a span is an address and nothing else, to be shown once.
func (s Span) Bare() bool { return s.Link != nil && s.Text == s.Link.URL }

// Parse reads a text. There is none that it refuses.
func Parse(src string) Document {
	var p parser
	return p.blocks(lines(src), 0)
}

// Plain returns the words in their order, without their looks; each link is followed by
// its address.
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
