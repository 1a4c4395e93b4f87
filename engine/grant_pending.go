package engine

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// maxExamined is the number of pending asks that one step of a due grant examines. An agent may have more, so the
// grant then stays due. In between, other records that are due are stepped.
const maxExamined = 100

// stepDueGrant approves the pending asks that a new grant covers, and ends a grant that has expired. Each ask is
// approved in a tx of its own. If the process ends in between, the grant is still due, and another process
// continues.
func (e *Engine) stepDueGrant(ctx context.Context, row store.Record) error {
	state, err := txn.DecodeGrant(row)
	if err != nil {
		return err
	}
	examines, after := state.Examines(e.db.Clock()), ""
	if examines {
		if after, err = e.approvePending(ctx, state); err != nil {
			return err
		}
	}
	err = e.db.Update(ctx, func(t *txn.Tx) error {
		g, err := t.Grant(row.ID)
		if err != nil {
			return err
		}
		if examines {
			if err := g.Step(t, lifecycle.GrantExamined{After: after, At: t.Now()}); err != nil {
				return err
			}
		}
		return g.Step(t, lifecycle.GrantExpired{At: t.Now()})
	})
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}

// approvePending approves the pending asks that a grant covers, at most maxExamined after the last ask that was
// examined. It returns the id of the last ask, or "" if there are no more. An ask that cannot be approved stays
// pending, and people answer it.
func (e *Engine) approvePending(ctx context.Context, g lifecycle.GrantState) (after string, err error) {
	q, examined := txn.PendingFor(g.Grant), 0
	q.After = g.After
	for row, err := range e.db.Rows(ctx, q) {
		if err != nil {
			return "", err
		}
		a, err := txn.DecodeAsk(row)
		if err != nil {
			e.db.LogUnreadable(row, err)
		} else if txn.Coverable(&a, g.Grant, e.db.Clock()) {
			err = e.approvePendingAsk(ctx, row.ID, g.Grant.ID)
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			e.db.Log.Warn("a standing approval could not approve a pending ask", "grant", g.Grant.ID, "ask", row.ID,
				"error", err)
		}
		if examined++; examined == maxExamined {
			return row.ID, nil
		}
	}
	return "", nil
}

// approvePendingAsk approves an ask by a grant. It changes nothing if the ask was settled or is being answered,
// or if the grant has ended.
func (e *Engine) approvePendingAsk(ctx context.Context, id, grant string) error {
	err := e.db.Update(ctx, func(t *txn.Tx) error {
		a, err := t.AskNow(id)
		if err != nil {
			return err
		}
		if a.State.Ask.Settled() || len(a.State.Held) > 0 {
			return nil
		}
		return e.cover(t, a, grant)
	})
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}
