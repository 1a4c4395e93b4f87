package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// join returns the pending ask of this principal with the same content, marked as repeated, if the route
// joins equal questions. Otherwise found is nil. Confirmations are not joined, because each approval is for
// one call. The caller must call done after the commit of the new ask. Until then, equal questions wait. If
// err is not nil, done is nil.
func (c *client) join(ctx context.Context, n *txn.NewAsk) (found *askback.Ask, done func(), err error) {
	if !n.Route.Join || n.Asked.Ask.Kind != askback.Questions {
		return nil, func() {}, nil
	}
	lock := "join:" + c.OwnerKey(n.Asked.Request)
	if err := c.engine.db.Locks.Lock(ctx, lock); err != nil {
		return nil, nil, err
	}
	done = func() { c.engine.db.Locks.Unlock(lock) }
	q := store.Query{Kind: txn.KindAsk, Owner: c.Who.Name, Open: new(true), Limit: txn.ListChunk}
	for row, err := range c.engine.db.Rows(ctx, q) {
		if err != nil {
			done()
			return nil, nil, txn.FromStore(err)
		}
		state, err := txn.DecodeAsk(row)
		if err == nil && state.Request == n.Asked.Request {
			state.Ask.Repeated = true
			return &state.Ask, done, nil
		}
	}
	return nil, done, nil
}

// accept returns the ask that join has found, as the reply to a request. It counts the request for the rate
// limit. It also records the key of the request, so that a repeat returns the same ask for as long as that
// ask is stored.
func (c *client) accept(ctx context.Context, n *txn.NewAsk, found *askback.Ask) (*askback.Ask, error) {
	if err := c.engine.db.Quota.LimitRate(c.Who.Name, c.engine.db.Settings.Load().AsksPerMinute,
		c.engine.db.Clock()); err != nil {
		return c.findOr(ctx, n, err) // a request with this key may have been joined meanwhile
	}
	if n.Key == "" {
		return found, nil
	}
	state, err := json.Marshal(txn.JoinedState{Ask: found.ID})
	if err != nil {
		return nil, err
	}
	var earlier *askback.Ask
	err = c.engine.db.Update(ctx, func(t *txn.Tx) (err error) {
		if t.Attempt > 0 { // another process may have recorded the key
			if earlier, err = c.findByKey(t.Context(), n); !errors.Is(err, askback.ErrNotFound) {
				return err
			}
		}
		id, err := t.DB.IDs.New(ids.JoinedKey, t.Now())
		if err != nil {
			return err
		}
		t.Put(store.Record{
			Kind: txn.KindJoined, ID: id, Key: n.Key, Owner: c.Who.Name, Created: t.Now(), Updated: t.Now(),
			Fixed: []byte(`{"v":1}`), State: state,
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask: record the key: %w", err)
	}
	return cmp.Or(earlier, found), nil
}

// joins reports whether any route of the settings joins equal questions.
func joins(s *Settings) bool {
	return slices.ContainsFunc(s.Routes, func(r askback.Route) bool { return r.Join })
}
