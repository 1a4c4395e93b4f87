package txn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// updateTime is the maximum duration of an update with its retries. It also limits the time to read back a
// change after [store.ErrUnknown].
const updateTime = 5 * time.Second

// Update runs fn on a new [Tx] and commits the changes of the tx. After the commit it publishes the new
// states. After a conflict it runs fn again on a new tx, until ctx ends. So fn must be repeatable and commit
// nothing itself. After updateTime the error is [askback.ErrBusy].
//
// If fn returns an error, nothing is committed, with one exception. After [askback.ErrSettled], the deadline
// that has passed and the record of a late answer (F6) are committed, and the error is returned.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, updateTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := db.try(limited, attempt, fn)
		if !errors.Is(err, store.ErrConflict) {
			return timeoutCause(limited, FromStore(err))
		}
		if err := backOff(limited, attempt); err != nil {
			return err
		}
	}
}

// try makes one attempt at an update. It releases the locks of the tx at the end, after the changes were
// published. If only the record of a late answer cannot be committed, it logs the error of the commit and
// returns the error of fn.
func (db *DB) try(ctx context.Context, attempt int, fn func(*Tx) error) error {
	t := db.begin(ctx, attempt)
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
		db.Log.Warn("a late answer is not in the history", "error", err)
	}
	return refused
}

// isStale reports whether another process has changed or deleted an ask of the tx. The tx may have this ask
// from the cache. isStale is called when fn has returned an error, because a commit would then be a conflict.
func (t *Tx) isStale() bool {
	for _, r := range t.Records {
		a, ok := r.(*AskRecord)
		if !ok || a.Row.Version == 0 {
			continue
		}
		row, err := t.DB.Store.Read(t.ctx, KindAsk, a.Row.ID)
		if err == nil && row.Version != a.Row.Version || errors.Is(err, store.ErrNotFound) {
			t.DB.Cache.Drop(a.Row.ID)
			return true
		}
	}
	return false
}

// commit performs the effects of the steps, commits the changes and publishes them. If the
// commit fails, it removes the records of the tx from the cache.
func (t *Tx) commit() error {
	if err := t.PerformEffects(); err != nil {
		return err
	}
	for _, r := range t.Records {
		if err := r.Encode(t); err != nil {
			return err
		}
	}
	if len(t.Change.Put)+len(t.Change.Delete)+len(t.Change.Done)+len(t.Change.Release) == 0 {
		return nil
	}
	commit := t.DB.commit
	if t.Exclusive {
		commit = t.DB.commitExclusive
	}
	if err := commit(t.ctx, t.Change); err != nil {
		for _, r := range t.Records {
			t.DB.Cache.Drop(r.ID()) // the cached record may be older than the version of another process
		}
		if errors.Is(err, store.ErrUnknown) {
			t.DB.Hub.wakeFollowers(t.Change.Events) // waiters read whether it was committed
		}
		return err
	}
	t.publish()
	return nil
}

// publish sets the timers, caches the changed asks and wakes waiters and followers. It is
// called after the commit.
func (t *Tx) publish() {
	e := t.DB
	for _, r := range t.Change.Put {
		e.Due.Set(r.Due)
	}
	for _, f := range t.Change.Effects {
		if f.Due.IsZero() {
			f.Due = t.now
		}
		e.Effects.Set(f.Due)
	}
	for _, d := range t.Change.Done {
		e.Effects.Set(d.Retry)
	}
	if len(t.Change.Release) > 0 {
		e.Effects.Set(t.now)
	}
	for _, r := range t.Records {
		if a, ok := r.(*AskRecord); ok && a.changed {
			e.publishAsk(a)
		}
	}
	e.Hub.wakeFollowers(t.Change.Events)
}

// publishAsk caches an ask that was just committed. It notifies the observer and, if the ask is settled, its
// waiters. The record must not be changed any more.
func (db *DB) publishAsk(a *AskRecord) {
	if a.closes {
		db.Quota.release(a.Row.Owner)
	}
	history := a.history
	a.changed, a.closes, a.history = false, false, nil
	a.Row.Version++
	db.Cache.put(a)
	if a.State.Ask.Settled() {
		db.Hub.notifyWaiters(a)
	}
	if a.Held || len(a.State.Held) > 0 {
		db.Hub.notifyHeld()
	}
	for _, h := range history {
		db.observer.Committed(h.Type, a.State.Ask)
	}
}

// commit commits a change. If the store returns [store.ErrUnknown], it reads back one record of the change to
// find out whether the commit succeeded.
func (db *DB) commit(ctx context.Context, c store.Change) error {
	if len(c.Delete)+len(c.Prune) > 0 {
		defer db.Hub.Forget() // the change may have deleted events
	}
	_, err := db.Store.Commit(ctx, c)
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), updateTime)
	defer cancel()
	if db.wasCommitted(ctx, c) {
		return nil
	}
	return err
}

// CommitEach commits changes together. If the result is a conflict, it commits each change on its own. It
// then omits a change that is a conflict itself, because the change is no longer needed. CommitEach is for
// changes that depend on no record that was read: they need no lock, and a retry would not help. All other
// changes use [DB.Update].
func (db *DB) CommitEach(ctx context.Context, all []store.Change) error {
	var c store.Change
	for _, one := range all {
		c.Done, c.Delete = append(c.Done, one.Done...), append(c.Delete, one.Delete...)
		c.Prune, c.Unindex = append(c.Prune, one.Prune...), append(c.Unindex, one.Unindex...)
	}
	if len(all) == 0 {
		return nil
	}
	err := db.commit(ctx, c)
	if !errors.Is(err, store.ErrConflict) || len(all) == 1 {
		all = nil
	}
	for _, one := range all {
		if err = db.commit(ctx, one); err != nil && !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return FromStore(err)
}

// commitExclusive commits a change that must not be mistaken for an equal change of another process. It reads
// nothing back after [store.ErrUnknown].
func (db *DB) commitExclusive(ctx context.Context, c store.Change) error {
	_, err := db.Store.Commit(ctx, c)
	return err
}

// wasCommitted reports whether the store has the state after a commit. It examines the first record that the
// change puts. Without such a record, it examines the first record that the change deletes.
func (db *DB) wasCommitted(ctx context.Context, c store.Change) bool {
	switch {
	case len(c.Put) > 0:
		want := c.Put[0]
		got, err := db.Store.Read(ctx, want.Kind, want.ID)
		return err == nil && got.Version == want.Version+1 && string(got.State) == string(want.State)
	case len(c.Delete) > 0:
		_, err := db.Store.Read(ctx, c.Delete[0].Kind, c.Delete[0].ID)
		return errors.Is(err, store.ErrNotFound)
	}
	return false
}

// backOff waits before the next attempt. It does not wait before the second attempt, which often finds the
// record that another caller has made. Later it waits for a random time, whose maximum doubles with each
// attempt, up to 64 ms.
func backOff(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return nil
	}
	return Sleep(ctx, rand.N(time.Millisecond<<min(attempt, 6)), nil)
}

// Sleep waits for d, or for a value of wake. It returns the cause of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
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
