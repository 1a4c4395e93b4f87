package sqlite

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/askback/askback/store"
)

// A request is a change on its way to the writer, encoded by its caller so
// that the writer only binds and steps.
type request struct {
	drop   []store.Ref
	forget []lines
	put    []row
	events []store.Event
	size   int

	owner atomic.Int32 // who decides about it
	first int64        // set by the writer before done
	err   error
	done  chan struct{}
}

// A request passes from its caller to the writer or is given up by its caller,
// and only one of the two can happen.
const (
	waiting int32 = iota
	taken
	givenUp
)

func (r *request) take() bool   { return r.owner.CompareAndSwap(waiting, taken) }
func (r *request) giveUp() bool { return r.owner.CompareAndSwap(waiting, givenUp) }

// Commit keeps a change whole and on the disk, or nothing of it and returns
// why. An error without a sentinel of package store also means that nothing
// was kept.
//
// Deletions come first, then the records in their order: a key must be free
// when the turn of its record comes. A change whose ctx ends before the writer
// has taken it is not written; after that it is waited for.
func (s *Store) Commit(ctx context.Context, c store.Change) (first int64, err error) {
	size, err := c.Check()
	if err != nil {
		return 0, err
	}
	forget, err := grouped(c.Forget)
	if err != nil {
		return 0, err
	}
	r := &request{drop: c.Delete, forget: forget, put: make([]row, len(c.Put)), events: c.Events, size: size, done: make(chan struct{})}
	for i := range c.Put {
		r.put[i] = encode(&c.Put[i])
	}
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

// lines are those of one stream that a change deletes.
type lines struct {
	stream   string
	subjects []byte // a JSON array; nil is all of the stream
}

// grouped returns what a change deletes, with all subjects of a stream together.
func grouped(forget []store.Lines) (all []lines, err error) {
	subjects := map[string][]string{}
	for _, f := range forget {
		if f.Subject == "" {
			all = append(all, lines{stream: f.Stream})
			continue
		}
		subjects[f.Stream] = append(subjects[f.Stream], f.Subject)
	}
	for stream, names := range subjects {
		raw, err := json.Marshal(names)
		if err != nil {
			return nil, err
		}
		all = append(all, lines{stream, raw})
	}
	return all, nil
}

// submit puts a request into the queue, or says at once that it cannot.
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
