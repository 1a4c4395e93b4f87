package engine

import (
	"context"
	"iter"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
)

// Messages implements [askback.Sessions].
func (c *client) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	page, err := c.feedRoom.Messages(ctx, id, cursor, limit)
	if err == nil {
		c.recordReader(ctx, id)
	}
	return page, err
}

// Events implements [askback.Events].
func (c *client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		if sessionID != "" && c.Who.Kind == askback.Agent {
			_ = c.engine.db.Apart(func() error { // the goroutine of the stream keeps a small stack
				c.recordReader(ctx, sessionID)
				return nil
			})
		}
		c.feedRoom.Events(ctx, sessionID, after)(yield)
	}
}

// recordReader records that the agent of a session reads what people write to it, so that pages offer to write.
// It writes once for each session. It does nothing for people, for hosted sessions, for sessions of other agents
// and for implicit sessions. An error is only logged: it must not keep the agent from reading.
func (c *client) recordReader(ctx context.Context, id string) {
	if c.Who.Kind != askback.Agent {
		return
	}
	row, err := c.engine.db.Store.Read(ctx, txn.KindSession, id)
	if err != nil || row.Owner != c.Who.Name {
		return
	}
	state, err := txn.DecodeSession(row)
	if err != nil || state.Session.Hosted || state.Session.ReadsMessages || state.Session.Final() {
		return
	}
	err = c.engine.db.Update(ctx, func(t *txn.Tx) error {
		found, err := t.Session(id)
		if err != nil {
			return err
		}
		return found.Step(t, lifecycle.MessagesRead{})
	})
	if err != nil && ctx.Err() == nil {
		c.engine.db.Log.Warn("it could not be recorded that an agent reads messages", "session", id, "error", err)
	}
}
