package jcs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Parse parses exactly one JSON value with at most MaxDepth levels. The error is a
// *SyntaxError. Time and memory are linear in the text.
func Parse(raw []byte) (Value, error) {
	p := newParser(raw, MaxDepth)
	v, err := p.value()
	if err = p.end(err); err != nil {
		return Value{}, err
	}
	return v, nil
}

type parser struct {
	doc     *document
	src     string
	pos     int
	depth   int  // number of levels left
	discard bool // values are checked, but not stored

	values  stack[Value]
	members stack[Member]
	path    []step // the path to the error, from the innermost level; empty without an error
}

func newParser(raw []byte, depth int) parser {
	doc := &document{src: string(raw)}
	doc.arrays, doc.objects = doc.firstArrays[:0], doc.firstObjects[:0]
	return parser{doc: doc, src: doc.src, depth: depth}
}

// end returns err, the error of the value, with its pointer. Without an error of the value,
// it requires that only white space follows.
func (p *parser) end(err *SyntaxError) *SyntaxError {
	if err == nil {
		if p.space(); p.pos == len(p.src) {
			return nil
		}
		return p.unexpected("the end of the text")
	}
	slices.Reverse(p.path)
	err.Pointer = pointer(p.path)
	return err
}

func (p *parser) value() (v Value, err *SyntaxError) {
	p.space()
	v.doc, v.Offset = p.doc, p.pos
	switch c := p.peek(); {
	case c == '{':
		v.Kind = Object
		err = p.object(&v)
	case c == '[':
		v.Kind = Array
		err = p.array(&v)
	default:
		err = p.scalar(&v)
	}
	v.End = p.pos
	return v, err
}

// scalar parses a value that is neither an array nor an object.
func (p *parser) scalar(v *Value) *SyntaxError {
	switch c := p.peek(); {
	case c == '"':
		v.Kind = String
		text, escaped, err := p.str(!p.discard)
		if escaped && !p.discard {
			p.doc.texts = append(p.doc.texts, text)
			v.index = uint32(len(p.doc.texts))
		}
		return err
	case c == '-' || isDigit(c):
		v.Kind = Number
		return p.number()
	case p.literal("true"):
		v.Kind, v.yes = Bool, true
	case p.literal("false"):
		v.Kind = Bool
	case p.literal("null"):
		v.Kind = Null
	case p.pos == 0 && strings.HasPrefix(p.src, "\ufeff"):
		return p.fail(0, "expected a value, got a byte order mark")
	default:
		return p.unexpected("a value")
	}
	return nil
}

func (p *parser) array(v *Value) *SyntaxError {
	more, err := p.open(']')
	if err != nil {
		return err
	}
	list := p.values.begin()
	for i := 0; more; i++ {
		e, err := p.value()
		if err != nil {
			return p.at(step{index: i}, err)
		}
		if !p.discard {
			p.values.push(&list, e)
		}
		if more, err = p.next(']'); err != nil {
			return err
		}
	}
	p.depth++
	if elements := p.values.end(&list, p.expected(48)); elements != nil {
		p.doc.arrays = append(p.doc.arrays, elements)
		v.index = uint32(len(p.doc.arrays))
	}
	return nil
}

func (p *parser) object(v *Value) *SyntaxError {
	more, err := p.open('}')
	if err != nil {
		return err
	}
	list := p.members.begin()
	var seen map[string]struct{}
	for more {
		m, err := p.name()
		if err != nil {
			return err
		}
		if !p.discard && p.isDuplicate(&list, &seen, m.Name) {
			err = p.duplicate(m)
		} else if err = p.colon(); err == nil {
			m.Value, err = p.value()
		}
		if err != nil {
			return p.at(step{name: m.Name, index: -1}, err)
		}
		if !p.discard {
			p.members.push(&list, m)
		}
		if more, err = p.next('}'); err != nil {
			return err
		}
	}
	p.depth++
	if members := p.members.end(&list, p.expected(24)); members != nil {
		p.doc.objects = append(p.doc.objects, members)
		v.index = uint32(len(p.doc.objects))
	}
	return nil
}

// open parses the opening bracket of an array or an object, one level deeper. It reports whether there is an
// item. If there is no item, it also parses the closing bracket.
func (p *parser) open(closing byte) (more bool, err *SyntaxError) {
	if p.depth == 0 {
		return false, p.fail(p.pos, "expected fewer levels: arrays and objects are nested too deeply")
	}
	p.depth--
	p.pos++
	p.space()
	return !p.take(closing), nil
}

// next parses the comma after an item and returns true, or parses the closing bracket and returns false.
func (p *parser) next(closing byte) (more bool, err *SyntaxError) {
	p.space()
	if p.take(',') {
		return true, nil
	}
	if p.take(closing) {
		return false, nil
	}
	return false, p.unexpected(`"," or "` + string(closing) + `"`)
}

// name parses the name of a member.
func (p *parser) name() (m Member, err *SyntaxError) {
	p.space()
	m.Offset = p.pos
	if p.peek() != '"' {
		return m, p.unexpected("a name in double quotes")
	}
	m.Name, _, err = p.str(true)
	return m, err
}

func (p *parser) colon() *SyntaxError {
	if p.space(); !p.take(':') {
		return p.unexpected(`":"`)
	}
	return nil
}

// isDuplicate reports whether a member of the list has this name. A short list is compared name by name. For
// a longer list, the names are stored in seen.
func (p *parser) isDuplicate(l *list[Member], seen *map[string]struct{}, name string) bool {
	const few = 16 // up to this number, comparing is faster than a map
	onStack := p.members.of(l)
	if *seen == nil {
		same := func(m Member) bool { return m.Name == name }
		if len(l.moved)+len(onStack) < few {
			return slices.ContainsFunc(onStack, same) || slices.ContainsFunc(l.moved, same)
		}
		*seen = make(map[string]struct{}, 4*few)
		for _, m := range slices.Concat(l.moved, onStack) {
			(*seen)[m.Name] = struct{}{}
		}
	}
	before := len(*seen)
	(*seen)[name] = struct{}{}
	return len(*seen) == before
}

func (p *parser) duplicate(m Member) *SyntaxError {
	return p.fail(m.Offset, "expected each name once in an object, got "+excerpt(m.Name, maxQuoted)+" again")
}

// at adds a step to the path of err.
func (p *parser) at(s step, err *SyntaxError) *SyntaxError {
	p.path = append(p.path, s)
	return err
}

// expected estimates the number of items that follow in the source if each has this size. The estimate is at
// least one, and not large.
func (p *parser) expected(size int) int {
	const most = 32 // the maximum, so that little memory is wasted
	return 1 + min((len(p.src)-p.pos)/size, most)
}

// number parses -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?, RFC 8259 section 6.
func (p *parser) number() *SyntaxError {
	p.take('-')
	if p.take('0') {
		if isDigit(p.peek()) {
			return p.fail(p.pos, "expected no digit after a leading zero")
		}
	} else if !p.digits() {
		return p.unexpected("a digit")
	}
	if p.take('.') && !p.digits() {
		return p.unexpected("a digit after the decimal point")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return p.unexpected("a digit in the exponent")
		}
	}
	return nil
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

// peek returns the next byte, or 0 at the end. A NUL byte in the text is an error too, so most callers need
// not distinguish a NUL byte from the end.
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

// fail returns an error without its pointer, which [parser.end] adds.
func (p *parser) fail(offset int, detail string) *SyntaxError {
	line, column := position(p.src[:offset])
	return &SyntaxError{Offset: offset, Line: line, Column: column, Detail: detail}
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
