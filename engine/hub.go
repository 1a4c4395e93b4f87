package engine

import (
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// hub wakes the waiters and followers in this process. A waiter joins the hub before it
// reads the ask, and the engine notifies after the commit. So a waiter misses no outcome.
// An outcome never changes, so a waiter is notified once.
type hub struct {
	mu        sync.Mutex
	waiters   group[waiter]
	followers group[follower] // by stream; "" is all streams
}

// A group is a set of members for each key.
type group[T any] map[string]map[*T]struct{}

func (g group[T]) add(key string, member *T) {
	if g[key] == nil {
		g[key] = map[*T]struct{}{}
	}
	g[key][member] = struct{}{}
}

func (g group[T]) remove(key string, member *T) {
	delete(g[key], member)
	if len(g[key]) == 0 {
		delete(g, key)
	}
}

// A follower reads a stream of history to its end and then sleeps until the stream grows.
// It is registered before it reads, so it misses nothing.
type follower struct {
	grown chan struct{} // capacity 1
}

// follow registers a follower of a stream; "" is all streams.
func (h *hub) follow(stream string) *follower {
	f := &follower{make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.add(stream, f)
	return f
}

func (h *hub) unfollow(stream string, f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.remove(stream, f)
}

// wakeFollowers wakes the followers of the streams of these events and those of all
// streams. It is called after a commit.
func (h *hub) wakeFollowers(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.followers) == 0 || len(events) == 0 {
		return
	}
	for i, ev := range events {
		if i == 0 || ev.Stream != events[i-1].Stream {
			wakeAll(h.followers[ev.Stream])
		}
	}
	wakeAll(h.followers[""])
}

func wakeAll(followers map[*follower]struct{}) {
	for f := range followers {
		offer(f.grown, struct{}{})
	}
}

// offer sends a value to a channel of capacity 1, unless the channel has one already.
func offer[T any](c chan<- T, value T) {
	select {
	case c <- value:
	default:
	}
}

// A waiter is a call of Wait for one ask.
type waiter struct {
	settled chan *askback.Ask // capacity 1
	agent   bool              // the caller is an agent, not a person
}

// join registers a waiter for an ask.
func (h *hub) join(id string, kind askback.Kind) *waiter {
	w := &waiter{make(chan *askback.Ask, 1), kind == askback.Agent}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.add(id, w)
	return w
}

func (h *hub) leave(id string, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.remove(id, w)
}

// hasAgentWaiter reports whether an agent waits for an ask.
func (h *hub) hasAgentWaiter(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[id] {
		if w.agent {
			return true
		}
	}
	return false
}

// notifyWaiters sends a settled ask to its waiters, which must not change it.
func (h *hub) notifyWaiters(a *askback.Ask) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters[a.ID] {
		offer(w.settled, a)
	}
}
