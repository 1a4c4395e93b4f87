package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A value is a JSON value and its position in a file. Like several clients, this package
// allows comments and a comma after the last entry.
type value struct {
	kind       byte // one of { [ " or 0 for other values
	start, end int  // byte offsets
	entries    []entry
}

// An entry is a member of an object, or an element of an array. An element has no name.
type entry struct {
	name  string
	start int // the offset of the name, or of the element
	value value
	comma int // the offset of the comma after the entry, or 0
}

// get returns the index of the member with the given name.
func (v value) get(name string) (i int, ok bool) {
	for i, e := range v.entries {
		if v.kind == '{' && e.name == name {
			return i, true
		}
	}
	return 0, false
}

// maxDepth is the maximum depth of nested values, far above the depth of any configuration.
const maxDepth = 200

// A scanner reads JSON with comments.
type scanner struct {
	src string
	at  int
	err error // the first error; after an error, at is the end of src
}

// parse parses JSON with comments, trailing commas and a byte order mark, which some clients
// accept. It rejects repeated names, because programs interpret them differently.
func parse(src string) (value, error) {
	s := &scanner{src: src, at: len(src) - len(strings.TrimPrefix(src, "\ufeff"))}
	v := s.value(0)
	s.skip()
	if s.at < len(src) {
		s.fail("unexpected text after the end")
	}
	return v, s.err
}

// fail records the first error and moves to the end, so that parsing stops.
func (s *scanner) fail(why string) {
	if s.err == nil {
		line := 1 + strings.Count(s.src[:min(s.at, len(s.src))], "\n")
		s.err = fmt.Errorf("line %d: %s", line, why)
	}
	s.at = len(s.src)
}

func (s *scanner) peek() byte {
	s.skip()
	if s.at >= len(s.src) {
		return 0
	}
	return s.src[s.at]
}

// skip skips white space and comments.
func (s *scanner) skip() {
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				s.fail("a comment is not closed")
				return
			}
			s.at += end + 4
		default:
			return
		}
	}
}

func (s *scanner) value(depth int) value {
	if depth > maxDepth {
		s.fail("this is nested too deeply")
		return value{}
	}
	switch c := s.peek(); c {
	case '{', '[':
		return s.entries(c, depth)
	case '"':
		start := s.at
		s.text()
		return value{kind: '"', start: start, end: s.at}
	}
	start := s.at
	for s.at < len(s.src) && strings.IndexByte(" \t\r\n,]}/", s.src[s.at]) < 0 {
		s.at++
	}
	if !json.Valid([]byte(s.src[start:s.at])) {
		s.fail("this is not a JSON value")
	}
	return value{start: start, end: s.at}
}

func (s *scanner) entries(open byte, depth int) value {
	v := value{kind: open, start: s.at}
	names := map[string]bool{}
	s.at++
	for s.err == nil && s.peek() != open+2 { // in ASCII, the closing bracket is the opening bracket plus two
		if n := len(v.entries); n > 0 && v.entries[n-1].comma == 0 {
			s.fail("a comma is missing")
		}
		e := entry{start: s.at}
		if open == '{' {
			e.name = s.name(names)
		}
		e.value = s.value(depth + 1)
		if s.peek() == ',' {
			e.comma = s.at
			s.at++
		}
		v.entries = append(v.entries, e)
	}
	s.at = min(s.at+1, len(s.src))
	v.end = s.at
	return v
}

// name reads the name of a member and its colon. It adds the name to the names of the object. A repeated name
// is an error.
func (s *scanner) name(names map[string]bool) string {
	if s.peek() != '"' {
		s.fail("a name in quotes is missing")
		return ""
	}
	name := s.text()
	if names[name] {
		s.fail("the name " + name + " is repeated")
	}
	names[name] = true
	if s.peek() != ':' {
		s.fail("a colon is missing")
		return ""
	}
	s.at++
	return name
}

func (s *scanner) text() string {
	start := s.at
	for s.at++; s.at < len(s.src) && s.src[s.at] != '"'; s.at++ {
		if s.src[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.src) {
		s.at = start
		s.fail("a string is not closed")
		return ""
	}
	s.at++
	var out string
	if err := json.Unmarshal([]byte(s.src[start:s.at]), &out); err != nil {
		s.at = start
		s.fail("this is not a JSON string")
	}
	return out
}

// compactText returns the text of a value without white space, comments and trailing commas.
func compactText(src string, v value) string {
	if v.kind != '{' && v.kind != '[' {
		return src[v.start:v.end]
	}
	var b strings.Builder
	b.WriteByte(v.kind)
	for i, e := range v.entries {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.kind == '{' {
			b.WriteString(Compact(e.name) + ":")
		}
		b.WriteString(compactText(src, e.value))
	}
	b.WriteByte(v.kind + 2)
	return b.String()
}
