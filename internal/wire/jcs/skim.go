package jcs

import "slices"

// Skim returns the members of an object that have a name in names, in source order. It checks the rest of the
// text but stores none of it. The value of a member has its kind, its position and its text, but no children.
// For the children, parse the raw bytes of the value.
//
// The text may have at most depth levels of nested arrays and objects.
//
// As in [Parse], each name in names may occur only once. Other names, and names inside of values, may occur
// several times, since they are not returned. A value that is not an object has no members. The error is a
// *SyntaxError.
func Skim(raw []byte, depth int, names ...string) ([]Member, error) {
	p := newParser(raw, depth)
	p.discard = true
	var found []Member
	var err *SyntaxError
	if p.space(); p.peek() == '{' {
		found, err = p.skim(names)
	} else {
		_, err = p.value()
	}
	if err = p.end(err); err != nil {
		return nil, err
	}
	return found, nil
}

func (p *parser) skim(names []string) (found []Member, err *SyntaxError) {
	more, err := p.open('}')
	for more && err == nil {
		var m Member
		if m, err = p.name(); err != nil {
			return nil, err
		}
		switch {
		case slices.ContainsFunc(found, func(f Member) bool { return f.Name == m.Name }):
			err = p.duplicate(m)
		case !slices.Contains(names, m.Name):
			err = p.skip(&m)
		default:
			err = p.leaf(&m)
			found = append(found, m)
		}
		if err != nil {
			return nil, p.at(step{name: m.Name, index: -1}, err)
		}
		more, err = p.next('}')
	}
	return found, err
}

// skip parses the value of a member and stores nothing of it.
func (p *parser) skip(m *Member) (err *SyntaxError) {
	if err = p.colon(); err == nil {
		m.Value, err = p.value()
	}
	return err
}

// leaf parses the value of a member and stores the text of a string.
func (p *parser) leaf(m *Member) *SyntaxError {
	if err := p.colon(); err != nil {
		return err
	}
	if p.space(); p.peek() == '"' {
		p.discard = false
	}
	var err *SyntaxError
	m.Value, err = p.value()
	p.discard = true
	return err
}
