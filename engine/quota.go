package engine

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
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
	owners  map[string]*usage
	waiting map[askback.Principal]int
}

// usage is what one owner has open, and what is on its way to be.
type usage struct {
	open, coming atomic.Int64
	asked        []time.Time // within the last minute; under the lock of quota

	mu      sync.Mutex // held while the store is asked: only this owner waits
	counted time.Time  // zero: never
}

// countPause is how soon the store is asked again for somebody who is refused
// and tries again.
const countPause = 30 * time.Second

// reserve takes a place for one more ask of an owner, or returns
// [askback.ErrTooMany]. done gives it back: to the ask that was opened, or to
// nobody. The store is asked when an owner first comes, and again before it is
// refused.
func (e *Engine) reserve(ctx context.Context, owner string) (done func(opened bool), err error) {
	limit := int64(e.maxOpen())
	if limit == 0 {
		return func(bool) {}, nil
	}
	u := e.quota.usage(owner)
	u.mu.Lock()
	defer u.mu.Unlock()
	full := func() bool { return u.open.Load()+u.coming.Load() >= limit }
	if now := e.clock(); u.counted.IsZero() || full() && now.Sub(u.counted) >= countPause {
		n, err := e.count(ctx, owner)
		if err != nil {
			return nil, err
		}
		u.open.Store(int64(n))
		u.counted = now
	}
	if full() {
		return nil, &askback.RetryError{
			Err: askback.ErrTooMany, After: crowded,
			Why: fmt.Sprintf("this agent has %d open asks, as many as it may have; wait for answers, or withdraw some", limit),
		}
	}
	u.coming.Add(1)
	return func(opened bool) {
		if opened {
			u.open.Add(1)
		}
		u.coming.Add(-1)
	}, nil
}

// crowded is after what time an agent is told to come back for a place that only a
// person makes free.
const crowded = 10 * time.Second

// pace notes that an owner asks, or returns [askback.ErrTooFast], with the time until
// the next ask is taken, if it asked that often within the last minute.
func (q *quota) pace(owner string, limit int, now time.Time) error {
	if limit == 0 {
		return nil
	}
	u := q.usage(owner)
	q.mu.Lock()
	defer q.mu.Unlock()
	u.asked = slices.DeleteFunc(u.asked, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if n := len(u.asked); n >= limit {
		free := u.asked[n-limit].Add(time.Minute).Sub(now)
		return &askback.RetryError{
			Err: askback.ErrTooFast, After: free,
			Why: fmt.Sprintf("this agent asked %d times within a minute, as often as it may; the next ask is taken in %.0f s", n, math.Ceil(free.Seconds())),
		}
	}
	u.asked = append(u.asked, now)
	return nil
}

// maxOpen is how many asks of one owner may be open; 0 is no bound.
func (e *Engine) maxOpen() int {
	if n := e.settings.Load().MaxOpen; n > 0 {
		return n
	}
	return e.quota.maxOpen
}

// maxOwners is how many owners are remembered; past it, those with nothing on
// its way are forgotten and counted again when they come back.
const maxOwners = 10_000

func (q *quota) usage(owner string) *usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	if u := q.owners[owner]; u != nil {
		return u
	}
	if q.owners == nil {
		q.owners = map[string]*usage{}
	}
	if len(q.owners) >= maxOwners {
		maps.DeleteFunc(q.owners, func(_ string, old *usage) bool { return old.coming.Load() == 0 })
	}
	u := &usage{}
	q.owners[owner] = u
	return u
}

// count returns how many asks of an owner are open, up to the bound.
func (e *Engine) count(ctx context.Context, owner string) (n int, err error) {
	open := true
	query := store.Query{Kind: kindAsk, Owner: owner, Open: &open, Limit: listChunk}
	for n < e.maxOpen() {
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

// settled notes that an ask of an owner is not open any more. It may come before
// the note that it was opened.
func (q *quota) settled(owner string) {
	q.mu.Lock()
	u := q.owners[owner]
	q.mu.Unlock()
	if u != nil {
		u.open.Add(-1)
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
		return nil, &askback.RetryError{
			Err: askback.ErrTooMany, After: 2 * time.Second,
			Why: fmt.Sprintf("%d requests with this token wait already, as many as may; let one of them end first", q.maxWaiters),
		}
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
