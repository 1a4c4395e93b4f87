package telegram

import (
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/message/notice"
)

// Limits of a message (core.telegram.org/bots/api#sendmessage). The length of the text is in UTF-16 code
// units. Telegram ignores entities after the first hundred.
const (
	maxText     = 4096
	maxEntities = 100
)

// A text is built from Askback's own words and foreign text. Foreign text is always in an entity code or pre,
// in which Telegram makes no link, mention or command (T7, T9, T10).
type text struct {
	b        strings.Builder
	units    int
	entities []entity
}

// add appends words of Askback.
func (t *text) add(s string) {
	t.b.WriteString(s)
	t.units += units(s)
}

// addAs appends s as an entity of this kind. It ignores an empty s.
func (t *text) addAs(kind, s, url string) {
	if s == "" {
		return
	}
	t.entities = append(t.entities, entity{Type: kind, Offset: t.units, Length: units(s), URL: url})
	t.add(s)
}

// fits reports whether Telegram accepts the text with a number of further units and with furtherEntities.
func (t *text) fits(further int) bool {
	return t.units+further <= maxText && len(t.entities) <= maxEntities-furtherEntities
}

// furtherEntities is the maximum number of entities that the state of an answer can add.
const furtherEntities = 20

// outgoing returns a message with the text.
func (t *text) outgoing(chatID, messageID int64) outgoing {
	return outgoing{ChatID: chatID, MessageID: messageID, Text: t.b.String(), Entities: t.entities}
}

// units returns the number of UTF-16 code units of s.
func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// cut returns s. If s has more than most UTF-16 code units, cut truncates it and adds "…".
func cut(s string, most int) string {
	if units(s) <= most {
		return s
	}
	n := 1 // …
	for i, r := range s {
		if n += units(string(r)); n > most {
			return s[:i] + "…"
		}
	}
	return s
}

// title appends the title of a message.
func (t *text) title(title notice.Title) {
	t.addAs("bold", title.Own, "")
	t.addAs("code", title.Foreign, "")
	t.addAs("bold", title.End, "")
	t.add("\n")
}

// inlineLines is the maximum number of consecutive foreign lines that have separate entities. More lines
// become one block.
const inlineLines = 12

// lines appends lines. Consecutive lines with foreign text become one block if a line belongs to a longer
// text, or if there are many lines.
func (t *text) lines(lines []notice.Line) {
	for len(lines) > 0 {
		n := 0
		block := false
		for n < len(lines) && isForeign(lines[n]) {
			block = block || strings.HasSuffix(lines[n].Own, notice.Gutter)
			n++
		}
		switch {
		case n == 0:
			t.add(lines[0].Own)
			t.addAs("text_link", lines[0].Link, lines[0].Link)
			n = 1
		case block || n > inlineLines:
			t.block(lines[:n])
		default:
			for i, l := range lines[:n] {
				if i > 0 {
					t.add("\n")
				}
				t.add(l.Own)
				t.addAs("code", l.Foreign, "")
			}
		}
		t.add("\n")
		lines = lines[n:]
	}
}

func (t *text) block(lines []notice.Line) {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Own + l.Foreign)
	}
	t.addAs("pre", b.String(), "")
}

func isForeign(l notice.Line) bool { return l.Foreign != "" || strings.HasSuffix(l.Own, notice.Gutter) }

// maxLabel is the maximum number of characters of a button's label that a phone shows.
const maxLabel = 40

// label returns the label of a button for an option. It begins with the number of the option in the text, so
// that an option cannot imitate a button of Askback. A long text is truncated.
func label(number, text string) string {
	if utf8.RuneCountInString(text) > maxLabel {
		runes := []rune(text)
		text = string(runes[:maxLabel-1]) + "…"
	}
	return number + " " + text
}
