package view

import (
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/markdown"
	"github.com/askback/askback/internal/safetext"
)

// What agents write, by the names that pages use. Each text of it is safe.
type (
	// Markdown is a text with its marks.
	Markdown = markdown.Document
	// A Block of it is one of the next six.
	Block = markdown.Block
	// A Paragraph has spans.
	Paragraph = markdown.Paragraph
	// A Heading is the agent's, never one of the page.
	Heading = markdown.Heading
	// A List has items.
	List = markdown.List
	// An Item has blocks.
	Item = markdown.Item
	// A Quote has blocks.
	Quote = markdown.Quote
	// Code is exact.
	Code = markdown.Code
	// A Rule is a line across.
	Rule = markdown.Rule
	// A Span is text of one look.
	Span = markdown.Span
	// A Link is shown with its whole address.
	Link = markdown.Link
)

// visible is a text without what an agent was told when it resumed, and remembers that
// something was left out. A text of nothing else stays as it is.
func (c *cleaner) visible(s string) string {
	out := askback.StripResumeContext(s)
	if strings.TrimSpace(out) == "" {
		return s
	}
	c.stripped = c.stripped || out != s
	return out
}

// prose is for what a person reads, and for nothing that names or runs anything.
func (c *cleaner) prose(s string) markdown.Document {
	c.hidden = c.hidden || safetext.Hidden(s)
	return markdown.Parse(c.visible(s))
}
