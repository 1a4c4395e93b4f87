// Package safetext turns agent text into text that a person can trust to be what it
// looks like.
//
// The agent is taken to be hostile (threats T8 to T10). What moves a cursor, changes
// the order of letters or cannot be seen is replaced by a visible mark: ␛ for a whole
// escape sequence, a control picture such as ␇ for a control, ⟨U+202E⟩ for the rest.
// Nothing is dropped in silence. The marks are ordinary characters, so safe text stays
// as it is when it is made safe again.
package safetext

import "strings"

// Text is text that was made safe. Only Line, Block, Code and Wrap make one; doors draw
// no agent text of another type.
type Text struct{ s string }

// String returns the safe text.
func (t Text) String() string { return t.s }

// Line makes s safe as one line: line breaks and tabs become one space each.
func Line(s string) Text { return Text{clean(s, line)} }

// Block makes s safe as several lines: a carriage return before a line feed goes, and
// a tab becomes four spaces.
func Block(s string) Text { return Text{clean(s, block)} }

// Code makes s safe and exact, for arguments and source code: only the line feed keeps
// its meaning. Every character that cannot be seen is shown, also the joiners and
// selectors that Block keeps and the spaces that only look like a space. A tab becomes
// four spaces.
func Code(s string) Text { return Text{clean(s, code)} }

// Hidden reports whether s has something that Block would show with a mark: the reason
// for a badge "contains hidden characters".
func Hidden(s string) bool {
	c := cleaner{src: s, mode: block}
	for len(c.src) > 0 && !c.marked {
		c.step()
		c.out = c.out[:0] // only the verdict is wanted
	}
	return c.marked
}

type mode uint8

const (
	line mode = iota
	block
	code
)

// tabWidth is fixed, not a tab stop: the text may be drawn behind a gutter.
const tabWidth = 4

func clean(s string, m mode) string {
	if isPlain(s, m) {
		return s
	}
	c := cleaner{src: s, mode: m, out: make([]byte, 0, len(s)+len(s)/8)}
	for len(c.src) > 0 {
		c.step()
	}
	return string(c.out)
}

// isPlain finds the common case, printable ASCII, which needs no copy.
func isPlain(s string, m mode) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < ' ' || r > '~') && (r != '\n' || m == line)
	}) < 0
}
