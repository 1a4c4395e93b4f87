package engine

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/store"
)

// cleanPause is the time between two looks for what is kept no longer.
const cleanPause = time.Hour

// clean forgets what was settled, and ended, longer ago than the settings say
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
	for {
		records, err := e.store.List(ctx, q)
		if err != nil {
			return mine(err)
		}
		for _, r := range records {
			q.After = r.ID
			if r.Created.After(before) {
				return nil
			}
			if r.Updated.After(before) {
				continue
			}
			if err := e.cleanOne(ctx, r); err != nil && !errors.Is(err, store.ErrConflict) {
				return mine(err)
			}
		}
		if len(records) < q.Limit {
			return nil
		}
	}
}

// cleanOne forgets a record. If it changed meanwhile, it is not that old.
func (e *Engine) cleanOne(ctx context.Context, r store.Record) error {
	c := store.Change{Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}}}
	switch r.Kind {
	case kindAsk:
		k, err := decode(r)
		if err != nil {
			return err
		}
		lines := store.Lines{Stream: r.Stream, Subject: r.ID}
		if own(k.state.Ask) {
			lines.Subject = "" // nothing else ever happens there
		}
		c.Forget = []store.Lines{lines}
	case kindSession:
		left, err := e.store.List(ctx, store.Query{Kind: kindAsk, Stream: r.ID, Limit: 1})
		if err != nil || len(left) > 0 {
			return err
		}
		c.Forget = []store.Lines{{Stream: r.ID}}
	}
	if _, err := e.store.Commit(ctx, c); err != nil {
		return err
	}
	e.cache.drop(r.ID)
	return nil
}
