package jcs

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str parses a string. It returns the content if keep is set or the string has no escapes, and reports
// whether the string has escapes. A string without escapes is not copied.
func (p *parser) str(keep bool) (text string, escaped bool, err *SyntaxError) {
	p.pos++ // the opening quote
	start := p.pos
	var b strings.Builder
	for {
		p.plain()
		switch c := p.peek(); {
		case p.pos >= len(p.src):
			return "", false, p.unexpected("a closing quote")
		case c == '"':
			part := p.src[start:p.pos]
			p.pos++
			if !escaped {
				return part, false, nil
			}
			b.WriteString(part)
			return b.String(), true, nil
		case c == '\\':
			part := p.src[start:p.pos]
			r, err := p.escape()
			if err != nil {
				return "", false, err
			}
			if keep && !escaped {
				b.Grow(len(part) + max(utf8.UTFMax, strings.IndexByte(p.src[p.pos:], '"')))
			}
			start, escaped = p.pos, true
			if keep {
				b.WriteString(part)
				b.WriteRune(r)
			}
		case c < ' ':
			return "", false, p.fail(p.pos, "expected control characters to be escaped in a string, got "+p.found())
		default:
			return "", false, p.fail(p.pos, "expected UTF-8, got a byte that is not")
		}
	}
}

// plain skips characters that need no decoding. It stops at the end, a quote, a backslash,
// a control character or a byte that is not UTF-8.
func (p *parser) plain() {
	src, i := p.src, p.pos
	for i < len(src) {
		c := src[i]
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
		if c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	p.pos = i
}

// escape parses one escape, or two escapes for a code point above U+FFFF.
func (p *parser) escape() (rune, *SyntaxError) {
	start := p.pos
	p.pos++ // the backslash
	c := p.peek()
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		p.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, p.unexpected(`one of " \ / b f n r t u after a backslash`)
	}
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(p.src[p.pos:], `\u`) {
		p.pos++
		low, err := p.hex()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail(start, "expected a pair of surrogates, got one alone")
}

// hex parses the u of an escape and the four hexadecimal digits after the u.
func (p *parser) hex() (rune, *SyntaxError) {
	p.pos++ // the u
	var r rune
	for range 4 {
		i := strings.IndexByte("0123456789abcdef0123456789ABCDEF", p.peek())
		if i < 0 {
			return 0, p.unexpected(`four hexadecimal digits after \u`)
		}
		r = r<<4 | rune(i%16)
		p.pos++
	}
	return r, nil
}

// appendString appends s as a JSON string with the fewest escapes (RFC 8785 section
// 3.2.2.2). The string must be valid UTF-8.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if j := strings.IndexByte("\"\\\b\f\n\r\t", c); j >= 0 {
			dst = append(dst, '\\', `"\bfnrt`[j])
			continue
		}
		dst = fmt.Appendf(dst, `\u%04x`, c)
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
