package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/askback/askback/store"
)

// Commit commits the whole change and returns the Seq of its first event. If it returns an error, nothing of
// the change is kept.
func (s *Store) Commit(ctx context.Context, c store.Change) (first int64, err error) {
	if _, err := c.Check(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	if !s.fits(c) || !s.effectsFit(c) {
		return 0, store.ErrConflict
	}
	for _, d := range c.Done {
		s.complete(d)
	}
	for _, key := range c.Release {
		s.release(key)
	}
	for _, d := range c.Delete {
		s.replace(s.records[name{d.Kind, d.ID}], nil)
		s.deleteEffects(d.Kind, d.ID)
	}
	s.index.remove(c.Unindex)
	for _, r := range c.Put {
		old := s.records[name{r.Kind, r.ID}]
		s.replace(old, storedForm(r, old))
	}
	for _, e := range c.Effects {
		s.replaceEffect(nil, newEffect(e))
	}
	for _, f := range c.Prune {
		s.prune(f)
	}
	for _, e := range c.Events {
		seq := s.append(e)
		if first == 0 {
			first = seq
		}
	}
	return first, nil
}

// fits reports whether every record has the expected version and every key is free.
func (s *Store) fits(c store.Change) bool {
	// the record that has a key after the changes so far, keyed by the key; nil if the key is now free
	holder := map[name]*store.Record{}
	free := func(r *store.Record) {
		if r != nil && r.Key != "" {
			holder[name{r.Kind, r.Key}] = nil
		}
	}
	for _, d := range c.Delete {
		old := s.records[name{d.Kind, d.ID}]
		if version(old) != d.Version || old == nil {
			return false
		}
		free(old)
	}
	for i, r := range c.Put {
		old := s.records[name{r.Kind, r.ID}]
		if version(old) != r.Version {
			return false
		}
		free(old)
		if r.Key == "" {
			continue
		}
		key := name{r.Kind, r.Key}
		other, changed := holder[key]
		if !changed {
			other = s.keys[key]
		}
		if other != nil {
			return false
		}
		holder[key] = &c.Put[i]
	}
	return true
}

// version returns the version of r. For nil it returns 0.
func version(r *store.Record) int64 {
	if r == nil {
		return 0
	}
	return r.Version
}

// storedForm returns the stored form of r, which replaces the record old. The stored form has the next
// version. If r has no Fixed, it has the Fixed of old.
func storedForm(r store.Record, old *store.Record) *store.Record {
	if r.Fixed == nil && old != nil {
		r.Fixed = old.Fixed
	}
	r = clone(r)
	r.Version++
	r.Created, r.Updated, r.Due = milliseconds(r.Created), milliseconds(r.Updated), milliseconds(r.Due)
	return &r
}

// replace removes old from the maps and sorted lists and inserts r. Either record may be nil.
func (s *Store) replace(old, r *store.Record) {
	if old != nil {
		delete(s.records, name{old.Kind, old.ID})
		if at := (name{old.Kind, old.Key}); s.keys[at] == old {
			delete(s.keys, at)
		}
		for _, o := range s.orders(old) {
			o.remove(old)
		}
	}
	if r != nil {
		s.records[name{r.Kind, r.ID}] = r
		if r.Key != "" {
			s.keys[name{r.Kind, r.Key}] = r
		}
		for _, o := range s.orders(r) {
			o.insert(r)
		}
	}
}

// orders returns the sorted lists that contain a record.
func (s *Store) orders(r *store.Record) []*sorted[store.Record] {
	orders := append(make([]*sorted[store.Record], 0, 5), s.all)
	if r.Open {
		orders = append(orders, s.open, s.owned)
	}
	if r.Stream != "" {
		orders = append(orders, s.streamed)
	}
	if !r.Due.IsZero() {
		orders = append(orders, s.due)
	}
	return orders
}

// append adds an event to the history and returns its Seq.
func (s *Store) append(e store.Event) (seq int64) {
	e = cloneEvent(e)
	e.At = milliseconds(e.At)
	e.Seq = int64(len(s.events)) + 1
	e.StreamSeq = s.newest(e.Stream) + 1
	s.events = append(s.events, e)
	s.streams[e.Stream] = append(s.streams[e.Stream], e.Seq)
	return e.Seq
}

// newest returns the StreamSeq of the newest event of a stream, or 0 if it has no events.
func (s *Store) newest(stream string) int64 {
	seqs := s.streams[stream]
	if len(seqs) == 0 {
		return 0
	}
	return s.events[seqs[len(seqs)-1]-1].StreamSeq
}

// prune deletes the events that the filter f selects. It replaces each event by the zero Event, because the
// index of an event depends on its Seq.
func (s *Store) prune(f store.EventFilter) {
	seqs := s.streams[f.Stream]
	if len(seqs) == 0 {
		return
	}
	newest, last := seqs[len(seqs)-1], int64(len(s.events))
	s.streams[f.Stream] = slices.DeleteFunc(seqs, func(seq int64) bool {
		e := &s.events[seq-1]
		if seq == last || f.Subject != "" && (e.Subject != f.Subject || seq == newest) {
			return false
		}
		*e = store.Event{}
		return true
	})
	if len(s.streams[f.Stream]) == 0 {
		delete(s.streams, f.Stream)
	}
}

func clone(r store.Record) store.Record {
	r.To, r.Fixed, r.State = copyOf(r.To), copyOf(r.Fixed), copyOf(r.State)
	return r
}

func cloneEvent(e store.Event) store.Event {
	e.Data = copyOf(e.Data)
	return e
}

// copyOf returns a copy of s. For an empty slice it returns nil, as a database does.
func copyOf[S ~[]E, E any](s S) S {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

// milliseconds returns t as a database would: in UTC and whole milliseconds.
func milliseconds(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
