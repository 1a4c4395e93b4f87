package sqlite

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/askback/askback/store"
)

// A request is work in the queue of the writer: a change, a claim, or an update of the index. Its caller has
// encoded the records, so that the writer has less work.
type request struct {
	claim   *claim             // the claim to make; nil for other requests
	index   *store.IndexUpdate // the update of the index; nil for other requests
	restore *restoration       // the restoration of the index; nil for other requests

	complete []store.Completion
	release  []string
	drop     []store.Ref
	put      []cells
	effects  []store.Effect
	prune    []pruning
	events   []store.Event
	unindex  []string
	size     int

	state atomic.Int32 // waiting, taken or givenUp
	first int64        // set by the writer before it closes done
	err   error
	done  chan struct{}
}

// The states of a request. A request is either taken by the writer or given up by its caller, never both.
const (
	waiting int32 = iota
	taken
	givenUp
)

func (r *request) take() bool   { return r.state.CompareAndSwap(waiting, taken) }
func (r *request) giveUp() bool { return r.state.CompareAndSwap(waiting, givenUp) }

// Commit commits the whole change to the disk and returns the Seq of its first event, or 0 without events.
// After an error, nothing of the change was kept, unless the error matches store.ErrUnknown.
//
// If ctx ends before the writer has taken the change, the change is not written. After that, Commit waits for
// the result.
func (s *Store) Commit(ctx context.Context, c store.Change) (first int64, err error) {
	size, err := c.Check()
	if err != nil {
		return 0, err
	}
	prune, err := groupByStream(c.Prune)
	if err != nil {
		return 0, err
	}
	r := &request{
		complete: c.Done, release: c.Release, drop: c.Delete, put: make([]cells, len(c.Put)), effects: c.Effects,
		prune: prune, events: c.Events, unindex: c.Unindex, size: size, done: make(chan struct{}),
	}
	for i := range c.Put {
		r.put[i] = cellsOf(&c.Put[i])
	}
	return s.do(ctx, r)
}

// do adds a request to the queue and waits for its result. If ctx ends before the writer has taken the
// request, do returns the error of ctx. If the queue is full, do returns store.ErrFull.
func (s *Store) do(ctx context.Context, r *request) (first int64, err error) {
	if err := s.submit(ctx, r); err != nil {
		return 0, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.giveUp() {
			return 0, ctx.Err()
		}
		<-r.done
	}
	return r.first, r.err
}

// A pruning selects the events of one stream that a change deletes.
type pruning struct {
	stream   string
	subjects []byte // a JSON array; nil for the whole stream
}

// groupByStream returns one pruning for each filter without a subject. For the other
// filters it returns one pruning for each stream.
func groupByStream(filters []store.EventFilter) (all []pruning, err error) {
	subjects := map[string][]string{}
	for _, f := range filters {
		if f.Subject == "" {
			all = append(all, pruning{stream: f.Stream})
			continue
		}
		subjects[f.Stream] = append(subjects[f.Stream], f.Subject)
		if f.Subject == f.Stream {
			subjects[f.Stream] = append(subjects[f.Stream], ofStream)
		}
	}
	for stream, names := range subjects {
		raw, err := json.Marshal(names)
		if err != nil {
			return nil, err
		}
		all = append(all, pruning{stream, raw})
	}
	return all, nil
}

// submit adds a request to the queue. If the queue is full, submit returns store.ErrFull without waiting.
func (s *Store) submit(ctx context.Context, r *request) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case s.queue <- r:
		return nil
	default:
		return store.ErrFull
	}
}
