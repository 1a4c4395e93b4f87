package engine

import (
	"context"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// quota bounds what one principal may have open at once, so that an agent that
// floods is told so instead of filling the inbox.
type quota struct {
	maxOpen    int // 0: no bound
	maxWaiters int

	mu      sync.Mutex
	owners  map[string]*usage // counted in the store when first needed
	waiting map[askback.Principal]int
}

// usage is what one owner has open, and what is on its way to be.
type usage struct {
	open, coming int
	counted      time.Time
}

// countPause is how soon the store is asked again for somebody who is refused
// and tries again.
const countPause = 30 * time.Second

// reserve takes a place for one more ask of an owner, or returns
// [askback.ErrTooMany]. done gives it back: to the ask that was opened, or to
// nobody. Before anybody is refused, the store is asked again.
func (e *Engine) reserve(ctx context.Context, owner string) (done func(opened bool), err error) {
	q := &e.quota
	if q.maxOpen == 0 {
		return func(bool) {}, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.owners[owner]
	now := e.clock()
	if u == nil || u.open+u.coming >= q.maxOpen && now.Sub(u.counted) >= countPause {
		n, err := e.count(ctx, owner)
		if err != nil {
			return nil, err
		}
		if u == nil {
			u = &usage{}
			q.keep(owner, u)
		}
		u.open, u.counted = n, now
	}
	if u.open+u.coming >= q.maxOpen {
		return nil, askback.ErrTooMany
	}
	u.coming++
	return func(opened bool) {
		q.mu.Lock()
		defer q.mu.Unlock()
		u.coming--
		if opened {
			u.open++
		}
	}, nil
}

// maxOwners is how many owners are remembered; past it, those with nothing on
// its way are forgotten and counted again when they come back.
const maxOwners = 10_000

func (q *quota) keep(owner string, u *usage) {
	if q.owners == nil {
		q.owners = map[string]*usage{}
	}
	if len(q.owners) >= maxOwners {
		for name, old := range q.owners {
			if old.coming == 0 {
				delete(q.owners, name)
			}
		}
	}
	q.owners[owner] = u
}

// count returns how many asks of an owner are open, up to the bound.
func (e *Engine) count(ctx context.Context, owner string) (n int, err error) {
	open := true
	query := store.Query{Kind: kindAsk, Owner: owner, Open: &open, Limit: listChunk}
	for n < e.quota.maxOpen {
		records, err := e.store.List(ctx, query)
		if err != nil {
			return 0, err
		}
		n += len(records)
		if len(records) < query.Limit {
			break
		}
		query.After = records[len(records)-1].ID
	}
	return n, nil
}

// settled notes that an ask of an owner is not open any more.
func (q *quota) settled(owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if u := q.owners[owner]; u != nil && u.open > 0 {
		u.open--
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
