package engine

import (
	"context"
	"sync"
)

// keyedMutex is a mutex for each id. Callers lock an id in the order of their calls.
// An id that is not locked takes no memory.
type keyedMutex struct {
	mu    sync.Mutex
	queue map[string]chan struct{} // by id: closed when the last caller in the queue unlocks the id
}

// lock locks an id and returns the function that unlocks it. If ctx ends first, lock
// returns its error, and later callers do not wait for this call.
func (t *keyedMutex) lock(ctx context.Context, id string) (unlock func(), err error) {
	done := make(chan struct{})
	t.mu.Lock()
	before := t.queue[id]
	t.queue[id] = done
	t.mu.Unlock()
	if before == nil {
		return func() { t.unlock(id, done) }, nil
	}
	select {
	case <-before:
		return func() { t.unlock(id, done) }, nil
	case <-ctx.Done():
		go func() { // the next caller waits for done, so done waits for before
			<-before
			t.unlock(id, done)
		}()
		return nil, ctx.Err()
	}
}

func (t *keyedMutex) unlock(id string, done chan struct{}) {
	t.mu.Lock()
	if t.queue[id] == done {
		delete(t.queue, id)
	}
	t.mu.Unlock()
	close(done)
}
