package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// updateTime is the maximum duration of an update with its retries, and of reading back a
// change after [store.ErrUnknown].
const updateTime = 5 * time.Second

// update runs fn on a new [tx] and commits the changes of the tx. After the commit it
// publishes the new states.
//
// After a conflict it runs fn again on a new tx, until ctx ends. So fn must be repeatable
// and commit nothing itself. After updateTime the error is [askback.ErrBusy].
//
// If fn returns an error, nothing is committed. The one exception is [askback.ErrSettled]:
// the deadline that has passed and the record of a late answer (F6) are committed, and the
// error is returned.
func (e *Engine) update(ctx context.Context, fn func(*tx) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, updateTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := e.try(limited, attempt, fn)
		if !errors.Is(err, store.ErrConflict) {
			return timeoutCause(limited, fromStore(err))
		}
		if err := backOff(limited, attempt); err != nil {
			return err
		}
	}
}

// try makes one attempt at an update. It releases the locks of the tx at the end, after the
// changes were published. If only the record of a late answer cannot be committed, it logs
// that and returns the error of fn.
func (e *Engine) try(ctx context.Context, attempt int, fn func(*tx) error) error {
	t := e.begin(ctx, attempt)
	committed := false
	defer func() {
		t.releaseLocks()
		if committed {
			t.reuse()
		}
	}()
	refused := fn(t)
	if refused != nil && !errors.Is(refused, askback.ErrSettled) {
		if t.isStale() {
			return store.ErrConflict
		}
		return refused
	}
	err := t.commit()
	committed = err == nil
	if refused == nil || errors.Is(err, store.ErrConflict) || err != nil && t.settles() {
		return err
	}
	if err != nil {
		e.log.Warn("a late answer is not in the history", "error", err)
	}
	return refused
}

// isStale reports whether another process has changed an ask of the tx, which may be from the
// cache. It is called for a tx that is refused: committing it would be a conflict.
func (t *tx) isStale() bool {
	for _, r := range t.records {
		a, ok := r.(*askRecord)
		if !ok || a.row.Version == 0 {
			continue
		}
		row, err := t.engine.store.Read(t.ctx, kindAsk, a.row.ID)
		if err == nil && row.Version != a.row.Version || errors.Is(err, store.ErrNotFound) {
			t.engine.cache.drop(a.row.ID)
			return true
		}
	}
	return false
}

// commit performs the effects of the steps, commits the changes and publishes them. If the
// commit fails, it removes the records of the tx from the cache.
func (t *tx) commit() error {
	if err := t.performEffects(); err != nil {
		return err
	}
	for _, r := range t.records {
		if err := r.encode(t); err != nil {
			return err
		}
	}
	if len(t.change.Put)+len(t.change.Delete)+len(t.change.Done) == 0 {
		return nil
	}
	commit := t.engine.commit
	if t.exclusive {
		commit = t.engine.commitExclusive
	}
	if err := commit(t.ctx, t.change); err != nil {
		for _, r := range t.records {
			t.engine.cache.drop(r.id()) // it may be older than the version of another process
		}
		if errors.Is(err, store.ErrUnknown) {
			t.engine.hub.wakeFollowers(t.change.Events) // they read whether it was committed
		}
		return err
	}
	t.publish()
	return nil
}

// publish sets the timers, caches the changed asks and wakes waiters and followers. It is
// called after the commit.
func (t *tx) publish() {
	e := t.engine
	for _, r := range t.change.Put {
		e.due.set(r.Due)
	}
	for _, f := range t.change.Effects {
		if f.Due.IsZero() {
			f.Due = t.now
		}
		e.effects.set(f.Due)
	}
	for _, d := range t.change.Done {
		e.effects.set(d.Retry)
	}
	if len(t.change.Release) > 0 {
		e.effects.set(t.now)
	}
	for _, r := range t.records {
		if a, ok := r.(*askRecord); ok && a.changed {
			e.publishAsk(a)
		}
	}
	e.hub.wakeFollowers(t.change.Events)
}

// publishAsk caches an ask that was just committed, and notifies the observer and, if the
// ask is settled, its waiters. The record must not be changed any more.
func (e *Engine) publishAsk(a *askRecord) {
	if a.closes {
		e.quota.release(a.row.Owner)
	}
	history := a.history
	a.changed, a.closes, a.history = false, false, nil
	a.row.Version++
	e.cache.put(a)
	if a.state.Ask.Settled() {
		e.hub.notifyWaiters(a)
	}
	if a.held || len(a.state.Held) > 0 {
		e.hub.notifyHeld()
	}
	for _, h := range history {
		e.observer.Committed(h.Type, a.state.Ask)
	}
}

// commit commits a change. If the store returns [store.ErrUnknown], it reads back
// one record of the change to learn whether the commit succeeded.
func (e *Engine) commit(ctx context.Context, c store.Change) error {
	if len(c.Delete)+len(c.Prune) > 0 {
		defer e.hub.dropPages() // they may have deleted events
	}
	_, err := e.store.Commit(ctx, c)
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), updateTime)
	defer cancel()
	if e.wasCommitted(ctx, c) {
		return nil
	}
	return err
}

// commitEach commits changes together, and each on its own if that is a conflict. A change that
// is a conflict then is not needed any more, and is left out. It is for changes that read nothing: they
// need no lock, and repeating one would not help. [Engine.update] is for all others.
func (e *Engine) commitEach(ctx context.Context, all []store.Change) error {
	var c store.Change
	for _, one := range all {
		c.Done, c.Delete = append(c.Done, one.Done...), append(c.Delete, one.Delete...)
		c.Prune, c.Unindex = append(c.Prune, one.Prune...), append(c.Unindex, one.Unindex...)
	}
	if len(all) == 0 {
		return nil
	}
	err := e.commit(ctx, c)
	if !errors.Is(err, store.ErrConflict) || len(all) == 1 {
		all = nil
	}
	for _, one := range all {
		if err = e.commit(ctx, one); err != nil && !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return fromStore(err)
}

// commitExclusive commits a change that must not be mistaken for an equal one of another
// process. It reads nothing back after [store.ErrUnknown].
func (e *Engine) commitExclusive(ctx context.Context, c store.Change) error {
	_, err := e.store.Commit(ctx, c)
	return err
}

// wasCommitted reports whether the first record that a change puts, or else the
// first that it deletes, is in the store as after the commit.
func (e *Engine) wasCommitted(ctx context.Context, c store.Change) bool {
	switch {
	case len(c.Put) > 0:
		want := c.Put[0]
		got, err := e.store.Read(ctx, want.Kind, want.ID)
		return err == nil && got.Version == want.Version+1 && string(got.State) == string(want.State)
	case len(c.Delete) > 0:
		_, err := e.store.Read(ctx, c.Delete[0].Kind, c.Delete[0].ID)
		return errors.Is(err, store.ErrNotFound)
	}
	return false
}

// fromStore translates the errors of a store into those of package askback.
func fromStore(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return askback.ErrNotFound
	case errors.Is(err, store.ErrFull):
		return askback.ErrFull
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed):
		return askback.ErrStopping // the process also ends after a failed write
	case errors.Is(err, store.ErrDiskFull):
		return askback.ErrDiskFull
	case errors.Is(err, store.ErrUnknown):
		return fmt.Errorf("%w: %v", askback.ErrUnknown, err)
	case errors.Is(err, store.ErrConflict):
		return askback.ErrBusy
	}
	var damaged store.DamagedError
	if errors.As(err, &damaged) {
		return askback.DamagedError{ID: damaged.ID}
	}
	return err
}

// timeoutCause returns the cause of ctx if err is the error of ctx, and err otherwise. So
// an update that has taken too long returns [askback.ErrBusy].
func timeoutCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// backOff waits before the next attempt. It does not wait before the second one, which often
// finds what another caller has made. Then it waits for a random time, whose maximum doubles
// with each attempt, up to 64 ms.
func backOff(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return nil
	}
	return sleep(ctx, rand.N(time.Millisecond<<min(attempt, 6)), nil)
}

// sleep waits for d, or for a value of wake. It returns the cause of ctx if that ends
// first.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-wake:
	case <-t.C:
	}
	return nil
}
