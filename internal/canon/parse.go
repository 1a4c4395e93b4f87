package canon

import (
	"strings"
	"unicode/utf8"
)

// Limits are the bounds of Parse. The zero value is good.
type Limits struct {
	Depth int // of arrays and objects inside each other; MaxDepth if 0
}

// Parse reads exactly one JSON value, nested at most MaxDepth deep. An error is
// always a *SyntaxError. Time and memory are linear in the text.
func Parse(raw []byte) (Value, error) { return Limits{}.Parse(raw) }

// Parse is like the function Parse, with other limits.
func (l Limits) Parse(raw []byte) (Value, error) {
	p := parser{src: string(raw), depth: l.Depth}
	if p.depth == 0 {
		p.depth = MaxDepth
	}
	v, err := p.document()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

type parser struct {
	src   string
	pos   int
	depth int // left
	path  []step
}

func (p *parser) document() (Value, *SyntaxError) {
	if strings.HasPrefix(p.src, "\ufeff") {
		return Value{}, p.fail(0, "expected a value, got a byte order mark")
	}
	v, err := p.value()
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
	case c == '"':
		v.Kind = String
		v.text, err = p.str()
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
		return v, p.unexpected("a value")
	}
	v.End = p.pos
	return v, err
}

// nested reads what is inside an array or an object, one level deeper.
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
	if p.space(); p.take(']') {
		return nil
	}
	v.children = &children{}
	for {
		p.path = append(p.path, step{index: len(v.children.elements)})
		e, err := p.value()
		if err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
		v.children.elements = append(v.children.elements, e)
		p.space()
		switch {
		case p.take(']'):
			return nil
		case !p.take(','):
			return p.unexpected(`"," or "]"`)
		}
	}
}

func (p *parser) members(v *Value) *SyntaxError {
	if p.space(); p.take('}') {
		return nil
	}
	v.children = &children{}
	var seen names
	for {
		m, err := p.member(&seen)
		if err != nil {
			return err
		}
		v.children.members = append(v.children.members, m)
		p.space()
		switch {
		case p.take('}'):
			return nil
		case !p.take(','):
			return p.unexpected(`"," or "}"`)
		}
	}
}

func (p *parser) member(seen *names) (m Member, err *SyntaxError) {
	p.space()
	m.Offset = p.pos
	if p.peek() != '"' {
		return m, p.unexpected("a name in double quotes")
	}
	if m.Name, err = p.str(); err != nil {
		return m, err
	}
	p.path = append(p.path, step{name: m.Name, index: -1})
	if !seen.add(m.Name) {
		return m, p.fail(m.Offset, "expected each name once in an object, got "+excerpt(m.Name, maxQuoted)+" again")
	}
	if p.space(); !p.take(':') {
		return m, p.unexpected(`":"`)
	}
	if m.Value, err = p.value(); err != nil {
		return m, err
	}
	p.path = p.path[:len(p.path)-1]
	return m, nil
}

// names finds duplicates: by looking while there are few, by hash when there are many.
type names struct {
	few  []string
	many map[string]struct{}
}

func (n *names) add(name string) bool {
	const few = 8 // below this a map costs more than it saves
	if n.many == nil {
		for _, f := range n.few {
			if f == name {
				return false
			}
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

// number takes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, RFC 8259 section 6.
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

// peek returns 0 at the end. A NUL in the text is no token either, so both end in
// unexpected, which tells them apart.
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

// literal takes a whole word, so that "nullable" is reported at its first byte.
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
