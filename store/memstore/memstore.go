// Package memstore implements a store in memory. It is for tests and for programs that
// need no database. Tests of other stores compare them with it.
package memstore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/store"
)

// A Store keeps records, events and effects in memory. It starts no goroutine and waits
// only for its mutex, so it works inside testing/synctest. It never returns
// store.ErrFull.
type Store struct {
	mu      sync.RWMutex
	closed  bool
	records map[name]*store.Record // the records are immutable
	keys    map[name]*store.Record
	events  []store.Event      // the event with Seq n has index n-1
	streams map[string][]int64 // the Seqs of each stream

	// Sorted lists of records. List reads the list with the fewest records to skip.
	all, open, owned, streamed, due *sorted[store.Record]

	effects    map[string]*effect // keyed by id; the effects are immutable
	heartbeats map[string]time.Time

	// Sorted lists of effects: claimable effects, claimed or held effects, dead letters, and all effects by
	// id and by subject.
	claimable, claimed, held, dead, queued, subjects *sorted[effect]

	index index
}

// A name identifies a record by its kind and its id or key.
type name struct{ kind, id string }

var (
	_ store.Store = (*Store)(nil)
	_ store.Queue = (*Store)(nil)
	_ store.Index = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	return &Store{
		records:  map[name]*store.Record{},
		keys:     map[name]*store.Record{},
		streams:  map[string][]int64{},
		all:      &sorted[store.Record]{compare: byID},
		open:     &sorted[store.Record]{compare: byID},
		owned:    &sorted[store.Record]{compare: byOwner},
		streamed: &sorted[store.Record]{compare: byStream},
		due:      &sorted[store.Record]{compare: byDue},

		effects:    map[string]*effect{},
		heartbeats: map[string]time.Time{},
		claimable:  &sorted[effect]{compare: byDueEffect},
		claimed:    &sorted[effect]{compare: byNode},
		held:       &sorted[effect]{compare: byHeld},
		dead:       &sorted[effect]{compare: byEffectID},
		queued:     &sorted[effect]{compare: byEffectID},
		subjects:   &sorted[effect]{compare: bySubject},
	}
}

// Read returns a record, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, kind, id string) (store.Record, error) {
	return s.find(ctx, func() *store.Record { return s.records[name{kind, id}] })
}

// ReadKey returns the record of a kind that has this key, or store.ErrNotFound.
func (s *Store) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	return s.find(ctx, func() *store.Record { return s.keys[name{kind, key}] })
}

func (s *Store) find(ctx context.Context, get func() *store.Record) (store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Record{}, err
	}
	r := get()
	if r == nil {
		return store.Record{}, store.ErrNotFound
	}
	return clone(*r), nil
}

// usable returns an error if the store is closed or ctx has ended. The caller must hold
// the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

// List returns the records that q selects. If it stops after q.Scan records, the error is a store.MoreError.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	order, inSection := s.narrowest(q)
	from := &store.Record{Kind: q.Kind, ID: q.After, Stream: q.Stream, Owner: q.Owner}
	records := order.after(from)
	if q.Newest {
		from.ID = cmp.Or(q.After, afterEveryID)
		records = order.before(from)
	}
	var list []store.Record
	examined, last := 0, ""
	for r := range records {
		if !inSection(r) || len(list) == store.AtMost(q.Limit) {
			break
		}
		if q.Scan > 0 && examined == q.Scan {
			return list, &store.MoreError{After: last}
		}
		examined, last = examined+1, r.ID
		if selects(q, r) {
			list = append(list, clone(*r))
		}
	}
	return list, nil
}

// CountOpen returns the number of open records of a kind and an owner, at most limit.
func (s *Store) CountOpen(ctx context.Context, kind, owner string, limit int) (n int, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	for r := range s.owned.after(&store.Record{Kind: kind, Owner: owner}) {
		if r.Kind != kind || r.Owner != owner || n >= limit {
			break
		}
		n++
	}
	return n, nil
}

// Totals counts the open records of a kind, and the effects.
func (s *Store) Totals(ctx context.Context, kind string) (t store.Totals, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Totals{}, err
	}
	for r := range s.open.after(&store.Record{Kind: kind}) {
		if r.Kind != kind {
			break
		}
		t.Open++
	}
	t.Waiting, t.Claimed, t.Dead = s.claimable.len()+s.held.len(), s.claimed.len(), s.dead.len()
	return t, nil
}

// afterEveryID sorts after every id, because no id contains this byte: ids are UTF-8.
const afterEveryID = "\xff"

// narrowest returns the sorted list in which List skips the fewest records. The records that q selects are
// all in one section of the list. The returned function reports whether a record is in the section.
func (s *Store) narrowest(q store.Query) (*sorted[store.Record], func(*store.Record) bool) {
	kind := func(r *store.Record) bool { return r.Kind == q.Kind }
	open := q.Open != nil && *q.Open
	switch {
	case q.Stream != "":
		return s.streamed, func(r *store.Record) bool { return kind(r) && r.Stream == q.Stream }
	case open && q.Owner != "":
		return s.owned, func(r *store.Record) bool { return kind(r) && r.Owner == q.Owner }
	case open:
		return s.open, kind
	}
	return s.all, kind
}

func selects(q store.Query, r *store.Record) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return (q.Open == nil || *q.Open == r.Open) && (!q.Unacked || r.Unacked) &&
		is(q.Status, r.Status) && is(q.Stream, r.Stream) && is(q.Owner, r.Owner) && is(q.Agent, r.Agent) &&
		(q.For == "" || len(r.To) == 0 || slices.Contains(r.To, q.For))
}

// Due returns at most n records whose Due is set and not later than before, in order of
// Due, then ID, then Kind.
func (s *Store) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var list []store.Record
	for r := range s.due.ascend() {
		if r.Due.After(before) || len(list) == store.AtMost(n) {
			break
		}
		list = append(list, clone(*r))
	}
	return list, nil
}

// Head returns the Seq and the StreamSeq of the newest event of a stream. If stream is "",
// it returns the newest Seq of all streams, and streamSeq is 0. Without events, both are 0.
func (s *Store) Head(ctx context.Context, stream string) (seq, streamSeq int64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return 0, 0, err
	}
	if stream == "" {
		return int64(len(s.events)), 0, nil
	}
	if seqs := s.streams[stream]; len(seqs) > 0 {
		seq = seqs[len(seqs)-1]
	}
	return seq, s.newest(stream), nil
}

// History returns at most limit events of one stream or, if stream is "", of all,
// beginning with the first Seq greater than after.
func (s *Store) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	after = max(after, 0)
	limit = store.AtMost(limit)
	var list []store.Event
	if stream == "" {
		for seq := after + 1; seq <= int64(len(s.events)) && len(list) < limit; seq++ {
			if e := s.events[seq-1]; e.Type != "" {
				list = append(list, cloneEvent(e))
			}
		}
		return list, nil
	}
	seqs := s.streams[stream]
	i, found := slices.BinarySearch(seqs, after)
	if found {
		i++
	}
	for ; i < len(seqs) && len(list) < limit; i++ {
		list = append(list, cloneEvent(s.events[seqs[i]-1]))
	}
	return list, nil
}

// Recent returns at most limit events of a stream with a Seq less than before, newest
// first. If before is 0, it begins with the newest event.
func (s *Store) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var list []store.Event
	for _, seq := range slices.Backward(s.streams[stream]) {
		if len(list) == store.AtMost(limit) {
			break
		}
		if before == 0 || seq < before {
			list = append(list, cloneEvent(s.events[seq-1]))
		}
	}
	return list, nil
}

// Subjects returns the records that events are about, newest event first. If more may follow, before is the
// value of q.Before for the next call. Otherwise it is 0.
func (s *Store) Subjects(ctx context.Context, q store.SubjectQuery) (list []store.Subject, before int64, err error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, 0, err
	}
	limit, examined := store.AtMost(q.Limit), 0
	stream := q.Stream
	q.Stream = "" // selects the events
	for _, e := range slices.Backward(s.events) {
		if e.Type == "" || stream != "" && e.Stream != stream || e.Seq < q.Since || q.Before > 0 && e.Seq >= q.Before {
			continue
		}
		if len(list) == limit || q.Scan > 0 && examined == q.Scan {
			return list, e.Seq + 1, nil
		}
		examined++
		r := s.records[name{q.Kind, e.Subject}]
		if r != nil && slices.Contains(q.Types, e.Type) && selects(q.Query, r) {
			list = append(list, store.Subject{Record: clone(*r), Seq: e.Seq})
		}
	}
	return list, 0, nil
}

// Close closes the store and returns nil. Later calls of other methods return
// store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
