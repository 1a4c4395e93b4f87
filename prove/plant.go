package main

import (
	"context"
	"sync"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
)

// ackBeforeCommit is the planted fault: changes to asks that are there are
// acknowledged when they are queued, and written after that.
const ackBeforeCommit = "ack-before-commit"

// planted returns the store a child works with, and what finishes its work.
func planted(plant string, s engine.Store) (engine.Store, func()) {
	if plant != ackBeforeCommit {
		return s, func() {}
	}
	e := &eager{Store: s, queue: make(chan store.Change, 1024)}
	e.writing.Go(func() {
		for c := range e.queue {
			_, _ = e.Store.Commit(context.Background(), c)
		}
	})
	return e, func() {
		close(e.queue)
		e.writing.Wait()
	}
}

// eager acknowledges before it commits. The engine steps an ask by what it
// remembers of it, so that while the process lives all is in order; only a kill
// shows that something was promised and not kept.
type eager struct {
	engine.Store
	queue   chan store.Change
	writing sync.WaitGroup
}

func (e *eager) Commit(ctx context.Context, c store.Change) (int64, error) {
	if c.Put[0].Version == 0 {
		return e.Store.Commit(ctx, c)
	}
	e.queue <- c
	return 0, nil
}
