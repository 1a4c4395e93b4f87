package engine

import (
	"errors"

	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

func (e *Engine) notifySession(t *txn.Tx, f lifecycle.NotifySession) error {
	s, err := t.Session(f.ID)
	switch {
	case errors.Is(err, store.ErrNotFound) && f.MustExist:
		return store.ErrConflict // the session was deleted since its id was read
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return s.Step(t, f.Input)
}

// cancelOpenAsks cancels the open asks of a session without locking them. Settling an ask needs the lock of
// the session, which the tx has. Any other concurrent step is a conflict.
func (e *Engine) cancelOpenAsks(t *txn.Tx, f lifecycle.CancelOpenAsks) error {
	q := store.Query{Kind: txn.KindAsk, Stream: f.SessionID, Open: new(true), Limit: txn.ListChunk}
	for row, err := range t.DB.Rows(t.Context(), q) {
		if err != nil {
			return err
		}
		if txn.Find[lifecycle.AskState](t, row.ID) != nil {
			continue // this tx has settled the ask
		}
		state, err := txn.DecodeAsk(row)
		if err != nil {
			return err
		}
		a := txn.Add(t, row, state)
		a.Held = len(state.Held) > 0
		if err := a.Step(t, f.Input); err != nil {
			return err
		}
	}
	return nil
}
