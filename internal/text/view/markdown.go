package view

import (
	"strings"

	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/resumecontext"
)

// The types of package markdown. The aliases let pages import package view only.
type (
	// Markdown is formatted text of an agent.
	Markdown = markdown.Document
	// A Block is a Paragraph, Heading, List, Quote, Code or Rule.
	Block = markdown.Block
	// A Paragraph is text with line breaks.
	Paragraph = markdown.Paragraph
	// A Heading is a heading in an agent's text, not a heading of the page.
	Heading = markdown.Heading
	// A List is a list of items.
	List = markdown.List
	// An Item is an element of a List.
	Item = markdown.Item
	// A Quote is a block quote.
	Quote = markdown.Quote
	// Code is a block of code.
	Code = markdown.Code
	// A TableRow is a row of a table.
	TableRow = markdown.Row
	// A Rule is a horizontal line.
	Rule = markdown.Rule
	// A Span is text in one style.
	Span = markdown.Span
	// A Link is a link, to be shown with its whole address.
	Link = markdown.Link
)

// visible removes each resume context from s (see [resumecontext.Strip]), and
// records whether it removed any. It returns s unchanged if no other text is left.
func (c *cleaner) visible(s string) string {
	out := resumecontext.Strip(s)
	if strings.TrimSpace(out) == "" {
		return s
	}
	c.stripped = c.stripped || out != s
	return out
}

// markdown parses text that a person reads. Names of tools, arguments and other text
// that must be read exactly are never parsed.
func (c *cleaner) markdown(s string) markdown.Document {
	return markdown.Parse(c.visible(c.note(s)))
}
