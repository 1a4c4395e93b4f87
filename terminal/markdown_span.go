package terminal

import (
	"strings"

	"github.com/askback/askback/internal/markdown"
	"github.com/askback/askback/internal/safetext"
)

// A stretch is part of a text that has one look, up to a byte.
type stretch struct {
	end int
	sgr string
}

// spoken joins spans to one text. A link is its words and then its whole address. Code
// stands between backticks, which the agent typed as well.
func spoken(spans []markdown.Span, sgr string) (safetext.Text, []stretch) {
	var b strings.Builder
	var looks []stretch
	add := func(s, sgr string) {
		b.WriteString(s)
		looks = append(looks, stretch{b.Len(), sgr})
	}
	for _, s := range spans {
		text := s.Text.String()
		if s.Code {
			text = "`" + text + "`"
		}
		add(text, lookOf(s, sgr))
		if s.Link != nil && !s.Bare() {
			add(" (", sgr)
			add(s.Link.URL.String(), underline)
			add(")", sgr)
		}
	}
	all := safetext.Block(b.String())
	if all.String() != b.String() { // the looks would stand beside their words
		looks = []stretch{{len(all.String()), sgr}}
	}
	return all, looks
}

func lookOf(s markdown.Span, sgr string) string {
	switch {
	case s.Strong:
		return bold
	case s.Emphasis, s.Bare():
		return underline
	}
	return sgr
}

// dress gives the part of a text that begins at pos its looks.
func (f *frame) dress(s string, pos int, looks []stretch) string {
	var b strings.Builder
	for _, l := range looks {
		if n := min(l.end-pos, len(s)); n > 0 {
			b.WriteString(f.look(l.sgr, s[:n]))
			s, pos = s[n:], pos+n
		}
	}
	return b.String()
}

// warn says below a text which of its links a person should look at twice, once each.
func (w *writer) warn(spans []markdown.Span) {
	for _, s := range spans {
		if s.Link == nil || s.Link.Suspicious == "" || w.warned[*s.Link] {
			continue
		}
		w.warned[*s.Link] = true
		w.exact("link", bold, s.Link.Host)
		w.say(s.Link.Suspicious)
	}
}
