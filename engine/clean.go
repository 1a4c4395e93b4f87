package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

const (
	// cleanInterval is the pause between two searches for old records. After an error it is
	// shorter.
	cleanInterval = time.Hour
	// cleanBatch is how many records one commit deletes at most. Other commits wait for that
	// commit, so it must take only a few milliseconds.
	cleanBatch = 64
	// cleanPause is the shortest pause after a commit that deletes records. The pause is at
	// least as long as the commit, so that the writer is free at least half of the time.
	cleanPause = 5 * time.Millisecond
)

// cleanLoop deletes old records until ctx ends. It has its own goroutine, so that
// deadlines do not wait for it.
func (e *Engine) cleanLoop(ctx context.Context) {
	retry := dueRetry
	for ctx.Err() == nil {
		wait, err := cleanInterval, e.clean(ctx)
		if err == nil {
			retry = dueRetry
		} else if ctx.Err() == nil {
			wait, retry = retry, min(2*retry, cleanInterval)
			e.log.Error("old records could not be deleted", "error", err, "again", wait)
		}
		_ = sleep(ctx, wait, nil) // the loop ends with ctx
	}
}

// clean deletes the settled asks and the ended sessions and grants that have not changed for
// the retention time. With asks and sessions it deletes their history. It keeps a session
// that still has asks, and what still has deliveries. Without a retention time it does nothing.
func (e *Engine) clean(ctx context.Context) error {
	keep := e.settings.Load().Retention
	if keep <= 0 {
		return nil
	}
	before := e.clock().Add(-keep)
	return errors.Join(
		e.cleanKind(ctx, kindAsk, before),
		e.cleanKind(ctx, kindSession, before), // after asks: a session that still has one is kept
		e.cleanKind(ctx, kindRun, before),     // after sessions
		e.cleanKind(ctx, kindJoined, before),  // after asks, too
		e.cleanKind(ctx, kindGrant, before),
	)
}

// cleanKind deletes the closed records of one kind that were last changed at or before
// the given time. It reads from the oldest record and stops at the first that was created
// later.
func (e *Engine) cleanKind(ctx context.Context, kind string, before time.Time) error {
	q := store.Query{Kind: kind, Open: new(false), Limit: listChunk, Scan: examineChunk}
	var c store.Change
	for row, err := range e.rows(ctx, q) {
		if more := (*store.MoreError)(nil); errors.As(err, &more) {
			continue // old records that are still open may be many
		}
		if err != nil {
			return err
		}
		if row.Created.After(before) {
			break
		}
		if row.Updated.After(before) || isDelivering(row) {
			continue
		}
		if err := e.addDeletion(ctx, &c, row); err != nil {
			return fromStore(err)
		}
		if len(c.Delete) >= cleanBatch {
			if err := e.deleteRecords(ctx, c); err != nil {
				return fromStore(err)
			}
			c = store.Change{}
		}
	}
	return fromStore(e.deleteRecords(ctx, c))
}

// isDelivering reports whether a record has a delivery that was neither sent nor given up.
// Such a record is kept: otherwise its receiver would never get it, and no one would know.
func isDelivering(row store.Record) bool {
	var all []askback.Delivery
	switch row.Kind {
	case kindAsk:
		s, _ := decodeAsk(row)
		all = s.Deliveries
	case kindSession:
		s, _ := decodeSession(row)
		all = s.Deliveries
	}
	return slices.ContainsFunc(all, func(d askback.Delivery) bool {
		return d.Status == askback.DeliveryQueued || d.Status == askback.DeliveryWaiting
	})
}

// addDeletion adds the deletion of a record to a change, and for an ask or a session that
// of its history. A session that still has asks is skipped, and so is the key of an ask that is
// still there.
func (e *Engine) addDeletion(ctx context.Context, c *store.Change, r store.Record) error {
	switch r.Kind {
	case kindAsk:
		filter := store.EventFilter{Stream: r.Stream, Subject: r.ID}
		if r.Stream == ids.Swap(r.ID, ids.Session) {
			filter.Subject = "" // the stream has only this ask
		}
		c.Prune = append(c.Prune, filter, store.EventFilter{Stream: r.ID}) // the second one has the events for people only
		c.Unindex = append(c.Unindex, r.ID)
	case kindSession:
		left, err := e.store.List(ctx, store.Query{Kind: kindAsk, Stream: r.ID, Limit: 1})
		if err != nil || len(left) > 0 {
			return err
		}
		c.Prune = append(c.Prune, store.EventFilter{Stream: r.ID})
	case kindRun:
		if _, err := e.store.Read(ctx, kindSession, r.ID); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	case kindJoined:
		id, err := decodeJoined(r)
		if err != nil {
			return nil //nolint:nilerr // a later release may be able to read it
		}
		if _, err := e.store.Read(ctx, kindAsk, id); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	c.Delete = append(c.Delete, store.Ref{Kind: r.Kind, ID: r.ID, Version: r.Version})
	return nil
}

// deleteRecords commits a change that deletes records, and then pauses. If some of the
// records have changed since they were read, these are kept and the others are deleted one
// by one. A change without records is not committed.
func (e *Engine) deleteRecords(ctx context.Context, c store.Change) error {
	if len(c.Delete) == 0 {
		return nil
	}
	begun := time.Now()
	err := e.commit(ctx, c)
	if errors.Is(err, store.ErrConflict) && len(c.Delete) > 1 {
		err = e.deleteEach(ctx, c)
	}
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	for _, d := range c.Delete {
		e.cache.drop(d.ID)
	}
	return sleep(ctx, max(cleanPause, time.Since(begun)), nil)
}

// deleteEach commits each deletion of a change, with the deletion of its history,
// separately. It ignores conflicts.
func (e *Engine) deleteEach(ctx context.Context, c store.Change) error {
	for i, d := range c.Delete {
		one := store.Change{Delete: []store.Ref{d}}
		for _, f := range c.Prune {
			if f.Subject == d.ID || f.Stream == d.ID || f.Stream == ids.Swap(d.ID, ids.Session) {
				one.Prune = append(one.Prune, f)
			}
		}
		if len(c.Unindex) > 0 {
			one.Unindex = c.Unindex[i : i+1]
		}
		if err := e.commit(ctx, one); err != nil && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}
