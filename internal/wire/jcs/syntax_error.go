package jcs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A SyntaxError describes the mistake in a text that is not strict JSON, and its position.
type SyntaxError struct {
	Offset       int    // offset of the wrong byte
	Line, Column int    // counted from 1; the column counts code points
	Pointer      string // the RFC 6901 pointer to the value being read; "" is the whole text
	Detail       string // the expected text; quotes at most a few characters of the actual text
}

// Error returns the line, the column, the pointer and the detail in one line. It leaves out
// a long pointer.
func (e *SyntaxError) Error() string {
	place := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Pointer != "" && len(e.Pointer) <= maxPointerShown {
		place += " (" + excerpt(e.Pointer, maxPointerShown) + ")"
	}
	return "not JSON: " + place + ": " + e.Detail
}

// A NumberError names a number that changes when it is converted to a double and back. The
// text is valid JSON, but has no canonical form.
type NumberError struct {
	Offset  int    // offset of the number
	Pointer string // the RFC 6901 pointer to the number
	Detail  string
}

// Error returns the pointer and the detail in one line. Instead of a long pointer it gives
// the byte offset.
func (e *NumberError) Error() string {
	if len(e.Pointer) > maxPointerShown {
		return fmt.Sprintf("at byte %d: %s", e.Offset, e.Detail)
	}
	return excerpt(e.Pointer, maxPointerShown) + ": " + e.Detail
}

const (
	// maxPointerShown is the maximum length of a pointer in the text of an error, in
	// bytes. It keeps very long names out of logs.
	maxPointerShown = 120
	// maxQuoted is the maximum number of characters that an error quotes: enough to find
	// the position, and too few to leak a secret.
	maxQuoted = 20
)

// Position returns the line and column of a byte offset, both from 1. Lines end with a line feed; columns are
// code points, and a byte that is not UTF-8 counts as one. For an offset outside of src, it returns the
// position of the nearer end.
func Position(src []byte, offset int) (line, column int) {
	return position(string(src[:min(max(offset, 0), len(src))]))
}

func position(before string) (line, column int) {
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// excerpt returns s in quotation marks, with invisible characters escaped. If s has more than
// limit characters, an ellipsis replaces the rest.
func excerpt(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return strconv.Quote(s[:i] + "…")
		}
		n++
	}
	return strconv.Quote(s)
}

// A step is one level of the path to a value.
type step struct {
	name  string
	index int // index of an element; -1 for a member
}

func pointer(path []step) string {
	tokens := make([]string, len(path))
	for i, s := range path {
		if tokens[i] = s.name; s.index >= 0 {
			tokens[i] = strconv.Itoa(s.index)
		}
	}
	return Pointer("", tokens...)
}
