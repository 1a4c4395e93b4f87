package txn

import (
	"context"
	"slices"
	"sync"
)

// A keyedMutex is a mutex for each id. Callers lock an id in the order of their calls. An id that is not
// locked takes no memory.
type keyedMutex struct {
	mu sync.Mutex
	// waiting maps each locked id to the channels of the callers that wait for the lock, in their order. A
	// closed channel means that its caller has the lock.
	waiting map[string][]chan struct{}
}

// Lock locks an id. If ctx ends first, Lock returns the error of ctx.
func (t *keyedMutex) Lock(ctx context.Context, id string) error {
	t.mu.Lock()
	waiting, locked := t.waiting[id]
	if !locked {
		t.waiting[id] = nil
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting[id] = append(waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if !t.leave(id, turn) {
		t.Unlock(id) // the lock was passed to the caller in the meantime
	}
	return ctx.Err()
}

// leave removes a caller that waits for an id. It reports false if the caller has the
// lock.
func (t *keyedMutex) leave(id string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.waiting[id]
	i := slices.Index(waiting, turn)
	if i < 0 {
		return false
	}
	t.waiting[id] = slices.Delete(waiting, i, i+1)
	return true
}

// Unlock gives the lock of an id to the caller that waits longest. If no caller waits, the
// id is no longer locked.
func (t *keyedMutex) Unlock(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.waiting[id]
	if len(waiting) == 0 {
		delete(t.waiting, id)
		return
	}
	close(waiting[0])
	t.waiting[id] = waiting[1:]
}
