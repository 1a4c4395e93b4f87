package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/store"
)

// A dueTimer holds the time until which a loop of [Engine.Run] sleeps. One serves all
// records, and another one all effects.
type dueTimer struct {
	mu   sync.Mutex
	next time.Time     // zero: unknown, or no deadline
	wake chan struct{} // capacity 1
}

// set sets the next time to at if no time or a later one is set, and then wakes the loop.
// The zero time changes nothing.
func (a *dueTimer) set(at time.Time) {
	if !at.IsZero() && a.expect(at) {
		offer(a.wake, struct{}{})
	}
}

// clear removes the next time. The loop calls it before it queries the store, so that a
// call of set during the query causes another query.
func (a *dueTimer) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = time.Time{}
}

// expect sets the next time, unless the same or an earlier one is set. It reports whether
// it did.
func (a *dueTimer) expect(at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sooner := a.next.IsZero() || at.Before(a.next)
	if sooner {
		a.next = at
	}
	return sooner
}

// wait sleeps until the next time, or until ctx ends. If no time is set, it returns at once.
func (a *dueTimer) wait(ctx context.Context, clock func() time.Time) {
	for ctx.Err() == nil {
		a.mu.Lock()
		d := a.next.Sub(clock())
		a.mu.Unlock()
		if d <= 0 {
			return
		}
		_ = sleep(ctx, d, a.wake) // the loop ends with ctx
	}
}

const (
	dueBatch    = 64               // records that are stepped concurrently
	dueInterval = time.Minute      // the longest time between two queries
	dueRetry    = time.Second      // the pause after a first failure
	dueMaxRetry = 15 * time.Second // the longest pause after repeated failures
)

// Run processes deadlines, performs effects, starts the runs of schedules, deletes old records, fills the index for searches
// and stores when tokens were last used, until ctx ends. Then it waits for running effects,
// whose context it cancels after ten seconds, and that of deliveries after two. It returns nil.
// One goroutine and one timer wait for all deadlines.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.ReadDirectory(ctx); err != nil && ctx.Err() == nil {
		e.log.Error("asks are refused until people, groups and routes can be read", "error", err)
	}
	var group sync.WaitGroup
	group.Go(func() { e.cleanLoop(ctx) })
	group.Go(func() { e.performLoop(ctx) })
	group.Go(func() { e.scheduleLoop(ctx) })
	group.Go(func() { e.indexLoop(ctx) })
	group.Go(func() { e.useLoop(ctx) })
	defer group.Wait()
	pause, watch := dueRetry, clockWatch{newest: e.newestTime(ctx)}
	for ctx.Err() == nil {
		watch.check(e)
		wait, err := e.fireDue(ctx)
		if err == nil {
			pause = dueRetry
		} else if ctx.Err() == nil {
			e.log.Error("some deadlines could not be processed", "error", err, "again", pause)
			wait, pause = min(wait, pause), min(2*pause, dueMaxRetry)
		}
		_ = sleep(ctx, wait, e.due.wake) // the loop ends with ctx
	}
	return nil
}

// fireDue steps all records that are due and returns the time until the next one is due, at
// most dueInterval. A record that cannot be stepped does not delay the others. The returned
// error contains the errors of these records, or that of the store.
func (e *Engine) fireDue(ctx context.Context) (time.Duration, error) {
	e.due.clear()
	failed := map[string]error{} // by id
	for {
		now := e.clock()
		enough := dueBatch + len(failed) // failed records are still due, and come first
		records, err := e.store.Due(ctx, now, enough)
		if err != nil {
			return dueInterval, err
		}
		full := len(records) == enough && len(failed) < maxFailed
		records = slices.DeleteFunc(records, func(r store.Record) bool { return failed[r.ID] != nil })
		e.stepDue(ctx, records, failed)
		if full {
			continue
		}
		next, err := e.nextDue(ctx, now, enough)
		e.due.expect(next)
		return max(next.Sub(now), 0), errors.Join(append(slices.Collect(maps.Values(failed)), err)...)
	}
}

// maxFailed is the number of failed records at which fireDue reads no further batch.
const maxFailed = 4096

// nextDue returns when the next record is due after now, or now plus dueInterval if it finds
// none that is due before. It reads as many records as enough, because those that failed are
// still due and come first.
func (e *Engine) nextDue(ctx context.Context, now time.Time, enough int) (time.Time, error) {
	look := now.Add(dueInterval)
	records, err := e.store.Due(ctx, look, enough)
	for _, r := range records {
		if r.Due.After(now) {
			return r.Due, err
		}
	}
	return look, err
}

// stepDue steps records concurrently, so that the store can commit them together, and
// adds the errors to failed.
func (e *Engine) stepDue(ctx context.Context, records []store.Record, failed map[string]error) {
	var (
		group sync.WaitGroup
		slots = make(chan struct{}, dueBatch)
		errs  = make([]error, len(records))
	)
	for i, r := range records {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = e.stepRecord(ctx, r)
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			failed[records[i].ID] = err
		}
	}
}

// deleteExpired deletes a record that has no state machine. A conflict means that the
// record was changed or deleted after it was read, so it is not an error.
func (e *Engine) deleteExpired(ctx context.Context, r store.Record) error {
	return e.commitEach(ctx, []store.Change{{Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}}}})
}
