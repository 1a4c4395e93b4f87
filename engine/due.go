package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// alarm is the one timer for all deadlines: when the next one is, as far as
// [Engine.Run] knows.
type alarm struct {
	mu   sync.Mutex
	next time.Time // zero: Run has not looked yet, or there is none
	rang chan struct{}
}

// set wakes Run when something is due before it means to wake by itself.
func (a *alarm) set(at time.Time) {
	if at.IsZero() {
		return
	}
	a.mu.Lock()
	sooner := a.next.IsZero() || at.Before(a.next)
	if sooner {
		a.next = at
	}
	a.mu.Unlock()
	if !sooner {
		return
	}
	select {
	case a.rang <- struct{}{}:
	default:
	}
}

// clear forgets the next time while Run looks, so that whatever is set
// meanwhile makes it look again.
func (a *alarm) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = time.Time{}
}

// expect notes what Run found, unless something sooner was set meanwhile.
func (a *alarm) expect(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next.IsZero() || at.Before(a.next) {
		a.next = at
	}
}

const (
	dueAtOnce  = 64               // records looked up and stepped at once, into one commit
	dueLook    = time.Minute      // the longest time between two looks
	dueRecover = time.Second      // the pause after a look that went wrong,
	dueTired   = 15 * time.Second // and after many
)

// Run makes deadlines pass, and deletes what is kept no longer, until ctx ends, and
// returns nil then. One goroutine and one timer serve all deadlines; another
// goroutine deletes.
func (e *Engine) Run(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { e.keepClean(ctx) })
	defer group.Wait()
	pause := dueRecover
	for ctx.Err() == nil {
		wait, err := e.fireDue(ctx)
		if err == nil {
			pause = dueRecover
		} else if ctx.Err() == nil {
			e.log.Error("some deadlines were not looked after", "error", err, "again", pause)
			wait, pause = min(wait, pause), min(2*pause, dueTired)
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-e.due.rang:
		case <-t.C:
		}
		t.Stop()
	}
	return nil
}

// fireDue steps what is due, and says how long nothing else will be. What could
// not be stepped is an error, and holds up nothing else.
func (e *Engine) fireDue(ctx context.Context) (time.Duration, error) {
	e.due.clear()
	stuck := map[string]error{} // what could not be stepped, by id
	for {
		now := e.clock()
		enough := dueAtOnce + len(stuck) // what is stuck stands in front, and is passed by
		records, err := e.store.Due(ctx, now, enough)
		if err != nil {
			return dueLook, err
		}
		full := len(records) == enough && len(stuck) < maxStuck
		records = slices.DeleteFunc(records, func(r store.Record) bool { return stuck[r.ID] != nil })
		e.stepDue(ctx, records, stuck)
		if full {
			continue
		}
		next, err := e.upcoming(ctx, now, enough)
		e.due.expect(next)
		return max(next.Sub(now), 0), errors.Join(append(slices.Collect(maps.Values(stuck)), err)...)
	}
}

// maxStuck bounds what is passed by: past it, something else is wrong.
const maxStuck = 4096

// upcoming returns when something is due after now, or when to look again.
func (e *Engine) upcoming(ctx context.Context, now time.Time, enough int) (time.Time, error) {
	look := now.Add(dueLook)
	records, err := e.store.Due(ctx, look, enough)
	for _, r := range records {
		if r.Due.After(now) {
			return r.Due, err
		}
	}
	return look, err
}

// stepDue steps records beside each other, so that they share commits, and notes
// those that could not be.
func (e *Engine) stepDue(ctx context.Context, records []store.Record, stuck map[string]error) {
	var (
		group sync.WaitGroup
		slots = make(chan struct{}, dueAtOnce)
		errs  = make([]error, len(records))
	)
	for i, r := range records {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = e.stepOne(ctx, r)
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			stuck[records[i].ID] = err
		}
	}
}

func (e *Engine) stepOne(ctx context.Context, r store.Record) error {
	switch r.Kind {
	case kindAsk:
	case kindGrant:
		return e.expire(ctx, r.ID)
	case kindToken, kindLogin, kindDraft:
		return e.forget(ctx, r)
	default:
		return fmt.Errorf("%s %s is due, and this release does not know what that is", r.Kind, r.ID)
	}
	_, err := e.step(ctx, r.ID, func(_ lifecycle.State, now time.Time) (lifecycle.Event, error) {
		return lifecycle.Due{At: now}, nil
	})
	return err
}

// forget deletes a record without a machine whose time is over. If it changed
// meanwhile, its time was put off.
func (e *Engine) forget(ctx context.Context, r store.Record) error {
	err := e.commit(ctx, store.Change{Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}}})
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return mine(err)
}
