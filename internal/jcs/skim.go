package jcs

import "slices"

// Skim returns the members of an object that have one of these names, in source order. It
// checks the rest of the text but stores none of it. The value of a member has its kind,
// its position and its text, but no children: parse its raw bytes for them.
//
// The text may have at most depth levels of nested arrays and objects.
//
// As in Parse, each of these names may occur only once. Other names, and names inside of
// values, may occur several times, since they are not returned. A value that is not an
// object has no members. The error is a *SyntaxError.
func Skim(raw []byte, depth int, names ...string) ([]Member, error) {
	p := &parser{src: string(raw), depth: depth}
	var found []Member
	_, err := p.document(func() (Value, *SyntaxError) {
		if p.space(); p.peek() != '{' {
			return Value{}, p.skip()
		}
		return Value{}, p.nested(nil, func(*Value) *SyntaxError { return p.skim(names, &found) })
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (p *parser) skim(names []string, found *[]Member) *SyntaxError {
	fresh := func(name string) bool {
		return !slices.ContainsFunc(*found, func(m Member) bool { return m.Name == name })
	}
	return p.list('}', func(int) *SyntaxError {
		m, err := p.name(fresh)
		switch {
		case err != nil:
		case !slices.Contains(names, m.Name):
			err = p.skip()
		default:
			m.Value, err = p.leaf()
			*found = append(*found, m)
		}
		return p.leave(err)
	})
}

// leaf parses a value. It checks the children of the value, but does not store them.
func (p *parser) leaf() (v Value, err *SyntaxError) {
	p.space()
	v.Offset = p.pos
	switch p.peek() {
	case '{':
		v.Kind, err = Object, p.skip()
	case '[':
		v.Kind, err = Array, p.skip()
	default:
		err = p.scalar(&v)
	}
	v.End = p.pos
	return v, err
}

// skip checks a value and stores nothing of it.
func (p *parser) skip() *SyntaxError {
	p.space()
	var err *SyntaxError
	switch p.peek() {
	case '{':
		return p.nested(nil, p.skipMembers)
	case '[':
		return p.nested(nil, p.skipElements)
	case '"':
		_, err = p.str(false)
	default:
		var none Value
		err = p.scalar(&none)
	}
	return err
}

func (p *parser) skipElements(*Value) *SyntaxError {
	return p.list(']', func(i int) *SyntaxError {
		p.path = append(p.path, step{index: i})
		return p.leave(p.skip())
	})
}

func (p *parser) skipMembers(*Value) *SyntaxError {
	return p.list('}', func(int) *SyntaxError {
		_, err := p.name(func(string) bool { return true })
		if err == nil {
			err = p.skip()
		}
		return p.leave(err)
	})
}
