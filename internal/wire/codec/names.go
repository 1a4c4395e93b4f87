package codec

import (
	"slices"
	"strconv"
)

// An objectNames finds duplicate names in one object.
type objectNames struct {
	first   int       // index of the first name in scanner.names
	seen    [4]uint64 // a bit for each hash of a name, to recognize most new names
	escaped bool      // a name has escapes
}

// fewNames is the number of names up to which each name is compared with the earlier names. More names, and
// names with escapes, are compared at the end of the object.
const fewNames = 64

func (s *scanner) openNames() {
	if !s.repeats {
		s.objects = append(s.objects, objectNames{first: len(s.names)})
	}
}

// closeNames ends the innermost object. It checks the names of the object that were not compared before, and
// removes all its names.
func (s *scanner) closeNames() {
	last := len(s.objects) - 1
	if last < 0 {
		return
	}
	o := s.objects[last]
	if names := s.names[o.first:]; (o.escaped || len(names) > fewNames) && s.err == nil {
		s.checkMany(names)
	}
	s.names, s.objects = s.names[:o.first], s.objects[:last]
}

// checkMany records an error if names has a duplicate. Its time is linear.
func (s *scanner) checkMany(names []span) {
	seen := make(map[string]struct{}, len(names))
	for i, n := range names {
		name := s.in[n.from:n.to]
		if n.escaped {
			name, _ = appendUnescaped(nil, name)
		}
		seen[string(name)] = struct{}{}
		if len(seen) == i {
			s.duplicate(n, name)
			return
		}
	}
}

// addName adds a name to the innermost object. A duplicate is an error.
func (s *scanner) addName(n span) {
	if len(s.objects) == 0 || s.err != nil {
		return
	}
	o := &s.objects[len(s.objects)-1]
	names := s.names[o.first:]
	switch {
	case n.escaped:
		o.escaped = true
	case len(names) < fewNames:
		name := s.in[n.from:n.to]
		h := hash(name)
		word, bit := &o.seen[h>>6], uint64(1)<<(h&63)
		same := func(other span) bool { return string(s.in[other.from:other.to]) == string(name) }
		if *word&bit != 0 && slices.ContainsFunc(names, same) {
			s.duplicate(n, name)
			return
		}
		*word |= bit
	}
	s.names = append(s.names, n)
}

// hash returns a short hash of a member name. Names with equal hashes must be compared.
func hash(name []byte) uint8 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return uint8(n)*29 + name[0]*7 + name[n/2]*31 + name[n-1]*3
}

func (s *scanner) duplicate(n span, name []byte) {
	s.pos = n.from - 1
	s.syntaxError("expected each name once in an object, got " + strconv.Quote(shorten(string(name))) + " again")
}
