// Package codec has functions that write and read JSON. The code that internal/wire/codecgen generates calls
// these functions.
//
// A [Reader] rejects duplicate names, invalid UTF-8 and lone surrogates. A test compares a Reader with
// go-json-experiment's jsontext, which accepts the same texts and is several times as slow.
package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendName appends the name of a member and a colon. It first appends a comma, unless the member is the
// first of its object. The name must not need escapes.
func AppendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

// AppendString appends s as json.Encoder does with SetEscapeHTML(false). Invalid UTF-8 is
// replaced by U+FFFD.
func AppendString[T ~string](b []byte, s T) []byte {
	b = append(b, '"')
	if n := plain(string(s)); n < len(s) {
		b = appendUnusual(b, string(s), n)
	} else {
		b = append(b, s...)
	}
	return append(b, '"')
}

// appendUnusual appends the content of a string, whose first n bytes need no escape.
func appendUnusual(b []byte, s string, n int) []byte {
	start := 0 // start of the part of s that is not yet written
	for n < len(s) {
		size := 1
		if c := s[n]; c < utf8.RuneSelf {
			b = appendEscape(append(b, s[start:n]...), c)
			start = n + 1
		} else if r, length := utf8.DecodeRuneInString(s[n:]); length == 1 {
			b = append(append(b, s[start:n]...), "\ufffd"...)
			start = n + 1
		} else if size = length; r == '\u2028' || r == '\u2029' {
			// JavaScript before 2019 does not accept these two characters in strings.
			b = append(append(b, s[start:n]...), '\\', 'u', '2', '0', '2', hexDigits[r&15])
			start = n + size
		}
		if n += size; n < len(s) && s[n] < utf8.RuneSelf {
			n += plain(s[n:])
		}
	}
	return append(b, s[start:]...)
}

// appendEscape appends an ASCII character that must be escaped.
func appendEscape(b []byte, c byte) []byte {
	if short := shortEscapes[c]; short != 0 {
		return append(b, '\\', short)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// shortEscapes maps a character to the letter after the backslash of its two-character escape.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// AppendStringOrNull appends s, or null if s is empty.
func AppendStringOrNull[T ~string](b []byte, s T) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return AppendString(b, s)
}

// AppendStrings appends an array of strings.
func AppendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, s)
	}
	return append(b, ']')
}

// AppendTime appends t as a string in RFC 3339 format, in UTC and with milliseconds, or null
// if t is zero.
func AppendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	t = t.UTC()
	b = t.AppendFormat(append(b, '"'), time.RFC3339) // faster than a layout with milliseconds
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10), 'Z', '"')
}

// AppendMillis appends t in milliseconds since 1970, or 0 if t is zero.
func AppendMillis(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '0')
	}
	return strconv.AppendInt(b, t.UnixMilli(), 10)
}

// AppendDuration appends d as a string such as "1h30m0s". It rounds d up to whole seconds, so that no caller
// gets less time than requested.
func AppendDuration(b []byte, d time.Duration) []byte {
	if rest := d % time.Second; rest > 0 {
		d += time.Second - rest
	}
	return AppendString(b, d.Truncate(time.Second).String())
}

// AppendFloat appends f as json.Marshal does. If f is infinite or not a number, it appends null.
func AppendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	raw, _ := json.Marshal(f) // cannot fail
	return append(b, raw...)
}

// AppendRaw appends the compact form of raw, or absent if raw is empty. The error is not
// nil if raw is not JSON.
func AppendRaw(b []byte, raw json.RawMessage, absent string) ([]byte, error) {
	if len(raw) == 0 {
		return append(b, absent...), nil
	}
	r := readers.Get().(*Reader)
	defer r.release()
	r.start(raw)
	r.repeats = true
	r.skip()
	r.end()
	switch {
	case r.err != nil:
		return b, fmt.Errorf("write JSON: %w", r.err)
	case r.spaces:
		return appendCompact(b, raw), nil
	}
	return append(b, raw...), nil
}

// appendCompact appends a valid JSON text without the white space between its tokens.
func appendCompact(b, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
		case '"':
			end := stringEnd(text, i)
			b = append(b, text[i:end+1]...)
			i = end
		default:
			b = append(b, text[i])
		}
	}
	return b
}
