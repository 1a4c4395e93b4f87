package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A member is a field in one form. It has the field's place in Go, its name in JSON, and its options.
type member struct {
	field
	path    string // the path from the struct that is written, such as Ask.Title
	name    string
	options []string
}

func (m member) is(option string) bool { return slices.Contains(m.options, option) }

// option returns the value of an option such as after=owner, or "".
func (m member) option(key string) string {
	for _, o := range m.options {
		if value, ok := strings.CutPrefix(o, key+"="); ok {
			return value
		}
	}
	return ""
}

// literal returns a value of the member as it is written in Go.
func (m member) literal(value string) string {
	if m.kind == text {
		return strconv.Quote(value)
	}
	return value
}

// optionKinds lists the options, each with the kinds of values that may have it. An empty
// list means all kinds.
var optionKinds = map[string][]kind{
	"null": {text}, "object": {raw}, "not": {boolean}, "custom": {texts}, "inline": {object},
	"manual": nil, "verbatim": {text}, "lenient": {text}, "single": {texts},
	"omitempty": nil, "header": nil, "keep": nil, "moving": nil, "first": nil, "after": nil, "was": nil,
	"follows": nil, "usual": {text, integer},
}

// check returns an error if an option does not exist, or is not for this kind of value.
func (m member) check() error {
	for _, o := range m.options {
		name, _, _ := strings.Cut(o, "=")
		kinds, ok := optionKinds[name]
		switch {
		case !ok:
			return fmt.Errorf("unknown option %q", o)
		case len(kinds) > 0 && !slices.Contains(kinds, m.kind):
			return fmt.Errorf("the option %s is for %s", name, kinds[0])
		}
	}
	return nil
}

// members returns the fields whose tags have this key, in the order in which the fields are written. A field
// with the tag "-" is left out. A field without the tag is an error, because the value of the field would be
// lost. A struct with the option inline is replaced by its fields.
func (s *source) members(n *noun, key string) ([]member, error) {
	var out []member
	for _, f := range n.fields {
		tag, ok := f.tags.Lookup(key)
		if !ok {
			return nil, fmt.Errorf(`%s has no tag %s; write %s:"-" if it has no member`, f.goName, key, key)
		}
		if tag == "-" {
			continue
		}
		parts := strings.Split(tag, ",")
		m := member{field: f, path: f.goName, name: parts[0], options: parts[1:]}
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.goName, err)
		}
		if m.is("inline") {
			inner, err := s.inlined(m, key)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
			continue
		}
		at := len(out)
		if m.is("first") {
			at = 0
		}
		if after := m.option("after"); after != "" {
			at = slices.IndexFunc(out, func(m member) bool { return m.name == after }) + 1
			if at == 0 {
				return nil, fmt.Errorf("%s: there is no member %q before it", f.goName, after)
			}
		}
		out = slices.Insert(out, at, m)
	}
	return out, nil
}

func (s *source) inlined(m member, key string) ([]member, error) {
	n, ok := s.nouns[m.elem]
	if !ok {
		return nil, fmt.Errorf("%s: there is no struct %s", m.goName, m.elem)
	}
	inner, err := s.members(n, key)
	if err != nil {
		return nil, fmt.Errorf("%s.%w", m.goName, err)
	}
	for i := range inner {
		inner[i].path = m.path + "." + inner[i].path
		if m.is("moving") {
			inner[i].options = append(inner[i].options, "moving")
		}
	}
	return inner, nil
}

// named returns the members of the struct with this name, from its tags with this key.
func (s *source) named(name, key string) ([]member, error) {
	n, ok := s.nouns[name]
	if !ok {
		return nil, fmt.Errorf("there is no struct %s", name)
	}
	members, err := s.members(n, key)
	if err != nil {
		return nil, fmt.Errorf("%s.%w", name, err)
	}
	return members, nil
}
