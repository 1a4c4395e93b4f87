package txn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/store"
)

// A dueTimer holds the time until which a loop of the engine sleeps. One timer serves all records, and
// another timer all effects.
type dueTimer struct {
	mu   sync.Mutex
	next time.Time     // the next time; zero if it is unknown or there is no deadline
	Wake chan struct{} // capacity 1
}

// Set sets the next time to at and wakes the loop, unless at is zero or the same or an earlier time is set.
func (a *dueTimer) Set(at time.Time) {
	if !at.IsZero() && a.Expect(at) {
		offer(a.Wake, struct{}{})
	}
}

// Clear removes the next time. The loop calls Clear before it queries the store. So a call of Set during the
// query causes another query.
func (a *dueTimer) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = time.Time{}
}

// Expect sets the next time, unless the same or an earlier time is set. It reports whether it did.
func (a *dueTimer) Expect(at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sooner := a.next.IsZero() || at.Before(a.next)
	if sooner {
		a.next = at
	}
	return sooner
}

// Wait sleeps until the next time, or until ctx ends. If no time is set, it returns immediately.
func (a *dueTimer) Wait(ctx context.Context, clock func() time.Time) {
	for ctx.Err() == nil {
		a.mu.Lock()
		d := a.next.Sub(clock())
		a.mu.Unlock()
		if d <= 0 {
			return
		}
		_ = Sleep(ctx, d, a.Wake) // the loop ends with ctx
	}
}

const (
	dueBatch    = 64               // records that are stepped concurrently
	dueInterval = time.Minute      // the longest time between two queries
	DueRetry    = time.Second      // the pause after a first failure
	DueMaxRetry = 15 * time.Second // the longest pause after repeated failures
)

// FireDue steps all records that are due and returns the time until the next record is due, at most
// dueInterval. A record that cannot be stepped does not delay the other records. The returned error contains
// the errors of these records, or the error of the store.
func (db *DB) FireDue(ctx context.Context) (time.Duration, error) {
	db.Due.Clear()
	failed := map[string]error{} // by id
	for {
		now := db.Clock()
		enough := dueBatch + len(failed) // failed records are still due, and come first
		records, err := db.Store.Due(ctx, now, enough)
		if err != nil {
			return dueInterval, err
		}
		full := len(records) == enough && len(failed) < maxFailed
		records = slices.DeleteFunc(records, func(r store.Record) bool { return failed[r.ID] != nil })
		db.stepDue(ctx, records, failed)
		if full {
			continue
		}
		next, err := db.nextDue(ctx, now, enough)
		db.Due.Expect(next)
		return max(next.Sub(now), 0), errors.Join(append(slices.Collect(maps.Values(failed)), err)...)
	}
}

// maxFailed is the number of failed records at which FireDue reads no further batch.
const maxFailed = 4096

// nextDue returns the time at which the next record is due after now, or now plus dueInterval if it finds no
// such record. It skips the failed records, which are still due and come first.
func (db *DB) nextDue(ctx context.Context, now time.Time, enough int) (time.Time, error) {
	look := now.Add(dueInterval)
	records, err := db.Store.Due(ctx, look, enough)
	for _, r := range records {
		if r.Due.After(now) {
			return r.Due, err
		}
	}
	return look, err
}

// stepDue steps records concurrently, so that the store can commit them together, and
// adds the errors to failed.
func (db *DB) stepDue(ctx context.Context, records []store.Record, failed map[string]error) {
	var (
		group sync.WaitGroup
		slots = make(chan struct{}, dueBatch)
		errs  = make([]error, len(records))
	)
	for i, r := range records {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = db.stepRecord(ctx, r)
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			failed[records[i].ID] = err
		}
	}
}

// DeleteExpired deletes a record that has no state machine. A conflict is not an error: the record was
// changed or deleted after it was read.
func (db *DB) DeleteExpired(ctx context.Context, r store.Record) error {
	return db.CommitEach(ctx, []store.Change{Deletion(r)})
}

// Deletion returns the change that deletes a record.
func Deletion(r store.Record) store.Change {
	return store.Change{Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}}}
}

// DeletionAfter returns the change that deletes a record if the record with the given kind and id
// was deleted. Otherwise the change is empty.
func (db *DB) DeletionAfter(ctx context.Context, r store.Record, kind, id string) (store.Change, error) {
	if _, err := db.Store.Read(ctx, kind, id); !errors.Is(err, store.ErrNotFound) {
		return store.Change{}, err
	}
	return Deletion(r), nil
}
