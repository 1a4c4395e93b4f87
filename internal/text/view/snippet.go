package view

import (
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/search"
)

// A Snippet is the part of an ask that a search found. It has no pieces if the agent's texts and the answer
// do not contain the words.
type Snippet struct {
	Pieces   []Piece
	OfPerson bool // whether a person wrote the text, and not the agent
}

// A Piece is a part of a snippet. The marked pieces are the words of the search.
type Piece struct {
	Text   safetext.Text
	Marked bool
}

// Limits for a snippet: the bytes before its first match, the bytes in total, and the number of matches.
const (
	snippetLead   = 40
	snippetLength = 180
	maxMarks      = 12
)

// SnippetOf returns the first part of an ask that has words of query. It searches the texts of the agent
// before the texts of people. It returns the zero value if no text has such words.
func SnippetOf(a askback.Ask, query string) (s Snippet) {
	phrases := search.Parse(query)
	if len(phrases) == 0 {
		return s
	}
	for _, text := range agentTexts(a) {
		if s.Pieces = cutSnippet(text, phrases); s.Pieces != nil {
			return s
		}
	}
	s.OfPerson = true
	for _, text := range personTexts(a.Outcome) {
		if s.Pieces = cutSnippet(text, phrases); s.Pieces != nil {
			return s
		}
	}
	return Snippet{}
}

// agentTexts returns the texts of the agent in an ask.
func agentTexts(a askback.Ask) []string {
	all := []string{a.Title}
	if c := a.Confirmation; c != nil {
		all = append(all, c.ToolName, c.Description, jsonText(c.Input), c.Context, c.Server)
	}
	for _, q := range a.Questions {
		all = append(all, q.Text, q.Header)
		for _, o := range q.Options {
			all = append(all, o.Label, o.Description)
		}
	}
	return append(append(all, jsonText(a.Context)), a.Tags...)
}

// jsonText returns JSON as safe text.
func jsonText(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	t, _ := FormatJSON(raw)
	return t.String()
}

// personTexts returns the texts of people in an outcome.
func personTexts(o *askback.Outcome) (all []string) {
	if o == nil {
		return nil
	}
	for _, one := range o.Answers {
		all = append(all, one.Other, one.Notes)
	}
	return append(all, o.Comment, o.Reason, jsonText(o.Input))
}

// cutSnippet returns the part of a text around its first match, or nil if it has no match.
func cutSnippet(text string, phrases []search.Phrase) (pieces []Piece) {
	if len(text) > maxSearched {
		text = strings.ToValidUTF8(text[:maxSearched], "")
	}
	text = safetext.Line(text).String()
	found := search.Find(text, phrases, maxMarks)
	if len(found) == 0 {
		return nil
	}
	add := func(s string, marked bool) {
		if s != "" {
			pieces = append(pieces, Piece{safetext.Line(s), marked})
		}
	}
	at := startOfRune(text, found[0].Start-snippetLead)
	end := startOfRune(text, min(at+snippetLength, len(text)))
	if at > 0 {
		add("… ", false)
	}
	for _, m := range found {
		if m.End > end && m != found[0] {
			break
		}
		add(text[at:m.Start], false)
		add(text[m.Start:m.End], true)
		at = m.End
	}
	if end > at {
		add(text[at:end], false)
	}
	if max(at, end) < len(text) {
		add(" …", false)
	}
	return pieces
}

// maxSearched is the number of bytes of a text that can be in a snippet.
const maxSearched = 32 << 10

// startOfRune returns the last position up to i at which a character begins.
func startOfRune(s string, i int) int {
	for i = max(i, 0); i > 0 && i < len(s) && !utf8.RuneStart(s[i]); {
		i--
	}
	return i
}
