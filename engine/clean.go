package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

const (
	// cleanInterval is the pause between two searches for old records. After an error the pause is shorter.
	cleanInterval = time.Hour
	// cleanBatch is the maximum number of records that one commit deletes. Other commits wait for that
	// commit, so it must take only a few milliseconds.
	cleanBatch = 64
	// cleanPause is the minimum pause after a commit that deletes records. The pause is at least as long as
	// the commit, so that the writer is free at least half of the time.
	cleanPause = 5 * time.Millisecond
)

// cleanLoop deletes old records until ctx ends. It runs on a goroutine of its own, so that deadlines do not
// wait for it.
func (e *Engine) cleanLoop(ctx context.Context) {
	retry := txn.DueRetry
	for ctx.Err() == nil {
		wait, err := cleanInterval, e.clean(ctx)
		if err == nil {
			retry = txn.DueRetry
		} else if ctx.Err() == nil {
			wait, retry = retry, min(2*retry, cleanInterval)
			e.db.Log.Error("old records could not be deleted", "error", err, "again", wait)
		}
		_ = txn.Sleep(ctx, wait, nil) // the loop ends with ctx
	}
}

// clean deletes the settled asks, the ended sessions and grants, and the other closed records that have not
// changed for the retention time. With asks and sessions it deletes their history. It keeps a session that
// still has asks, and asks and sessions with unsent deliveries. Without a retention time it does nothing.
func (e *Engine) clean(ctx context.Context) error {
	keep := e.db.Settings.Load().Retention
	if keep <= 0 {
		return nil
	}
	before := e.db.Clock().Add(-keep)
	var failed []error
	// the order of Kinds matters: a session is deleted after its asks, and a run after its session
	for _, k := range e.db.Kinds {
		if k.Delete != nil {
			failed = append(failed, e.cleanKind(ctx, k, before))
		}
	}
	return errors.Join(failed...)
}

// cleanKind deletes the closed records of one kind that were last changed at or before the given time. It
// reads from the oldest record and stops at the first record that was created after that time.
func (e *Engine) cleanKind(ctx context.Context, kind txn.Kind, before time.Time) error {
	q := store.Query{Kind: kind.Name, Open: new(false), Limit: txn.ListChunk, Scan: txn.ExamineChunk}
	var batch []store.Change
	for row, err := range e.db.Rows(ctx, q) {
		if more := (*store.MoreError)(nil); errors.As(err, &more) {
			continue // the records examined so far are old but still open, so the search continues
		}
		if err != nil {
			return err
		}
		if row.Created.After(before) {
			break
		}
		if row.Updated.After(before) {
			continue
		}
		c, err := kind.Delete(ctx, row)
		if err != nil {
			return txn.FromStore(err)
		}
		if len(c.Delete) > 0 {
			batch = append(batch, c)
		}
		if len(batch) >= cleanBatch {
			if err := e.deleteRecords(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return e.deleteRecords(ctx, batch)
}

// isDelivering reports whether one of these deliveries was neither sent nor given up. The record with the
// deliveries is kept, because a receiver would otherwise never get the delivery.
func isDelivering(all []askback.Delivery) bool {
	return slices.ContainsFunc(all, func(d askback.Delivery) bool {
		return d.Status == askback.DeliveryQueued || d.Status == askback.DeliveryWaiting
	})
}

// deleteAsk returns the change that deletes an ask with its history. The change is empty if a delivery of the
// ask was neither sent nor given up.
func deleteAsk(_ context.Context, r store.Record) (c store.Change, _ error) {
	if s, _ := txn.DecodeAsk(r); isDelivering(s.Deliveries) {
		return c, nil
	}
	filter := store.EventFilter{Stream: r.Stream, Subject: r.ID}
	if r.Stream == ids.Swap(r.ID, ids.Session) {
		filter.Subject = "" // the stream has events of this ask only, so all its events are deleted
	}
	c = txn.Deletion(r)
	c.Prune = []store.EventFilter{filter, {Stream: r.ID}} // the second stream has only the events for people
	c.Unindex = []string{r.ID}
	return c, nil
}

// deleteSession returns the change that deletes a session with its history. The change is empty if the
// session has asks, or a delivery that was neither sent nor given up.
func (e *Engine) deleteSession(ctx context.Context, r store.Record) (c store.Change, _ error) {
	if s, _ := txn.DecodeSession(r); isDelivering(s.Deliveries) {
		return c, nil
	}
	left, err := e.db.Store.List(ctx, store.Query{Kind: txn.KindAsk, Stream: r.ID, Limit: 1})
	if err != nil || len(left) > 0 {
		return c, err
	}
	c = txn.Deletion(r)
	c.Prune = []store.EventFilter{{Stream: r.ID}}
	return c, nil
}

// deleteJoined returns the change that deletes a joined key. The change is empty if the ask of the key still
// exists.
func (e *Engine) deleteJoined(ctx context.Context, r store.Record) (store.Change, error) {
	id, err := txn.DecodeJoined(r)
	if err != nil {
		return store.Change{}, nil //nolint:nilerr // a later release may be able to read it
	}
	return e.db.DeletionAfter(ctx, r, txn.KindAsk, id)
}

// deleteRecords commits changes that each delete a record, and then pauses. It keeps records that
// have changed since they were read.
func (e *Engine) deleteRecords(ctx context.Context, batch []store.Change) error {
	if len(batch) == 0 {
		return nil
	}
	begun := time.Now()
	if err := e.db.CommitEach(ctx, batch); err != nil {
		return err
	}
	for _, c := range batch {
		e.db.Cache.Drop(c.Delete[0].ID)
	}
	return txn.Sleep(ctx, max(cleanPause, time.Since(begun)), nil)
}
