package engine

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

const (
	// cleanPause is the time between two looks for what is kept no longer.
	cleanPause = time.Hour
	// cleanAtOnce is how many records one change deletes. A change holds up those
	// that wait for the writer, so it takes a few milliseconds and not more.
	cleanAtOnce = 64
	// cleanRest is the shortest pause between two changes. A longer one is as long
	// as the change before it took: the writer is free at least half of the time.
	cleanRest = 5 * time.Millisecond
)

// keepClean deletes what is kept no longer, until ctx ends. It has a goroutine of its
// own: deadlines do not wait for it.
func (e *Engine) keepClean(ctx context.Context) {
	retry := dueRecover
	for ctx.Err() == nil {
		wait, err := cleanPause, e.clean(ctx)
		if err == nil {
			retry = dueRecover
		} else if ctx.Err() == nil {
			wait, retry = retry, min(2*retry, cleanPause)
			e.log.Error("what is kept no longer could not be deleted", "error", err, "again", wait)
		}
		_ = rest(ctx, wait) // the loop ends with ctx
	}
}

// clean deletes what was settled, and ended, longer ago than the settings say
// (E9), with its history. What is open stays, however old. It looks from the
// oldest on and stops at what is too young to have been settled that long ago.
func (e *Engine) clean(ctx context.Context) error {
	keep := e.settings.Load().Retention
	if keep <= 0 {
		return nil
	}
	before := e.clock().Add(-keep)
	return errors.Join(
		e.cleanKind(ctx, kindAsk, before),
		e.cleanKind(ctx, kindSession, before), // when its asks are gone
		e.cleanKind(ctx, kindGrant, before),
	)
}

func (e *Engine) cleanKind(ctx context.Context, kind string, before time.Time) error {
	closed := false
	q := store.Query{Kind: kind, Open: &closed, Limit: listChunk}
	var c store.Change
	for {
		records, err := e.store.List(ctx, q)
		if err != nil {
			return mine(err)
		}
		old := true
		for _, r := range records {
			q.After = r.ID
			if old = !r.Created.After(before); !old {
				break
			}
			if r.Updated.After(before) {
				continue
			}
			if err := e.outdated(ctx, &c, r); err != nil {
				return mine(err)
			}
		}
		last := !old || len(records) < q.Limit
		if len(c.Delete) >= cleanAtOnce || last {
			if err := e.remove(ctx, c); err != nil {
				return mine(err)
			}
			c = store.Change{}
		}
		if last {
			return nil
		}
	}
}

// outdated adds to a change that a record is deleted, with its history.
func (e *Engine) outdated(ctx context.Context, c *store.Change, r store.Record) error {
	switch r.Kind {
	case kindAsk:
		lines := store.Lines{Stream: r.Stream, Subject: r.ID}
		if r.Stream == ids.Swap(r.ID, ids.Session) {
			lines.Subject = "" // nothing else ever happens there
		}
		c.Forget = append(c.Forget, lines)
	case kindSession:
		left, err := e.store.List(ctx, store.Query{Kind: kindAsk, Stream: r.ID, Limit: 1})
		if err != nil || len(left) > 0 {
			return err
		}
		c.Forget = append(c.Forget, store.Lines{Stream: r.ID})
	}
	c.Delete = append(c.Delete, store.Ref{Kind: r.Kind, ID: r.ID, Version: r.Version})
	return nil
}

// remove commits a change that deletes records, and then leaves the writer to others
// for a while. If one of the records has changed since, it is not outdated, and the
// others are deleted one by one.
func (e *Engine) remove(ctx context.Context, c store.Change) error {
	if len(c.Delete) == 0 {
		return nil
	}
	begun := time.Now()
	err := e.commit(ctx, c)
	if errors.Is(err, store.ErrConflict) && len(c.Delete) > 1 {
		err = e.removeEach(ctx, c)
	}
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	for _, d := range c.Delete {
		e.cache.drop(d.ID)
	}
	return rest(ctx, max(cleanRest, time.Since(begun)))
}

func (e *Engine) removeEach(ctx context.Context, c store.Change) error {
	for i, d := range c.Delete {
		one := store.Change{Delete: []store.Ref{d}}
		if len(c.Forget) > 0 {
			one.Forget = c.Forget[i : i+1]
		}
		if err := e.commit(ctx, one); err != nil && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}
