package engine

import (
	"context"
	"sync"
)

// turns lets the steps of one record happen one after another, in the order of
// their coming. A record nobody steps costs nothing.
type turns struct {
	mu    sync.Mutex
	queue map[string]chan struct{} // the last in line closes it when done
}

// enter waits for its turn with id and returns what ends it. It fails only with
// the error of ctx; those behind are not held up by that.
func (t *turns) enter(ctx context.Context, id string) (leave func(), err error) {
	mine := make(chan struct{})
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[string]chan struct{}{}
	}
	before := t.queue[id]
	t.queue[id] = mine
	t.mu.Unlock()
	if before == nil {
		return func() { t.leave(id, mine) }, nil
	}
	select {
	case <-before:
		return func() { t.leave(id, mine) }, nil
	case <-ctx.Done():
		go func() { // whoever stands behind waits for mine, so mine waits for before
			<-before
			t.leave(id, mine)
		}()
		return nil, ctx.Err()
	}
}

func (t *turns) leave(id string, mine chan struct{}) {
	t.mu.Lock()
	if t.queue[id] == mine {
		delete(t.queue, id)
	}
	t.mu.Unlock()
	close(mine)
}
