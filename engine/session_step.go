package engine

import (
	"errors"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

func (t *tx) notifySession(f lifecycle.NotifySession) error {
	s, err := t.session(f.ID)
	switch {
	case errors.Is(err, store.ErrNotFound) && f.MustExist:
		return store.ErrConflict // it was deleted since its id was read
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return s.step(t, f.Input)
}

// cancelOpenAsks cancels the open asks of a session. It does not lock them. Settling one
// of them needs the lock of the session, which the tx has. Any other step at the same time
// is a conflict.
func (t *tx) cancelOpenAsks(f lifecycle.CancelOpenAsks) error {
	q := store.Query{Kind: kindAsk, Stream: f.SessionID, Open: new(true), Limit: listChunk}
	for row, err := range t.engine.rows(t.ctx, q) {
		if err != nil {
			return err
		}
		if find[lifecycle.AskState](t, row.ID) != nil {
			continue // it is settled in this tx
		}
		state, err := decodeAsk(row)
		if err != nil {
			return err
		}
		a := add(t, row, state)
		a.held = len(state.Held) > 0
		if err := a.step(t, f.Input); err != nil {
			return err
		}
	}
	return nil
}
