package engine

import (
	"container/list"
	"sync"
)

// overhead is about what a cached ask takes beside the bytes it was read from:
// decoded, it is some three times as large.
const (
	overhead = 512
	decoded  = 3
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

// put remembers an ask, whose state takes so many bytes in the store, unless a
// newer version of it is remembered already.
func (c *cache) put(k known, moving int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byID[k.record.ID]; ok {
		if el.Value.(cached).record.Version > k.record.Version {
			return
		}
		c.remove(el)
	}
	cost := overhead + decoded*(k.fixed+moving)
	c.byID[k.record.ID] = c.recent.PushFront(cached{k, cost})
	c.used += cost
	for c.used > c.limit {
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
