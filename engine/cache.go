package engine

import (
	"container/list"
	"sync"

	"github.com/askback/askback"
)

// What an ask takes in memory beside its texts, measured and rounded up.
const (
	entry    = 1500 // a record, a state, and their places in list and map
	perText  = 32   // the header of a string, and what its allocation rounds up
	perPart  = 192  // a question, or the answer to one
	perWhole = 512  // a confirmation, or an outcome
)

// cache remembers the asks used last, within a number of bytes.
type cache struct {
	mu     sync.Mutex
	limit  int
	used   int
	recent list.List // of cached, the one used last in front
	byID   map[string]*list.Element
}

type cached struct {
	known
	cost int
}

func newCache(limit int) *cache { return &cache{limit: limit, byID: map[string]*list.Element{}} }

func (c *cache) get(id string) (known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byID[id]
	if !ok {
		return known{}, false
	}
	c.recent.MoveToFront(el)
	return el.Value.(cached).known, true
}

// put remembers an ask, unless a newer version of it is remembered already.
func (c *cache) put(k known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byID[k.record.ID]; ok {
		if el.Value.(cached).record.Version > k.record.Version {
			return
		}
		c.remove(el)
	}
	cost := weight(k.state.Ask)
	c.byID[k.record.ID] = c.recent.PushFront(cached{k, cost})
	c.used += cost
	for c.used > c.limit && c.recent.Len() > 0 {
		c.remove(c.recent.Back())
	}
}

func (c *cache) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byID[id]; ok {
		c.remove(el)
	}
}

func (c *cache) remove(el *list.Element) {
	old := c.recent.Remove(el).(cached)
	delete(c.byID, old.record.ID)
	c.used -= old.cost
}

// weight is about how many bytes an ask takes in memory, never less. Its bytes
// in the store do not tell: a name of three letters takes ten times as many.
func weight(a askback.Ask) int {
	n := entry + len(a.Context)
	add := func(texts ...string) {
		for _, t := range texts {
			n += perText + len(t)
		}
	}
	add(a.Title)
	add(a.Path...)
	add(a.To...)
	add(a.Tags...)
	for _, q := range a.Questions {
		n += perPart
		add(q.Text, q.Header)
		add(q.Default...)
		for _, o := range q.Options {
			add(o.Label, o.Description, o.Preview)
		}
	}
	if c := a.Confirmation; c != nil {
		n += perWhole + len(c.Input)
		add(c.ToolName, c.Server, c.Description, c.InputPreview, c.Context)
	}
	for _, p := range a.Repairs {
		add(p.Pointer, p.Detail, p.Fix)
	}
	for _, c := range a.Claims {
		n += perText
		add(c.Name)
	}
	if o := a.Outcome; o != nil {
		n += perWhole + len(o.Input)
		add(o.Comment, o.Reason, o.By.Name)
		for _, q := range o.Answers {
			n += perPart
			add(q.Other, q.Notes)
			add(q.Selected...)
		}
	}
	return n + n/8 // allocations come in sizes
}
