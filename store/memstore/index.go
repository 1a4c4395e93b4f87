package memstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/askback/askback/store"
)

// An index holds the documents for searches, sorted by time, then by their addition. Find returns documents
// in reverse order.
type index struct {
	seq       int64
	documents []document
}

type document struct {
	id    string
	at    int64 // the time in milliseconds
	words []string
}

// Indexed returns the Seq of the last event whose document was added, or 0.
func (s *Store) Indexed(ctx context.Context) (seq int64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.seq, s.usable(ctx)
}

// UpdateIndex adds documents to the index and moves its position to u.To. It returns store.ErrConflict if the
// position is not u.From.
func (s *Store) UpdateIndex(ctx context.Context, u store.IndexUpdate) error {
	if err := u.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if u.From != s.index.seq {
		return store.ErrConflict
	}
	s.index.seq = u.To
	for _, d := range u.Add {
		if s.records[name{d.Kind, d.ID}] != nil && s.index.find(d.ID) < 0 {
			s.index.add(document{d.ID, d.At.UnixMilli(), strings.Fields(d.Words)})
		}
	}
	return nil
}

func (i *index) add(d document) {
	at, _ := slices.BinarySearchFunc(i.documents, d.at+1,
		func(d document, at int64) int { return cmp.Compare(d.at, at) })
	i.documents = slices.Insert(i.documents, at, d)
}

// find returns the position of a document, or -1.
func (i *index) find(id string) int {
	return slices.IndexFunc(i.documents, func(d document) bool { return d.id == id })
}

func (i *index) remove(ids []string) {
	if len(ids) > 0 {
		i.documents = slices.DeleteFunc(i.documents, func(d document) bool { return slices.Contains(ids, d.id) })
	}
}

// Find returns the ids of the documents that q selects, newest first.
func (s *Store) Find(ctx context.Context, q store.Search) (ids []string, err error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	all := s.index.documents
	if at := s.index.find(q.After); at >= 0 {
		all = all[:at]
	} else if !q.Before.IsZero() {
		at, _ := slices.BinarySearchFunc(all, q.Before.UnixMilli(),
			func(d document, at int64) int { return cmp.Compare(d.at, at) })
		all = all[:at]
	}
	for _, d := range slices.Backward(all) {
		if len(ids) == store.AtMost(q.Limit) {
			break
		}
		if len(q.AnyOf) > 0 &&
			!slices.ContainsFunc(q.AnyOf, func(w string) bool { return slices.Contains(d.words, w) }) {
			continue
		}
		if !slices.ContainsFunc(q.Phrases, func(p store.Phrase) bool { return !d.contains(p) }) {
			ids = append(ids, d.id)
		}
	}
	return ids, nil
}

func (d document) contains(p store.Phrase) bool {
	last := len(p.Words) - 1
	for start := 0; start+last < len(d.words); start++ {
		end := d.words[start+last]
		if slices.Equal(d.words[start:start+last], p.Words[:last]) &&
			(end == p.Words[last] || p.Prefix && strings.HasPrefix(end, p.Words[last])) {
			return true
		}
	}
	return false
}
