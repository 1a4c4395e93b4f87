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

	followers map[string]map[*follower]struct{} // by stream; "" follows all
}

// A follower reads history until there is no more, and then sleeps until the
// head of its stream moved. It joins first, so it misses nothing.
type follower struct {
	moved chan struct{} // holds one
}

func (h *hub) follow(stream string) *follower {
	f := &follower{make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers == nil {
		h.followers = map[string]map[*follower]struct{}{}
	}
	if h.followers[stream] == nil {
		h.followers[stream] = map[*follower]struct{}{}
	}
	h.followers[stream][f] = struct{}{}
	return f
}

func (h *hub) unfollow(stream string, f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followers[stream], f)
	if len(h.followers[stream]) == 0 {
		delete(h.followers, stream)
	}
}

// moved tells those who follow these streams, or all, after a commit.
func (h *hub) moved(streams map[string]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.followers) == 0 || len(streams) == 0 {
		return
	}
	for stream := range streams {
		wake(h.followers[stream])
	}
	wake(h.followers[""])
}

func wake(followers map[*follower]struct{}) {
	for f := range followers {
		select {
		case f.moved <- struct{}{}:
		default: // it was told, and has not looked yet
		}
	}
}

type waiter struct {
	settled chan *askback.Ask // holds one
	agent   bool              // not a person who looks at the ask
}

func (h *hub) join(id string, kind askback.Kind) *waiter {
	w := &waiter{make(chan *askback.Ask, 1), kind == askback.Agent}
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

// awaited reports whether an agent waits for an ask.
func (h *hub) awaited(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[id] {
		if w.agent {
			return true
		}
	}
	return false
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
