// Package safetext makes text of agents safe to display. The agent may be hostile (T8 to T10). A visible mark
// replaces characters that are invisible, move the cursor or change the order of letters. The mark of an
// escape sequence is ␛, the mark of a control character is a picture such as ␇, and the mark of another
// character is its code point such as ⟨U+202E⟩. Only a carriage return before a line feed is dropped without
// a mark. Marks are ordinary characters, so making safe text safe again changes nothing.
package safetext

import (
	"strings"

	"github.com/askback/askback/internal/text/lookalike"
)

// A Text is safe text. Only Line, Block, Code, Name, CodeName and Wrap return a Text that is not empty.
// Frontends display text of agents only as a Text.
type Text struct{ s string }

// String returns the safe text as a string.
func (t Text) String() string { return t.s }

// Line returns s as one safe line. A tab and a line break (LF or CR LF) become one space
// each.
func Line(s string) Text { return Text{clean(s, line)} }

// Block returns s as safe lines. It removes a carriage return before a line feed, and
// replaces a tab by four spaces.
func Block(s string) Text { return Text{clean(s, block)} }

// Code returns s as safe, exact text, for arguments and source code. Only line feeds keep
// their meaning. It marks every invisible character, including the joiners and selectors
// that Block keeps, and unusual spaces. A tab becomes four spaces.
func Code(s string) Text { return Text{clean(s, code)} }

// Name returns the name of an agent, a person or a group as [Line] does. If the name looks like another name,
// a note follows (T9).
func Name(s string) Text { return noted(clean(s, line), s) }

// CodeName returns the name of a tool or a server as [Code] does, with the note of [Name].
func CodeName(s string) Text { return noted(clean(s, code), s) }

func noted(safe, name string) Text {
	if as, ok := lookalike.Of(name); ok {
		return Text{safe + " ⟨looks like “" + clean(as, line) + "”⟩"}
	}
	return Text{safe}
}

// Hidden reports whether [Block] would replace any part of s by a mark.
func Hidden(s string) bool {
	c := cleaner{src: s, mode: block}
	for len(c.src) > 0 && !c.marked {
		c.step()
		c.out = c.out[:0] // only c.marked is used
	}
	return c.marked
}

type mode uint8

const (
	line mode = iota
	block
	code
)

// tabWidth is the number of spaces for a tab. Tab stops are not used, because the text may
// be indented.
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

// isPlain reports whether s has only printable ASCII and, unless m is line, line feeds.
// Such text is already safe, so it need not be copied.
func isPlain(s string, m mode) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < ' ' || r > '~') && (r != '\n' || m == line)
	}) < 0
}
