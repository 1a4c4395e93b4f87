package codec

import (
	"fmt"
	"strconv"
	"strings"
)

// fail records an error, unless an earlier error was recorded. It ends the text at the position of the
// scanner.
func (s *scanner) fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
		s.in = s.in[:s.pos]
	}
}

// failAt records an error of the value at offset.
func (s *scanner) failAt(offset int, detail string) {
	if s.err == nil {
		s.fail(fmt.Errorf("JSON at %q: %s", shorten(pointer(s.in[:offset])), detail))
	}
}

// syntaxError records an error at the position of the scanner.
func (s *scanner) syntaxError(detail string) {
	s.failAt(s.pos, fmt.Sprintf("byte %d: %s", s.pos, detail))
}

// shorten returns s. If s has more than 100 bytes, it returns the first 100 bytes and "…", so that an error
// is short.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// A step is one level of the path to a value.
type step struct {
	array bool
	index int    // index of an element
	named bool   // the name of the member is known
	name  []byte // name of a member, with its escapes
}

// pointer returns the RFC 6901 pointer to the value that begins where text ends. text is the beginning of a
// valid JSON value. A scanner has no path, because only errors need one.
func pointer(text []byte) string {
	path := make([]step, 1, 16) // the first step is the whole value
	for i := 0; i < len(text); i++ {
		last := &path[len(path)-1]
		switch c := text[i]; c {
		case '{', '[':
			path = append(path, step{array: c == '['})
		case '}', ']':
			path = path[:len(path)-1]
		case ',':
			last.index++
			last.named = false
		case '"':
			end := stringEnd(text, i)
			if !last.array && !last.named && end < len(text) {
				last.name, last.named = text[i+1:end], true
			}
			i = end
		}
	}
	var b strings.Builder
	for _, p := range path[1:] {
		switch {
		case p.array:
			b.WriteString("/" + strconv.Itoa(p.index))
		case p.named:
			name, _ := appendUnescaped(nil, p.name)
			b.WriteString("/" + escapeToken.Replace(string(name)))
		}
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// stringEnd returns the offset of the closing quote of the string that begins at start. It
// returns the length of the text if the string is not closed.
func stringEnd(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}
