package engine

import (
	"sync"

	"github.com/askback/askback"
)

// hub tells those who wait in this process that their ask is settled. Waiters
// join first, then read, then sleep; the engine commits first, then tells: so
// nobody misses it. An outcome never changes, so there is one thing to tell.
type hub struct {
	mu      sync.Mutex
	waiters map[string]map[*waiter]struct{}
}

type waiter struct {
	settled chan *askback.Ask // holds one
}

func (h *hub) join(id string) *waiter {
	w := &waiter{make(chan *askback.Ask, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters == nil {
		h.waiters = map[string]map[*waiter]struct{}{}
	}
	if h.waiters[id] == nil {
		h.waiters[id] = map[*waiter]struct{}{}
	}
	h.waiters[id][w] = struct{}{}
	return w
}

func (h *hub) leave(id string, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiters[id], w)
	if len(h.waiters[id]) == 0 {
		delete(h.waiters, id)
	}
}

func (h *hub) settled(a askback.Ask) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[a.ID] {
		select {
		case w.settled <- &a:
		default: // was told before
		}
	}
}
