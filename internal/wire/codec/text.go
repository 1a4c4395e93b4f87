package codec

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain returns the length of the longest prefix of s that consists of ASCII characters without a need for an
// escape in a JSON string. It reads eight bytes at a time, which makes reading strings several times as fast.
func plain[T string | []byte](s T) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	rest := s
	for len(rest) >= 8 {
		w := uint64(rest[0]) | uint64(rest[1])<<8 | uint64(rest[2])<<16 | uint64(rest[3])<<24 |
			uint64(rest[4])<<32 | uint64(rest[5])<<40 | uint64(rest[6])<<48 | uint64(rest[7])<<56
		// Subtracting 1 sets the high bit of a byte that was 0, and subtracting ' ' sets the high bit of
		// control characters. A borrow changes later bytes only.
		special := w | (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)
		if special &= high; special != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(special)/8
		}
		rest = rest[8:]
	}
	n := len(s) - len(rest)
	for n < len(s) && s[n] >= ' ' && s[n] < utf8.RuneSelf && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// loneSurrogate is the value of an escape that is half of a pair. Escapes have no negative
// values.
const loneSurrogate = -1

// readEscape returns the length and the value of the escape at the start of s. For a character above U+FFFF
// it reads a pair of escapes. For half of a pair, the value is loneSurrogate. If s does not begin with an
// escape, the length is 0.
func readEscape[T string | []byte](s T) (size int, r rune) {
	if len(s) < 2 {
		return 0, 0
	}
	if c := shortValues[s[1]]; c != 0 {
		return 2, rune(c)
	}
	r, ok := hex(s)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return 6, r
	}
	low, ok := hex(s[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return 12, pair
	}
	return 6, loneSurrogate
}

// shortValues maps the letter of a two-character escape to the value of the escape.
var shortValues = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

const hexDigits = "0123456789abcdef0123456789ABCDEF"

// hex returns the value of an escape of the form \u00e9 at the start of s.
func hex[T string | []byte](s T) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		d := strings.IndexByte(hexDigits, s[i])
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d%16)
	}
	return r, true
}

// appendUnescaped appends the content of a string with its escapes decoded. It reports whether the content is
// valid: in UTF-8 and without lone surrogates.
func appendUnescaped[T string | []byte](b []byte, s T) (_ []byte, ok bool) {
	ok = true
	start := 0 // start of the part of s that is not yet written
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		if c := shortValues[s[i+1]]; c != 0 {
			b = append(b, c)
			i += 2
		} else {
			size, r := readEscape(s[i:])
			ok = ok && r != loneSurrogate
			b = utf8.AppendRune(b, r) // U+FFFD for a lone surrogate
			i += size
		}
		start = i
	}
	b = append(b, s[start:]...)
	return b, ok && utf8.Valid(b)
}
