package canon

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where and why a text is not strict JSON.
type SyntaxError struct {
	Offset       int    // of the offending byte
	Line, Column int    // from 1; the column counts code points
	Pointer      string // RFC 6901, of the value being read; "" is the whole text
	Detail       string // what was expected; quotes at most a few characters of the text
}

// Error gives the place and the detail in one line. A long pointer is left to Pointer.
func (e *SyntaxError) Error() string {
	place := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Pointer != "" && len(e.Pointer) <= maxPointerShown {
		place += " (" + excerpt(e.Pointer, maxPointerShown) + ")"
	}
	return "not JSON: " + place + ": " + e.Detail
}

// NumberError says which number changes when it is read as a double and written down
// again. The text is valid JSON, but it has no canonical form.
type NumberError struct {
	Offset  int    // of the number
	Pointer string // RFC 6901
	Detail  string
}

// Error gives the place and the detail in one line.
func (e *NumberError) Error() string {
	if len(e.Pointer) > maxPointerShown {
		return fmt.Sprintf("at byte %d: %s", e.Offset, e.Detail)
	}
	return excerpt(e.Pointer, maxPointerShown) + ": " + e.Detail
}

const (
	// maxPointerShown keeps a hostile name of a megabyte out of log lines.
	maxPointerShown = 120
	// maxQuoted is enough to recognise a place and too little to leak a secret.
	maxQuoted = 20
)

// Position returns the line and column of a byte offset, both from 1. Lines end with
// a line feed; columns are code points, and a byte that is not UTF-8 counts as one.
func Position(src []byte, offset int) (line, column int) {
	return position(string(src[:min(max(offset, 0), len(src))]))
}

func position(before string) (line, column int) {
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// excerpt quotes the beginning of s with everything invisible escaped.
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

// step is one level of the path to the value being read.
type step struct {
	name  string
	index int // of an element; -1 for a member
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
