// Package codec has functions that write and read JSON. The code that internal/codecgen
// generates calls them.
//
// A [Reader] rejects duplicate names, invalid UTF-8 and lone surrogates.
package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// timeForm is RFC 3339 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// AppendName appends the name of a member and a colon, after a comma if it is not the first
// member. The name must need no escaping.
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
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, string(s))
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	start := len(b)
	b, _ = jsontext.AppendQuote(b, s) // the error means that bytes were replaced
	if !bytes.Contains(b[start:], []byte("\u2028")) && !bytes.Contains(b[start:], []byte("\u2029")) {
		return b
	}
	// JavaScript before 2019 does not accept these two in strings.
	quoted := bytes.ReplaceAll(b[start:], []byte("\u2028"), []byte(`\u2028`))
	return append(b[:start], bytes.ReplaceAll(quoted, []byte("\u2029"), []byte(`\u2029`))...)
}

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
	b = append(b, '"')
	return append(t.UTC().AppendFormat(b, timeForm), '"')
}

// AppendMillis appends t in milliseconds since 1970, or 0 if t is zero.
func AppendMillis(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '0')
	}
	return strconv.AppendInt(b, t.UnixMilli(), 10)
}

// AppendDuration appends d as a string such as "1h30m0s". It is rounded up to whole seconds,
// so that no caller gets less time than requested.
func AppendDuration(b []byte, d time.Duration) []byte {
	if rest := d % time.Second; rest > 0 {
		d += time.Second - rest
	}
	return AppendString(b, d.Truncate(time.Second).String())
}

// AppendFloat appends f as json.Marshal does, or null if f is not a number or infinite.
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
	out, err := jsontext.AppendFormat(b, raw, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return b, fmt.Errorf("write JSON: %w", err)
	}
	return out, nil
}
