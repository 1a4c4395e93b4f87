package main

import "strings"

// cloned reports whether a shallow copy of the struct with this name shares slices or
// pointers with the original. It reports false if there is no such struct.
func (s *source) cloned(structName string) bool {
	n, ok := s.nouns[structName]
	if !ok {
		return false
	}
	for _, f := range n.fields {
		switch f.kind {
		case raw, texts, list, pointer:
			return true
		case object:
			if s.cloned(f.elem) {
				return true
			}
		}
	}
	return false
}

// clone writes the methods that return a deep copy of a noun and of the nouns in it. Only
// the first one is exported.
func (s *source) clone(w *writer, n *noun, method string) {
	x := receiver(n.name)
	w.line("\n// %s returns a deep copy of %s.", method, x)
	w.line("func (%s %s) %s() %s {", x, n.name, method, n.name)
	var inside []*noun
	for _, f := range n.fields {
		value := x + "." + f.goName
		deep := s.cloned(f.elem)
		if deep {
			inside = append(inside, s.nouns[f.elem])
		}
		switch {
		case f.kind == raw, f.kind == texts, f.kind == list && !deep:
			w.line("%s = slices.Clone(%s)", value, value)
		case f.kind == list:
			w.line("%s = codec.CloneList(%s, %s.clone)", value, value, f.elem)
		case f.kind == pointer && deep:
			w.line("%s = codec.ClonePointer(%s, %s.clone)", value, value, f.elem)
		case f.kind == object && deep:
			w.line("%s = %s.clone()", value, value)
		}
	}
	w.line("return %s", x)
	w.line("}")
	for _, n := range inside {
		s.clone(w, n, "clone")
	}
}

func receiver(name string) string { return strings.ToLower(name[:1]) }
