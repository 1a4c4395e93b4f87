package engine

import (
	"context"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// quota bounds what one principal may have open at once, so that an agent that
// floods is told so instead of filling the inbox.
type quota struct {
	maxOpen    int // 0: no bound
	maxWaiters int

	mu      sync.Mutex
	open    map[string]int // by owner, counted in the store when first needed
	waiting map[askback.Principal]int
}

// admit says whether an owner may open one more ask, or [askback.ErrTooMany].
// What is remembered may be too high after a crash of somebody else's; so it is
// counted again before anybody is refused.
func (e *Engine) admit(ctx context.Context, owner string) error {
	q := &e.quota
	if q.maxOpen == 0 {
		return nil
	}
	q.mu.Lock()
	n, known := q.open[owner]
	q.mu.Unlock()
	if known && n < q.maxOpen {
		return nil
	}
	open := true
	records, err := e.store.List(ctx, store.Query{Kind: kindAsk, Owner: owner, Open: &open, Limit: min(q.maxOpen, store.MaxList)})
	if err != nil {
		return err
	}
	q.mu.Lock()
	if q.open == nil {
		q.open = map[string]int{}
	}
	q.open[owner] = len(records)
	q.mu.Unlock()
	if len(records) >= q.maxOpen {
		return askback.ErrTooMany
	}
	return nil
}

// opened notes that an owner has so many open asks more.
func (q *quota) opened(owner string, more int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n, known := q.open[owner]; known {
		q.open[owner] = n + more
	}
}

// join counts a waiter in, or returns [askback.ErrTooMany].
func (q *quota) join(p askback.Principal) (leave func(), err error) {
	if q.maxWaiters == 0 {
		return func() {}, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[askback.Principal]int{}
	}
	if q.waiting[p] >= q.maxWaiters {
		return nil, askback.ErrTooMany
	}
	q.waiting[p]++
	return func() { q.leave(p) }, nil
}

func (q *quota) leave(p askback.Principal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[p]--; q.waiting[p] == 0 {
		delete(q.waiting, p)
	}
}
