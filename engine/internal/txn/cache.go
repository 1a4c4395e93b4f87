package txn

import (
	"bytes"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store"
)

// The memory of an ask in addition to the bytes of its strings. The values were measured and rounded up.
const (
	askOverhead     = 1500 // a record, a state, and their entries in list and map
	textOverhead    = 32   // the header of a string, and the rounding of its allocation
	partOverhead    = 192  // a question, or the answer to a question
	outcomeOverhead = 512  // a confirmation, or an outcome
)

// A cache holds the most recently used asks, up to limit bytes. Callers must not change the asks.
type cache struct {
	mu    sync.Mutex
	limit int
	used  int
	byID  map[string]*cacheEntry
	ring  cacheEntry // next is the most recently used entry, previous the least
}

// A cacheEntry is an ask in the cache. The entries form a ring in the order of their use.
type cacheEntry struct {
	next, previous *cacheEntry
	ask            *AskRecord
	cost           int
}

func newCache(limit int) *cache {
	c := &cache{limit: limit, byID: map[string]*cacheEntry{}}
	c.ring.next, c.ring.previous = &c.ring, &c.ring
	return c
}

// Get returns the ask with this id, or nil if it is not in the cache.
func (c *cache) Get(id string) *AskRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[id]
	if e == nil {
		return nil
	}
	e.unlink()
	c.pushFront(e)
	return e.ask
}

// put stores an ask, unless the cache has a newer version of the ask. It removes the least recently used asks
// to stay within the limit.
func (c *cache) put(a *AskRecord) {
	cost := AskBytes(&a.State.Ask) + heldBytes(a.State.Held)*9/8 + a.Kept
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[a.Row.ID]
	switch {
	case e == nil:
		e = &cacheEntry{}
		c.byID[a.Row.ID] = e
	case e.ask.Row.Version > a.Row.Version:
		return
	default:
		e.unlink()
	}
	c.used += cost - e.cost
	e.ask, e.cost = a, cost
	c.pushFront(e)
	c.evict()
}

// Grow implements [revision.Cache]. It adds the memory of the JSON that a revision keeps, if its ask is in the cache.
func (c *cache) Grow(a *revision.Ask, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[a.ID]; e != nil && e.ask.Shared.Load() == a {
		e.cost += size
		c.used += size
		c.evict()
	}
}

// evict removes the least recently used asks until the cache is within its limit.
func (c *cache) evict() {
	for c.used > c.limit && c.ring.previous != &c.ring {
		c.remove(c.ring.previous)
	}
}

func (c *cache) Drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		c.remove(e)
	}
}

func (c *cache) remove(e *cacheEntry) {
	e.unlink()
	delete(c.byID, e.ask.Row.ID)
	c.used -= e.cost
}

func (c *cache) pushFront(e *cacheEntry) {
	e.previous, e.next = &c.ring, c.ring.next
	e.previous.next, e.next.previous = e, e
}

func (e *cacheEntry) unlink() {
	e.previous.next, e.next.previous = e.next, e.previous
}

// keptBytes returns an upper estimate of the memory of the JSON of a record, in addition to the strings that
// were read from it. A string without escapes is a part of the JSON. A string with escapes is a copy, so the
// JSON counts as well.
func keptBytes(row store.Record) (n int) {
	for _, raw := range [][]byte{row.Fixed, row.State} {
		if bytes.IndexByte(raw, '\\') >= 0 {
			n += len(raw)
		}
	}
	return n + n/8
}

// AskBytes returns an upper estimate of the memory of an ask, in bytes. The length of the stored JSON would
// be too small, because a name of three letters takes ten times as much memory.
func AskBytes(a *askback.Ask) int {
	n := askOverhead + 2*len(a.Context) // the strings of a stored ask keep its JSON in memory
	add := func(texts ...string) {
		for _, t := range texts {
			n += textOverhead + len(t)
		}
	}
	add(a.Title, a.SessionTitle, a.TraceParent, a.StartedBy, a.ReassignedBy)
	add(a.Path...)
	add(a.Directed...)
	add(a.To...)
	add(a.Recipients...)
	add(a.Approvers...)
	add(a.Tags...)
	for _, q := range a.Questions {
		n += partOverhead
		add(q.Text, q.Header, q.Format)
		add(q.Default...)
		for _, o := range q.Options {
			add(o.Label, o.Description, o.Preview)
		}
	}
	if c := a.Confirmation; c != nil {
		n += outcomeOverhead + 2*len(c.Input)
		add(c.ToolName, c.Server, c.Description, c.InputPreview, c.Context)
	}
	for _, p := range a.Warnings {
		add(p.Pointer, p.Detail, p.Fix)
	}
	for _, c := range a.Claims {
		n += textOverhead
		add(c.Name)
	}
	for _, v := range a.Votes {
		n += partOverhead
		add(v.Name, v.Reason)
	}
	for _, f := range a.FollowUps {
		n += partOverhead
		add(f.To...)
	}
	if o := a.Outcome; o != nil {
		n += outcomeOverhead + len(o.Input)
		add(o.Comment, o.Reason, o.Actor.Name)
		for _, q := range o.Answers {
			n += partOverhead
			add(q.Other, q.Notes)
			add(q.Selected...)
		}
	}
	n += heldBytes(a.Held)
	return n + n/8 // the allocator rounds up to size classes
}

// heldBytes returns an upper estimate of the memory of held answers, in bytes.
func heldBytes(all []askback.Held) (n int) {
	for _, h := range all {
		n += outcomeOverhead + 2*len(h.Input)
		for _, t := range []string{h.Name, h.Comment, h.Reason, h.Digest, h.GrantID, h.Token} {
			n += len(t)
		}
		for _, q := range h.Answers {
			n += partOverhead + len(q.ID) + len(q.Question) + len(q.Other) + len(q.Notes)
			for _, s := range q.Selected {
				n += textOverhead + len(s)
			}
		}
	}
	return n
}
