package txn

import (
	"context"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// A hub notifies the waiters and followers in this process. A waiter joins the hub before it reads the ask,
// and the engine notifies after the commit. So a waiter misses no outcome. An outcome never changes, so a
// waiter is notified once.
type hub struct {
	mu        sync.Mutex
	waiters   group // keyed by the id of the ask
	followers group // keyed by stream; "" is all streams
	snoozers  group // members that watch the snoozes of a person, keyed by name
	holders   group // members that watch held answers; the key is ""

	runs group                // members that perform an effect of a run, keyed by session
	live map[string]*LiveText // the texts that models are writing, keyed by session

	waiting, following int // the numbers of waiters and of followers

	// Forget is called when a commit changes the history, before followers are woken. It must not block.
	Forget func()
}

// A Member is a waiter for one ask, a follower of one stream, or a watcher. Watchers watch a run, snoozes or
// held answers.
//
// A follower reads its stream to the end and then sleeps until the stream grows. It is registered before it
// reads, so it misses nothing.
type Member struct {
	next, previous *Member // the neighbors in the ring of its key
	// Wake has capacity 1. A waiter receives the settled ask, which all waiters share and must not change. A
	// follower receives nil.
	Wake chan *AskRecord
	// changed has capacity 1. A member that watches snoozes or held answers uses it instead of Wake.
	changed chan struct{}
	agent   bool // whether the caller of Wait is an agent
}

// A group is a set of members for each key. The members of a key form a ring, and the value of the key is any
// of these members.
type group map[string]*Member

func (g group) add(key string, m *Member) {
	first := g[key]
	if first == nil {
		m.next, m.previous = m, m
		g[key] = m
		return
	}
	m.next, m.previous = first, first.previous
	m.next.previous, m.previous.next = m, m
}

func (g group) remove(key string, m *Member) {
	if m.next == m {
		delete(g, key)
		return
	}
	m.next.previous, m.previous.next = m.previous, m.next
	g[key] = m.next
}

// members yields the members of a key.
func (g group) members(key string) func(yield func(*Member) bool) {
	return func(yield func(*Member) bool) {
		first := g[key]
		for m := first; m != nil && yield(m); {
			if m = m.next; m == first {
				return
			}
		}
	}
}

// wake sends an ask to each member of a key. It omits members that have not yet received the previous ask.
// All members of a key share the ask and must not change it.
func (g group) wake(key string, a *AskRecord) {
	for m := range g.members(key) {
		offer(m.Wake, a)
	}
}

// offer sends a value to a channel of capacity 1, unless the channel is full.
func offer[T any](c chan<- T, value T) {
	select {
	case c <- value:
	default:
	}
}

// Follow registers a follower of a stream, or of all streams if stream is "".
func (h *hub) Follow(stream string) *Member {
	f := &Member{Wake: make(chan *AskRecord, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.add(stream, f)
	h.following++
	return f
}

// WatchRun registers a member that performs an effect of the run of a session.
func (h *hub) WatchRun(session string) *Member {
	m := &Member{Wake: make(chan *AskRecord, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs.add(session, m)
	return m
}

func (h *hub) UnwatchRun(session string, m *Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs.remove(session, m)
}

func (h *hub) Unfollow(stream string, f *Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers.remove(stream, f)
	h.following--
}

// wakeFollowers notifies the followers of the streams of these events, the watchers of their runs and the
// followers of all streams. It also removes the shared pages. Without events it does nothing. It is called
// after a commit.
func (h *hub) wakeFollowers(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(events) == 0 {
		return
	}
	h.Forget()
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
func (db *DB) WatchSnoozes(p askback.Principal) (changed <-chan struct{}, stop func()) {
	h, m := &db.Hub, &Member{changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snoozers.add(p.Name, m)
	return m.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.snoozers.remove(p.Name, m)
	}
}

// NotifySnoozes reports a change of the snoozes of a person. It is called after the commit.
func (h *hub) NotifySnoozes(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.snoozers.members(name) {
		offer(m.changed, struct{}{})
	}
}

// IsShared reports whether the stream of a follower has another follower.
func (h *hub) IsShared(f *Member) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f.next != f
}

// Join registers a waiter for an ask.
func (h *hub) Join(id string, kind askback.Kind) *Member {
	w := &Member{Wake: make(chan *AskRecord, 1), agent: kind == askback.Agent}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.add(id, w)
	h.waiting++
	return w
}

func (h *hub) Leave(id string, w *Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.remove(id, w)
	h.waiting--
}

// Counts returns the number of waiters and the number of followers.
func (h *hub) Counts() (waiters, followers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting, h.following
}

// HasAgentWaiter reports whether an agent waits for an ask.
func (h *hub) HasAgentWaiter(id string) bool {
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
func (h *hub) notifyWaiters(a *AskRecord) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.wake(a.Row.ID, a)
}

// Wait sleeps until the stream has grown. If ctx ends first, Wait returns the cause of ctx.
func (m *Member) Wait(ctx context.Context) error {
	select {
	case <-m.Wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WatchHeld returns a channel that gets a value after each change of held answers in this
// process, until stop is called. Several changes may share one value.
func (db *DB) WatchHeld() (changed <-chan struct{}, stop func()) {
	h, m := &db.Hub, &Member{changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders.add("", m)
	return m.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.holders.remove("", m)
	}
}

// notifyHeld reports a change of held answers. It is called after the commit.
func (h *hub) notifyHeld() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.holders.members("") {
		offer(m.changed, struct{}{})
	}
}

// A LiveText is the text that the model of a run has written so far in its present request. A LiveText is not
// stored. Only the complete message is stored.
type LiveText struct {
	hub     *hub
	session string
	Request int

	mu    sync.Mutex
	text  strings.Builder
	ended bool
}

// Begin makes the text of a new request of the run of a session, which replaces an earlier text.
func (h *hub) Begin(session string, request int) *LiveText {
	l := &LiveText{hub: h, session: session, Request: request}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[session] = l
	return l
}

// maxLive is the maximum length of a live text in bytes. Text after this length is only in the message.
const maxLive = 1 << 20

// Add adds a piece of the text, and wakes the followers of the session. It does nothing after End, or if the
// text has maxLive bytes.
func (l *LiveText) Add(piece string) {
	l.mu.Lock()
	more := piece != "" && !l.ended && l.text.Len() < maxLive
	if more {
		l.text.WriteString(strings.ToValidUTF8(piece, "�"))
	}
	l.mu.Unlock()
	if more {
		l.hub.mu.Lock()
		defer l.hub.mu.Unlock()
		l.hub.followers.wake(l.session, nil)
	}
}

// End ends the text. It is called before the message is committed, so that no piece of the text follows the
// message.
func (l *LiveText) End() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if l.hub.live[l.session] == l {
		delete(l.hub.live, l.session)
	}
}

// LiveOf returns the text that the model of a session is writing, or nil.
func (h *hub) LiveOf(session string) *LiveText {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.live[session]
}

// After returns the text from an offset on, or "" if the text has ended.
func (l *LiveText) After(offset int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return ""
	}
	return l.text.String()[offset:]
}
