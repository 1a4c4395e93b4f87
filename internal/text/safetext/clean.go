package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	esc          = '\x1b'
	escapeMark   = "␛"
	dottedCircle = '◌'

	// maxMarks is the maximum number of combining marks of a character. Languages need four
	// or five; more marks would cover the lines above and below.
	maxMarks = 8
)

// A cleaner reads src rune by rune and appends safe text to out. The neighbours of a rune decide whether the
// rune is kept. They have the same effect in the output, so cleaning the output again changes nothing.
type cleaner struct {
	src    string
	out    []byte
	mode   mode
	marked bool // a visible mark replaces something in the output

	prev   rune // last written rune
	base   rune // last written rune that is neither mark, joiner nor selector
	joined bool // whether only selectors and skin tones were written after base
	marks  int  // combining marks since base
}

func (c *cleaner) step() {
	r, size := utf8.DecodeRuneInString(c.src)
	c.src = c.src[size:]
	switch {
	case r >= ' ' && r <= '~':
		c.put(r)
	case isControl(r):
		c.control(r)
	case c.mode == code:
		c.exact(r)
	case isVisibleFormat(r):
		c.put(r)
	case isJoiner(r) && c.joins(r), isSelector(r) && c.selects(r):
		c.keep(r)
	case r == tagFirst && c.base == blackFlag && c.prev == blackFlag && c.flag():
	case isInvisible(r):
		c.show(r)
	default:
		c.visible(r)
	}
}

// exact writes a rune in mode code. Visible marks replace runes that are invisible or look like a space. They
// also replace a combining mark that has no character before it, or that follows maxMarks other marks.
func (c *cleaner) exact(r rune) {
	loose := c.marks == maxMarks || c.prev == 0 || c.prev == '\n' || c.prev == '⟩'
	switch {
	case isInvisible(r), isVisibleFormat(r), unicode.Is(unicode.Zs, r), r == brailleBlank,
		loose && unicode.In(r, unicode.M):
		c.show(r)
	default:
		c.visible(r)
	}
}

// visible writes a letter, a symbol or a combining mark. It writes a dotted circle before a mark at the start
// of a line. It replaces the marks beyond maxMarks by their number.
func (c *cleaner) visible(r rune) {
	if unicode.In(r, unicode.M) {
		switch {
		case c.prev == 0 || c.prev == '\n':
			c.put(dottedCircle) // the mark would join the character before the text
		case c.marks == maxMarks:
			c.cutMarks()
			return
		}
	}
	c.put(r)
}

// cutMarks replaces the remaining combining marks of a character by their number.
func (c *cleaner) cutMarks() {
	rest := strings.TrimLeftFunc(c.src, func(r rune) bool {
		return unicode.In(r, unicode.M) && !isInvisible(r)
	})
	n := 1 + utf8.RuneCountInString(c.src[:len(c.src)-len(rest)])
	c.src = rest
	c.mark("⟨+" + strconv.Itoa(n) + " marks⟩")
}

func (c *cleaner) control(r rune) {
	switch {
	case r == '\n' && c.mode != line:
		c.put(r)
	case r == '\n', r == '\t' && c.mode == line:
		c.put(' ')
	case r == '\t':
		for range tabWidth {
			c.put(' ')
		}
	case r == '\r' && c.mode != code && strings.HasPrefix(c.src, "\n"): // dropped, as a line feed follows
	case c.mode == code:
		c.show(r)
	case r == esc:
		c.mark(escapeMark)
		c.src = c.src[sequence(c.src):]
	case r == csi:
		c.mark(escapeMark)
		c.src = c.src[controlSequence(c.src):]
	case r == st:
		c.mark(escapeMark)
	default:
		c.show(r)
	}
}

// show writes a visible mark in place of r.
func (c *cleaner) show(r rune) {
	switch {
	case r < ' ':
		c.mark(string('␀' + r))
	case r == 0x7f:
		c.mark("␡")
	default:
		c.mark(fmt.Sprintf("⟨U+%04X⟩", r))
	}
}

func (c *cleaner) mark(s string) {
	c.marked = true
	for _, r := range s {
		c.put(r)
	}
}

// put writes r and updates the state that later runes depend on.
func (c *cleaner) put(r rune) {
	c.out = utf8.AppendRune(c.out, r)
	c.prev = r
	switch {
	case r < 0x300:
		c.base, c.marks, c.joined = r, 0, false
	case unicode.In(r, unicode.M):
		c.marks++
		c.joined = false
	case isSkinTone(r) && c.joined: // stays part of the emoji
	default:
		c.base, c.marks, c.joined = r, 0, true // joins checks whether r is a pictograph
	}
}

// keep writes a joiner or a selector. Neither starts a new character.
func (c *cleaner) keep(r rune) {
	c.out = utf8.AppendRune(c.out, r)
	c.prev = r
}

// joins reports whether a joiner has an effect here: between letters of scripts that need
// it, or inside an emoji.
func (c *cleaner) joins(r rune) bool {
	next, _ := utf8.DecodeRuneInString(c.src)
	if isInvisible(next) {
		return false // the next rune will be replaced by a visible mark
	}
	if r == mongolianSeparator {
		return unicode.Is(unicode.Mongolian, c.prev) && unicode.IsLetter(c.prev) &&
			unicode.Is(unicode.Mongolian, next) && unicode.IsLetter(next)
	}
	if r == zwj && c.joined && isPictograph(c.base) && isPictograph(next) {
		return true
	}
	letter := unicode.IsLetter(c.prev) || unicode.IsDigit(c.prev)
	mark := unicode.In(c.prev, unicode.M) && !isSelector(c.prev)
	if !letter && !mark {
		return false
	}
	if needsJoiners(c.base) {
		room := unicode.In(next, unicode.M) && c.marks < maxMarks
		return r == zwj || mark || room || unicode.IsLetter(next) || unicode.IsDigit(next)
	}
	return r == zwnj && letter && unicode.IsLetter(next) && needsJoiners(next)
}

// selects reports whether a variation selector may stay. It may directly follow a character that can have
// variants. Elsewhere a selector could only carry a hidden message.
func (c *cleaner) selects(r rune) bool {
	base := c.base
	switch {
	case c.prev != base:
		return false
	case isMongolianSelector(r):
		return unicode.Is(unicode.Mongolian, base)
	case r >= 0xE0100:
		return unicode.Is(unicode.Han, base)
	case base < 0x80: // keycaps, and the slashed zero
		return base >= '0' && base <= '9' || base == '#' || base == '*'
	case unicode.IsLetter(base):
		return isPictograph(base) ||
			unicode.In(base, unicode.Han, unicode.Myanmar, unicode.Phags_Pa, unicode.Egyptian_Hieroglyphs)
	}
	return !unicode.Is(unicode.Z, base)
}

// flag writes the tags of the flag of England, Scotland or Wales, if src begins with these tags. It reports
// whether src begins with such tags. Other tags are invisible and could carry a message.
func (c *cleaner) flag() bool {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		var tags strings.Builder
		for _, letter := range region[1:] {
			tags.WriteRune(tagSpace - ' ' + letter)
		}
		tags.WriteRune(tagEnd)
		if rest, ok := strings.CutPrefix(c.src, tags.String()); ok {
			c.keep(tagFirst)
			for _, r := range tags.String() {
				c.keep(r)
			}
			c.src = rest
			return true
		}
	}
	return false
}

// isPictograph reports whether r is Extended_Pictographic. By UAX #29 (GB11), a joiner
// connects only two such runes.
func isPictograph(r rune) bool {
	if r < 0xA9 {
		return false
	}
	pair := string(r) + "\u200d😀"
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(pair, -1)
	return first == pair
}
