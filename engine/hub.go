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
	waiters   group // by the id of the ask
	followers group // by stream; "" is all streams
	snoozers  group // who watches the snoozes of a person, by name
	holders   group // who watches held answers; the key is ""

	runs group                // who performs an effect of the run of a session
	live map[string]*liveText // by session: what models are writing

	waiting, following int // the numbers of waiters and of followers

	// pages are shared by followers, until a commit changes the history.
	pages map[pageKey]*eventPage
}

// A member is a call of Wait for one ask, or of Events for one stream.
//
// A follower reads its stream to the end and then sleeps until the stream grows. It is
// registered before it reads, so it misses nothing.
type member struct {
	next, previous *member         // in the ring of its key
	wake           chan *askRecord // capacity 1; a waiter receives the settled ask, which all share and none may change, a follower nil
	changed        chan struct{}   // capacity 1; of a member that watches snoozes or held answers, instead of wake
	agent          bool            // whether the caller of Wait is an agent
}

// A group has the members for each key, as a ring. Its value is any of them.
type group map[string]*member

func (g group) add(key string, m *member) {
	first := g[key]
	if first == nil {
		m.next, m.previous = m, m
		g[key] = m
		return
	}
	m.next, m.previous = first, first.previous
	m.next.previous, m.previous.next = m, m
}

func (g group) remove(key string, m *member) {
	if m.next == m {
		delete(g, key)
		return
	}
	m.next.previous, m.previous.next = m.previous, m.next
	g[key] = m.next
}

// members yields the members of a key.
func (g group) members(key string) func(yield func(*member) bool) {
	return func(yield func(*member) bool) {
		first := g[key]
		for m := first; m != nil && yield(m); {
			if m = m.next; m == first {
				return
			}
		}
	}
}

// wake sends an ask to each member of a key, except to those that have not yet received the
// previous ask. All members of a key share the ask and must not change it.
func (g group) wake(key string, a *askRecord) {
	for m := range g.members(key) {
		offer(m.wake, a)
	}
}

// offer sends a value to a channel of capacity 1, unless the channel has one already.
func offer[T any](c chan<- T, value T) {
	select {
	case c <- value:
	default:
	}
}

// follow registers a follower of a stream; "" is all streams.
func (h *hub) follow(stream string) *member {
	f := &member{wake: make(chan *askRecord, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.add(stream, f)
	h.following++
	return f
}

// watchRun registers who performs an effect of the run of a session.
func (h *hub) watchRun(session string) *member {
	m := &member{wake: make(chan *askRecord, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs.add(session, m)
	return m
}

func (h *hub) unwatchRun(session string, m *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs.remove(session, m)
}

func (h *hub) unfollow(stream string, f *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.remove(stream, f)
	h.following--
}

// wakeFollowers wakes the followers of the streams of these events and those of all streams,
// and removes the shared pages. Without events it does nothing. It is called after a commit.
func (h *hub) wakeFollowers(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(events) == 0 {
		return
	}
	clear(h.pages)
	if len(h.followers)+len(h.runs) == 0 {
		return
	}
	for i, ev := range events {
		if i == 0 || ev.Stream != events[i-1].Stream {
			h.followers.wake(ev.Stream, nil)
			h.runs.wake(ev.Stream, nil)
		}
	}
	h.followers.wake("", nil)
}

// WatchSnoozes returns a channel that gets a value after each change of the snoozes of a person
// in this process, until stop is called. Several changes may share one value.
func (e *Engine) WatchSnoozes(p askback.Principal) (changed <-chan struct{}, stop func()) {
	h, m := &e.hub, &member{changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snoozers.add(p.Name, m)
	return m.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.snoozers.remove(p.Name, m)
	}
}

// notifySnoozes reports a change of the snoozes of a person. It is called after the commit.
func (h *hub) notifySnoozes(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.snoozers.members(name) {
		offer(m.changed, struct{}{})
	}
}

// page returns the page of events after a position. If isNew is set, the caller must read
// it. A new page is shared if the stream has another follower and fewer than maxPages pages
// are shared.
func (h *hub) page(key pageKey, f *member) (p *eventPage, isNew bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.pages[key]; p != nil {
		return p, false
	}
	p = &eventPage{ready: make(chan struct{})}
	if f.next != f && len(h.pages) < maxPages {
		h.pages[key] = p
	}
	return p, true
}

// dropPage no longer shares a page with followers that do not have it yet.
func (h *hub) dropPage(key pageKey, p *eventPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pages[key] == p {
		delete(h.pages, key)
	}
}

// dropPages is dropPage for all pages. It is called when history may have been deleted.
func (h *hub) dropPages() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.pages)
}

// join registers a waiter for an ask.
func (h *hub) join(id string, kind askback.Kind) *member {
	w := &member{wake: make(chan *askRecord, 1), agent: kind == askback.Agent}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.add(id, w)
	h.waiting++
	return w
}

func (h *hub) leave(id string, w *member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.remove(id, w)
	h.waiting--
}

// counts returns the number of waiters and the number of followers.
func (h *hub) counts() (waiters, followers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting, h.following
}

// hasAgentWaiter reports whether an agent waits for an ask.
func (h *hub) hasAgentWaiter(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.waiters.members(id) {
		if w.agent {
			return true
		}
	}
	return false
}

// notifyWaiters sends a settled ask to its waiters, which must not change it.
func (h *hub) notifyWaiters(a *askRecord) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.wake(a.row.ID, a)
}
