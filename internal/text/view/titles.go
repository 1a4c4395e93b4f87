package view

import (
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// Titles are the titles of channels by name, as people read them.
type Titles map[string]string

// Of returns the title of a channel. If the channel has no title, Of returns its name with a capital, or
// "Contact" if the name is empty.
func (t Titles) Of(channel string) string {
	if title := t[channel]; title != "" {
		return title
	}
	name := safetext.Line(channel).String()
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return "Contact"
	}
	return string(unicode.ToUpper(first)) + name[size:]
}
