// Package memstore keeps records in memory, for tests, for programs that need
// no database, and as the model the other stores are compared with.
package memstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/store"
)

// A Store keeps everything in memory until it is closed. It starts no
// goroutine and never waits, so it works inside testing/synctest. It has no
// queue and is never full.
type Store struct {
	mu      sync.RWMutex
	closed  bool
	records map[name]*store.Record // what is pointed at is never changed
	keys    map[name]*store.Record
	events  []store.Event      // the event with Seq n stands at n-1
	streams map[string][]int64 // the Seqs of each stream

	// The orders in which records are asked for. List takes the narrowest and
	// looks at each record in it.
	all, open, owned, streamed, due *sorted
}

// name is a kind with an id or a key.
type name struct{ kind, id string }

var (
	_ store.Store = (*Store)(nil)
	_ store.Queue = (*Store)(nil)
)

// New returns an empty store.
func New() *Store {
	return &Store{
		records:  map[name]*store.Record{},
		keys:     map[name]*store.Record{},
		streams:  map[string][]int64{},
		all:      &sorted{compare: byID},
		open:     &sorted{compare: byID},
		owned:    &sorted{compare: byOwner},
		streamed: &sorted{compare: byStream},
		due:      &sorted{compare: byDue},
	}
}

// Read returns a record, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, kind, id string) (store.Record, error) {
	return s.find(ctx, func() *store.Record { return s.records[name{kind, id}] })
}

// ReadKey returns the record of a kind that holds key, or store.ErrNotFound.
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

// usable says why nothing can be done now. The caller holds the lock.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

// List returns the records that q selects.
func (s *Store) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	order, same := s.narrowest(q)
	from := &store.Record{Kind: q.Kind, ID: q.After, Stream: q.Stream, Owner: q.Owner}
	records := order.after(from)
	if q.Newest {
		// Nothing sorts after every id, so the newest of a kind is found from
		// the first record of what follows it.
		records = order.before(from, q.After == "", same)
	}
	var list []store.Record
	for r := range records {
		if !same(r) || len(list) == atMost(q.Limit) {
			break
		}
		if selects(q, r) {
			list = append(list, clone(*r))
		}
	}
	return list, nil
}

// narrowest returns the shortest order that holds all that q selects, and
// whether a record still belongs to the part of it that q asks for.
func (s *Store) narrowest(q store.Query) (*sorted, func(*store.Record) bool) {
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
	return (q.Open == nil || *q.Open == r.Open) && (!q.Untold || r.Untold) &&
		is(q.Status, r.Status) && is(q.Stream, r.Stream) && is(q.Owner, r.Owner) && is(q.Agent, r.Agent) &&
		(q.For == "" || len(r.To) == 0 || slices.Contains(r.To, q.For))
}

// Due returns at most n records whose Due is set and not after before, in
// order of Due, then ID, then Kind.
func (s *Store) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var list []store.Record
	for r := range s.due.ascend() {
		if r.Due.After(before) || len(list) == atMost(n) {
			break
		}
		list = append(list, clone(*r))
	}
	return list, nil
}

// Head returns the numbers of the newest event of a stream, or of all.
func (s *Store) Head(ctx context.Context, stream string) (seq, n int64, err error) {
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

// History returns events with a Seq greater than after, in order of Seq; of
// one stream, or of all when stream is "".
func (s *Store) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	after = max(after, 0)
	limit = atMost(limit)
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

// Recent returns the newest events of a stream with a Seq less than before, or
// the newest of all of them when before is 0; the newest comes first.
func (s *Store) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var list []store.Event
	for _, seq := range slices.Backward(s.streams[stream]) {
		if len(list) == atMost(limit) {
			break
		}
		if before == 0 || seq < before {
			list = append(list, cloneEvent(s.events[seq-1]))
		}
	}
	return list, nil
}

// Close refuses everything that comes after it with store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func atMost(n int) int {
	if n <= 0 || n > store.MaxList {
		return store.MaxList
	}
	return n
}
