package txn

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
)

// A quota limits the open asks, the rate of asks and the waiting calls of each principal. So an agent that
// asks too much gets an error instead of filling the inbox.
type quota struct {
	maxOpen     int // 0: no limit
	MaxSessions int // 0: no limit
	maxWaiters  int // 0: no limit

	mu      sync.Mutex
	owners  map[string]*usage
	waiting map[askback.Principal]int
}

// usage counts the asks of one owner: open asks, and asks about to be opened.
type usage struct {
	open, reserved atomic.Int64
	askTimes       []time.Time // within the last minute; guarded by quota.mu

	Mu           sync.Mutex // locked while the asks are counted in the store, so that only this owner waits
	countedAt    time.Time  // zero: never
	SessionsFull time.Time  // the last time when the owner had too many sessions; guarded by Mu
}

// countPause is the minimum time between two counts of an owner's asks in the store. So repeated calls of an
// owner over its limit do not cause a count each.
const countPause = 30 * time.Second

// Reserve reserves one more open ask for an owner, or returns [askback.ErrTooMany]. The caller must call
// done, and pass true if the ask was opened. The first call for an owner counts the asks in the store. Before
// a rejection, the asks are counted again, at most once per countPause. Without a limit, nothing is counted.
// For a hosted agent only the limit of the settings applies, because each of its runs has at most one open
// ask.
func (db *DB) Reserve(ctx context.Context, owner string) (done func(opened bool), err error) {
	limit := int64(db.MaxOpen())
	if strings.HasPrefix(owner, askback.HostedPrefix) {
		limit = int64(db.Settings.Load().MaxOpen)
	}
	if limit <= 0 {
		return func(bool) {}, nil
	}
	u := db.Quota.Usage(owner)
	u.Mu.Lock()
	defer u.Mu.Unlock()
	full := func() bool { return u.open.Load()+u.reserved.Load() >= limit }
	if now := db.Clock(); u.countedAt.IsZero() || full() && now.Sub(u.countedAt) >= countPause {
		n, err := db.countOpenAsks(ctx, owner)
		if err != nil {
			return nil, err
		}
		u.open.Store(int64(n))
		u.countedAt = now
	}
	if full() {
		return nil, &askback.RetryError{
			Err: askback.ErrTooMany, After: FullRetryAfter,
			Why: fmt.Sprintf("this agent has %d open asks, the maximum; wait for answers, or withdraw some", limit),
		}
	}
	u.reserved.Add(1)
	return func(opened bool) {
		if opened {
			u.open.Add(1)
		}
		u.reserved.Add(-1)
	}, nil
}

// FullRetryAfter is the Retry-After time for an agent with too many open asks. Usually the agent can ask
// again only after a person has answered, so a shorter time is of no use.
const FullRetryAfter = 10 * time.Second

// LimitRate records an ask of an owner. If the owner has asked limit times within the last minute, LimitRate
// returns [askback.ErrTooFast]. The error then has the time until the next ask is accepted. A limit of 0 is
// no limit.
func (q *quota) LimitRate(owner string, limit int, now time.Time) error {
	if limit == 0 {
		return nil
	}
	u := q.Usage(owner)
	q.mu.Lock()
	defer q.mu.Unlock()
	u.askTimes = slices.DeleteFunc(u.askTimes, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if n := len(u.askTimes); n >= limit {
		free := u.askTimes[n-limit].Add(time.Minute).Sub(now)
		return &askback.RetryError{
			Err: askback.ErrTooFast, After: free,
			Why: fmt.Sprintf(
				"this agent asked %d times within a minute, the maximum; the next ask is accepted in %.0f s",
				n, math.Ceil(free.Seconds())),
		}
	}
	u.askTimes = append(u.askTimes, now)
	return nil
}

// MaxOpen returns the maximum number of open asks of one owner; 0 is no limit.
func (db *DB) MaxOpen() int {
	return cmp.Or(max(0, db.Settings.Load().MaxOpen), db.Quota.maxOpen)
}

// maxOwners is the number of owners whose usage is in memory. When it is reached, owners without a
// reservation are removed. At their next ask, their open asks are counted again and their rate starts anew.
const maxOwners = 10_000

// Usage returns the usage of an owner. It adds the owner at the first call.
func (q *quota) Usage(owner string) *usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	if u := q.owners[owner]; u != nil {
		return u
	}
	if len(q.owners) >= maxOwners {
		maps.DeleteFunc(q.owners, func(_ string, old *usage) bool { return old.reserved.Load() == 0 })
	}
	u := &usage{}
	q.owners[owner] = u
	return u
}

// countOpenAsks counts the open asks of an owner in the store. It stops at MaxOpen.
func (db *DB) countOpenAsks(ctx context.Context, owner string) (int, error) {
	n, err := db.Store.CountOpen(ctx, KindAsk, owner, db.MaxOpen())
	return n, FromStore(err)
}

// release decrements the open asks of an owner, if they are counted. It may run before the
// matching increment.
func (q *quota) release(owner string) {
	q.mu.Lock()
	u := q.owners[owner]
	q.mu.Unlock()
	if u != nil {
		u.open.Add(-1)
	}
}

// AddWaiter counts one more waiting call of a principal, or returns
// [askback.ErrTooMany]. The caller calls RemoveWaiter when the call no longer waits.
func (q *quota) AddWaiter(p askback.Principal) error {
	if q.maxWaiters == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[p] >= q.maxWaiters {
		return &askback.RetryError{
			Err: askback.ErrTooMany, After: 2 * time.Second,
			Why: fmt.Sprintf(
				"%d requests with this token are waiting, the maximum; wait until one of these requests ends",
				q.maxWaiters),
		}
	}
	q.waiting[p]++
	return nil
}

func (q *quota) RemoveWaiter(p askback.Principal) {
	if q.maxWaiters == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[p]--; q.waiting[p] == 0 {
		delete(q.waiting, p)
	}
}
