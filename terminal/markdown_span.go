package terminal

import (
	"strings"

	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/safetext"
)

// A styledRange is a range of bytes with one style. It begins where the previous range ends.
type styledRange struct {
	end int
	sgr string
}

// joinSpans joins spans into one text with its styles. A link becomes its text and its
// complete address. Code is between backticks.
func joinSpans(spans []markdown.Span, sgr string) (safetext.Text, []styledRange) {
	var b strings.Builder
	var styles []styledRange
	add := func(s, sgr string) {
		b.WriteString(s)
		styles = append(styles, styledRange{b.Len(), sgr})
	}
	for _, s := range spans {
		text := s.Text.String()
		if s.Code {
			text = "`" + text + "`"
		}
		add(text, sgrOf(s, sgr))
		if s.Link != nil && !s.Bare() {
			add(" (", sgr)
			add(s.Link.URL.String(), underline)
			add(")", sgr)
		}
	}
	all := safetext.Block(b.String())
	if all.String() != b.String() { // the ranges do not match the changed text
		styles = []styledRange{{len(all.String()), sgr}}
	}
	return all, styles
}

func sgrOf(s markdown.Span, sgr string) string {
	switch {
	case s.Strong:
		return bold
	case s.Emphasis, s.Bare():
		return underline
	}
	return sgr
}

// applyStyles returns s with its styles. s begins at byte pos of the text that styles are for.
func (f *frame) applyStyles(s string, pos int, styles []styledRange) string {
	var b strings.Builder
	for _, l := range styles {
		if n := min(l.end-pos, len(s)); n > 0 {
			b.WriteString(f.withSGR(l.sgr, s[:n]))
			s, pos = s[n:], pos+n
		}
	}
	return b.String()
}

// warnOfLinks draws a warning for each suspicious link of a text, once for each link.
func (w *markdownWriter) warnOfLinks(spans []markdown.Span) {
	for _, s := range spans {
		if s.Link == nil || s.Link.Suspicious == "" || w.warned[*s.Link] {
			continue
		}
		w.warned[*s.Link] = true
		w.exact("link", bold, s.Link.Host)
		w.message(s.Link.Suspicious)
	}
}
