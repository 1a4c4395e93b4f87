package jcs

// A stack holds items of the lists that are being parsed. The items of the innermost list are last. The
// parser reuses the memory of the stack, so that most texts need one allocation for the items of all lists.
type stack[T any] struct {
	items [24]T // enough for an ordinary ask
	size  int
	free  []T // memory for complete lists
}

// A list is an array or an object that is being parsed.
type list[T any] struct {
	start int // the index of the first item of the list on the stack
	moved []T // the earlier items of the list, for which the stack was too small
}

func (s *stack[T]) begin() list[T] { return list[T]{start: s.size} }

// of returns the items of the innermost list that are on the stack.
func (s *stack[T]) of(l *list[T]) []T { return s.items[l.start:s.size] }

// push appends an item to l, which must be the innermost list.
func (s *stack[T]) push(l *list[T], item T) {
	if s.size == len(s.items) {
		l.moved = append(l.moved, s.of(l)...)
		s.size = l.start
	}
	if s.size == len(s.items) { // the stack is full of items of other lists
		l.moved = append(l.moved, item)
		return
	}
	s.items[s.size] = item
	s.size++
}

// end removes l from the stack and returns its items, or nil if l is empty. expected is an estimate of the
// number of items that follow in the text.
func (s *stack[T]) end(l *list[T], expected int) []T {
	items := s.of(l)
	s.size = l.start
	if l.moved != nil {
		return append(l.moved, items...)
	}
	if len(items) == 0 {
		return nil
	}
	if len(items) > len(s.free) {
		s.free = make([]T, len(items)+s.size+expected)
	}
	out := s.free[:len(items):len(items)]
	s.free = s.free[len(items):]
	copy(out, items)
	return out
}
