package memstore

import (
	"cmp"
	"iter"
	"slices"

	"github.com/askback/askback/store"
)

// chunk is the maximum length of one slice in a sorted list. With a smaller maximum, a million records would
// need many slices. With a larger maximum, an insertion would move too many elements.
const chunk = 512

// A sorted is a sorted list of records or effects, in slices of at most chunk elements.
// None of the slices is empty.
type sorted[T any] struct {
	compare func(a, b *T) int
	chunks  [][]*T
}

// search returns the position of the first element that is not before r. The position is the index i in chunk
// c. If all elements are before r, c is the number of chunks and i is 0.
func (s *sorted[T]) search(r *T) (c, i int) {
	c, _ = slices.BinarySearchFunc(s.chunks, r, func(c []*T, r *T) int {
		return s.compare(c[len(c)-1], r)
	})
	if c == len(s.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearchFunc(s.chunks[c], r, s.compare)
	return c, i
}

// len returns the number of elements.
func (s *sorted[T]) len() (n int) {
	for _, c := range s.chunks {
		n += len(c)
	}
	return n
}

func (s *sorted[T]) insert(r *T) {
	c, i := s.search(r)
	if c == len(s.chunks) {
		if c == 0 {
			s.chunks = append(s.chunks, []*T{r})
			return
		}
		c, i = c-1, len(s.chunks[c-1])
	}
	full := slices.Insert(s.chunks[c], i, r)
	s.chunks[c] = full
	if len(full) <= chunk {
		return
	}
	half := len(full) / 2
	if i == len(full)-1 {
		half = i // new ids sort last, so the full slice is not split
	}
	s.chunks[c] = slices.Clip(full[:half])
	s.chunks = slices.Insert(s.chunks, c+1, slices.Clone(full[half:]))
}

func (s *sorted[T]) remove(r *T) {
	c, i := s.search(r)
	if c == len(s.chunks) || s.compare(s.chunks[c][i], r) != 0 {
		return
	}
	s.chunks[c] = slices.Delete(s.chunks[c], i, i+1)
	if len(s.chunks[c]) == 0 {
		s.chunks = slices.Delete(s.chunks, c, c+1)
	}
}

// ascend yields every element in order.
func (s *sorted[T]) ascend() iter.Seq[*T] { return s.walk(0, 0) }

// after yields the elements after r. The list need not contain r.
func (s *sorted[T]) after(r *T) iter.Seq[*T] {
	c, i := s.search(r)
	if c < len(s.chunks) && s.compare(s.chunks[c][i], r) == 0 {
		i++
	}
	return s.walk(c, i)
}

func (s *sorted[T]) walk(c, i int) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for ; c < len(s.chunks); c, i = c+1, 0 {
			for _, r := range s.chunks[c][i:] {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// before yields the elements before r in reverse order.
func (s *sorted[T]) before(r *T) iter.Seq[*T] {
	c, i := s.search(r)
	return func(yield func(*T) bool) {
		for {
			for ; i > 0; i-- {
				if !yield(s.chunks[c][i-1]) {
					return
				}
			}
			if c--; c < 0 {
				return
			}
			i = len(s.chunks[c])
		}
	}
}

// while returns the elements before the first element for which ok returns false.
func while[T any](elements iter.Seq[*T], ok func(*T) bool) (list []*T) {
	for e := range elements {
		if !ok(e) {
			break
		}
		list = append(list, e)
	}
	return list
}

func byID(a, b *store.Record) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// byOwner orders records by kind, owner and id.
func byOwner(a, b *store.Record) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.ID, b.ID))
}

// byStream orders records by stream, kind and id.
func byStream(a, b *store.Record) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), byID(a, b))
}

func byDue(a, b *store.Record) int {
	return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
}

// byDueEffect orders effects by Due, then ID, as Claim returns them.
func byDueEffect(a, b *effect) int {
	return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
}

func byNode(a, b *effect) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
}

func byHeld(a, b *effect) int {
	return cmp.Or(cmp.Compare(a.Held, b.Held), cmp.Compare(a.ID, b.ID))
}

func bySubject(a, b *effect) int {
	return cmp.Or(cmp.Compare(a.SubjectKind, b.SubjectKind), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID))
}

func byEffectID(a, b *effect) int { return cmp.Compare(a.ID, b.ID) }
