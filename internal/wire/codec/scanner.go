package codec

import (
	"strconv"
	"unicode/utf8"
)

// maxDepth is the maximum number of levels of nested arrays and objects. It keeps the stack
// of a reader small.
const maxDepth = 10_000

// A scanner reads the tokens of one JSON value in one pass. Between two calls, it is at the first byte of a
// value, or after the last byte of a value. After an error the text ends at the position of the scanner. So
// all methods stop there, without a check of their own.
type scanner struct {
	in    []byte
	pos   int
	value int // offset of the value that is being read
	depth int
	first bool // the next item of the array or object is the first item
	err   error

	repeats  bool // accept duplicate names
	anyBytes bool // accept invalid UTF-8 and lone surrogates
	spaces   bool // there is white space between the tokens

	names   []span        // names of the members of all open objects, outermost first
	objects []objectNames // an entry for each open object
}

func (s *scanner) start(in []byte) {
	s.in = in
	s.token()
}

// end requires that only white space follows.
func (s *scanner) end() {
	if s.token(); s.depth > 0 {
		s.unexpected("a value")
	} else if s.pos < len(s.in) {
		s.unexpected("the end of the text")
	}
}

// reset prepares a used scanner for another text. The scanner keeps its memory, unless the memory is large.
func (s *scanner) reset() {
	const most = 1 << 10
	names, objects := s.names[:0], s.objects[:0]
	if cap(names) > most || cap(objects) > most {
		names, objects = nil, nil
	}
	*s = scanner{names: names, objects: objects}
}

// peek returns the next byte, or 0 at the end. A NUL byte in the text is an error too, so most callers need
// not distinguish a NUL byte from the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

// token skips white space and returns the next byte, or 0 at the end.
func (s *scanner) token() byte {
	if c := s.peek(); c > ' ' {
		return c
	}
	return s.skipSpace()
}

func (s *scanner) skipSpace() byte {
	for {
		switch c := s.peek(); c {
		case ' ', '\t', '\n', '\r':
			s.pos++
			s.spaces = true
		default:
			return c
		}
	}
}

// kind returns the first byte of the next value, or '0' for a number.
func (s *scanner) kind() byte {
	c := s.peek()
	if c == '-' || isDigit(c) {
		return '0'
	}
	return c
}

// open reads an opening bracket.
func (s *scanner) open() {
	if s.depth == maxDepth {
		s.syntaxError("expected fewer levels of arrays and objects")
		return
	}
	s.depth++
	s.pos++
	s.first = true
}

// more goes to the next item of an array or an object and returns true. After the last item it reads the
// closing bracket and returns false.
func (s *scanner) more(closing byte) bool {
	c := s.token()
	switch {
	case c == closing && s.depth > 0:
		s.pos++
		s.depth--
		s.first = false
		return false
	case s.first && c != 0:
		s.first = false
		return true
	case c == ',':
		s.pos++
		s.token()
		return true
	}
	s.unexpected(`"," or "` + string(closing) + `"`)
	return false
}

// member reads the name of a member and the colon. After the last member it reads the closing brace and
// returns false.
func (s *scanner) member() (name span, ok bool) {
	if !s.more('}') {
		s.closeNames()
		return name, false
	}
	if s.peek() != '"' {
		s.unexpected("a name in quotes")
		return name, false
	}
	name = s.str()
	s.addName(name)
	if s.token() != ':' {
		s.unexpected(`":"`)
		return name, false
	}
	s.pos++
	s.token()
	return name, true
}

// skip reads a value of any kind.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '{':
		s.open()
		s.openNames()
		for _, ok := s.member(); ok; _, ok = s.member() {
			s.skip()
		}
	case '[':
		s.open()
		for s.more(']') {
			s.skip()
		}
	case '"':
		s.str()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		if c != '-' && !isDigit(c) {
			s.unexpected("a value")
			return
		}
		s.digits()
	}
}

func (s *scanner) literal(word string) {
	if end := s.pos + len(word); end <= len(s.in) && string(s.in[s.pos:end]) == word {
		s.pos = end
		return
	}
	s.unexpected(word)
}

// digits reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, RFC 8259 section 6. It does not check the
// following byte.
func (s *scanner) digits() {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else {
		s.someDigits()
	}
	if s.peek() == '.' {
		s.pos++
		s.someDigits()
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		s.someDigits()
	}
}

func (s *scanner) someDigits() {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	if s.pos == start {
		s.unexpected("a digit")
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// A span is the content of a string in the text, without its quotes.
type span struct {
	from, to int
	escaped  bool // the content has escapes
}

// str reads a string.
func (s *scanner) str() span {
	from := s.pos + 1 // skip the opening quote
	s.pos = from + plain(s.in[from:])
	if s.peek() == '"' {
		s.pos++
		return span{from: from, to: s.pos - 1}
	}
	return s.unusualString(from)
}

// unusualString reads the rest of a string that has escapes or characters that are not
// ASCII, or is invalid. The content begins at from.
func (s *scanner) unusualString(from int) span {
	out := span{from: from}
	for {
		switch c := s.peek(); {
		case c == '"':
			out.to = s.pos
			s.pos++
			return out
		case c == '\\':
			out.escaped = true
			s.escape()
		case c >= utf8.RuneSelf:
			s.runes()
		case s.pos == len(s.in):
			s.unexpected("a closing quote")
			return span{}
		default:
			s.unexpected("control characters to be escaped in a string")
		}
		s.pos += plain(s.in[s.pos:])
	}
}

// runes reads characters that are not ASCII.
func (s *scanner) runes() {
	for s.peek() >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s.in[s.pos:])
		if r == utf8.RuneError && size == 1 && !s.anyBytes {
			s.syntaxError("expected UTF-8")
			return
		}
		s.pos += size
	}
}

// escape reads one escape, or two for a character above U+FFFF.
func (s *scanner) escape() {
	if rest := s.in[s.pos:]; len(rest) > 1 && shortValues[rest[1]] != 0 {
		s.pos += 2
		return
	}
	size, r := readEscape(s.in[s.pos:])
	switch {
	case size == 0:
		s.syntaxError(`expected one of " \ / b f n r t after a backslash, or u and four hexadecimal digits`)
	case r == loneSurrogate && !s.anyBytes:
		s.syntaxError("expected a pair of surrogates, got one alone")
	default:
		s.pos += size
	}
}

func (s *scanner) unexpected(wanted string) {
	found := "the end of the text"
	if s.pos < len(s.in) {
		r, _ := utf8.DecodeRune(s.in[s.pos:])
		found = strconv.QuoteRune(r)
	}
	s.syntaxError("expected " + wanted + ", got " + found)
}
