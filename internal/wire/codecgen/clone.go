package main

import "strings"

// isDeep reports whether a shallow copy of the struct with this name shares slices or pointers with the
// original. It returns false if there is no such struct.
func (s *source) isDeep(structName string) bool {
	n, ok := s.nouns[structName]
	if !ok {
		return false
	}
	for _, f := range n.fields {
		switch f.kind {
		case raw, texts, list, pointer:
			return true
		case object:
			if s.isDeep(f.elem) { // ends the recursion, because no struct contains itself
				return true
			}
		}
	}
	return false
}

// clones writes the method Clone of a noun, and the methods clone of the nouns in it that need a deep copy.
// It writes each noun once, even if several fields have its type.
func (s *source) clones(w *writer, noun string) {
	s.clone(w, noun, "Clone")
	written := map[string]bool{}
	for inside := s.deepFields(noun); len(inside) > 0; inside = inside[1:] {
		if name := inside[0]; !written[name] {
			written[name] = true
			s.clone(w, name, "clone")
			inside = append(inside, s.deepFields(name)...)
		}
	}
}

// deepFields returns the names of the structs in a noun that need a method clone.
func (s *source) deepFields(noun string) (names []string) {
	for _, f := range s.nouns[noun].fields {
		if s.isDeep(f.elem) {
			names = append(names, f.elem)
		}
	}
	return names
}

// clone writes a method that returns a deep copy of a noun.
func (s *source) clone(w *writer, noun, method string) {
	x := receiver(noun)
	w.line("\n// %s returns a deep copy of %s.", method, x)
	w.line("func (%s %s) %s() %s {", x, noun, method, noun)
	for _, f := range s.nouns[noun].fields {
		value := x + "." + f.goName
		deep := s.isDeep(f.elem)
		switch {
		case f.kind == raw, f.kind == texts, f.kind == list && !deep:
			w.line("%s = slices.Clone(%s)", value, value)
		case f.kind == list:
			w.line("%s = codec.CloneList(%s, %s.clone)", value, value, f.elem)
		case f.kind == pointer && deep:
			w.line("%s = codec.ClonePointer(%s, %s.clone)", value, value, f.elem)
		case f.kind == pointer:
			w.line("%s = codec.ClonePointer(%s, func(v %s) %s { return v })", value, value, f.elem, f.elem)
		case f.kind == object && deep:
			w.line("%s = %s.clone()", value, value)
		}
	}
	w.line("return %s", x)
	w.line("}")
}

func receiver(name string) string { return strings.ToLower(name[:1]) }
