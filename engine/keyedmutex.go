package engine

import (
	"context"
	"sync"
)

// keyedMutex is a mutex for each id. Callers get it in the order in which they
// came. An id that no caller has locked takes no memory.
type keyedMutex struct {
	mu    sync.Mutex
	queue map[string]chan struct{} // by id: the last in the queue closes it on unlock
}

// lock locks an id and returns the function that unlocks it. The error is that of
// ctx; callers behind a cancelled one do not wait for it.
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
