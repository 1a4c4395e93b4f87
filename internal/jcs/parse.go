package jcs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Parse parses exactly one JSON value with at most MaxDepth levels. The error is a
// *SyntaxError. Time and memory are linear in the text.
func Parse(raw []byte) (Value, error) {
	p := &parser{src: string(raw), depth: MaxDepth}
	v, err := p.document(p.value)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

type parser struct {
	src   string
	pos   int
	depth int // number of levels left
	path  []step
}

// document parses a value with read, and requires that the text contains nothing else.
func (p *parser) document(read func() (Value, *SyntaxError)) (Value, *SyntaxError) {
	if strings.HasPrefix(p.src, "\ufeff") {
		return Value{}, p.fail(0, "expected a value, got a byte order mark")
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	if p.space(); p.pos < len(p.src) {
		return v, p.unexpected("the end of the text")
	}
	return v, nil
}

func (p *parser) value() (Value, *SyntaxError) {
	p.space()
	v := Value{Offset: p.pos}
	var err *SyntaxError
	switch c := p.peek(); {
	case c == '{':
		v.Kind = Object
		err = p.nested(&v, p.members)
	case c == '[':
		v.Kind = Array
		err = p.nested(&v, p.elements)
	default:
		err = p.scalar(&v)
	}
	v.End = p.pos
	return v, err
}

// scalar parses a value that is neither an array nor an object.
func (p *parser) scalar(v *Value) (err *SyntaxError) {
	switch c := p.peek(); {
	case c == '"':
		v.Kind = String
		v.text, err = p.str(true)
	case c == '-' || isDigit(c):
		v.Kind = Number
		v.text, err = p.number()
	case p.literal("true"):
		v.Kind, v.yes = Bool, true
	case p.literal("false"):
		v.Kind = Bool
	case p.literal("null"):
		v.Kind = Null
	default:
		return p.unexpected("a value")
	}
	return err
}

// nested parses an array or an object by calling inside for its content, one level deeper.
func (p *parser) nested(v *Value, inside func(*Value) *SyntaxError) *SyntaxError {
	if p.depth == 0 {
		return p.fail(p.pos, "expected fewer levels: arrays and objects are nested too deeply")
	}
	p.depth--
	p.pos++
	err := inside(v)
	p.depth++
	return err
}

func (p *parser) elements(v *Value) *SyntaxError {
	return p.list(']', func(i int) *SyntaxError {
		if v.children == nil {
			v.children = &children{}
		}
		p.path = append(p.path, step{index: i})
		e, err := p.value()
		v.children.elements = append(v.children.elements, e)
		return p.leave(err)
	})
}

func (p *parser) members(v *Value) *SyntaxError {
	var seen names
	return p.list('}', func(int) *SyntaxError {
		if v.children == nil {
			v.children = &children{}
		}
		m, err := p.name(seen.add)
		if err == nil {
			m.Value, err = p.value()
		}
		v.children.members = append(v.children.members, m)
		return p.leave(err)
	})
}

// list parses items between commas, up to the closing bracket.
func (p *parser) list(bracket byte, item func(i int) *SyntaxError) *SyntaxError {
	if p.space(); p.take(bracket) {
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		p.space()
		switch {
		case p.take(bracket):
			return nil
		case !p.take(','):
			return p.unexpected(`"," or "` + string(bracket) + `"`)
		}
	}
}

// name parses the name of a member and the colon, and adds the name to the path. If fresh
// returns false for the name, it is a duplicate and an error.
func (p *parser) name(fresh func(name string) bool) (m Member, err *SyntaxError) {
	p.space()
	m.Offset = p.pos
	if p.peek() != '"' {
		return m, p.unexpected("a name in double quotes")
	}
	if m.Name, err = p.str(true); err != nil {
		return m, err
	}
	p.path = append(p.path, step{name: m.Name, index: -1})
	if !fresh(m.Name) {
		return m, p.fail(m.Offset, "expected each name once in an object, got "+excerpt(m.Name, maxQuoted)+" again")
	}
	if p.space(); !p.take(':') {
		return m, p.unexpected(`":"`)
	}
	return m, nil
}

// leave removes the last member or element from the path, unless there is an error: its
// pointer needs the path.
func (p *parser) leave(err *SyntaxError) *SyntaxError {
	if err == nil {
		p.path = p.path[:len(p.path)-1]
	}
	return err
}

// names finds duplicate names: by comparison if there are few, with a map if there are
// many.
type names struct {
	few  []string
	many map[string]struct{}
}

func (n *names) add(name string) bool {
	const few = 8 // up to this number, comparing is faster than a map
	if n.many == nil {
		if slices.Contains(n.few, name) {
			return false
		}
		if n.few = append(n.few, name); len(n.few) > few {
			n.many = make(map[string]struct{}, 4*few)
			for _, f := range n.few {
				n.many[f] = struct{}{}
			}
		}
		return true
	}
	before := len(n.many)
	n.many[name] = struct{}{}
	return len(n.many) > before
}

// number parses -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, RFC 8259 section 6.
func (p *parser) number() (string, *SyntaxError) {
	start := p.pos
	p.take('-')
	if p.take('0') {
		if isDigit(p.peek()) {
			return "", p.fail(p.pos, "expected no digit after a leading zero")
		}
	} else if !p.digits() {
		return "", p.unexpected("a digit")
	}
	if p.take('.') && !p.digits() {
		return "", p.unexpected("a digit after the decimal point")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return "", p.unexpected("a digit in the exponent")
		}
	}
	return p.src[start:p.pos], nil
}

func (p *parser) digits() bool {
	start := p.pos
	for isDigit(p.peek()) {
		p.pos++
	}
	return p.pos > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end. A NUL byte in the text is an error too, so
// most callers need not distinguish the two.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// literal reports whether word is next in the text, and skips it. It accepts whole words
// only, so that "nullable" is reported at its first byte.
func (p *parser) literal(word string) bool {
	rest, ok := strings.CutPrefix(p.src[p.pos:], word)
	if !ok || rest != "" && isWord(rest[0]) {
		return false
	}
	p.pos += len(word)
	return true
}

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func (p *parser) fail(offset int, detail string) *SyntaxError {
	line, column := position(p.src[:offset])
	return &SyntaxError{Offset: offset, Line: line, Column: column, Pointer: pointer(p.path), Detail: detail}
}

func (p *parser) unexpected(wanted string) *SyntaxError {
	return p.fail(p.pos, "expected "+wanted+", got "+p.found())
}

func (p *parser) found() string {
	if p.pos >= len(p.src) {
		return "the end of the text"
	}
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return "a byte that is not UTF-8"
	}
	return excerpt(p.src[p.pos:p.pos+size], 1)
}
