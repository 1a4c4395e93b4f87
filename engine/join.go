package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// join returns the pending ask of this principal with the same content, marked as repeated, if
// the route of a question joins equal ones. Otherwise it returns nil. Confirmations are not
// joined, because each approval is for one call. The caller calls done when the new ask is
// committed: until then, equal questions wait.
func (c *client) join(ctx context.Context, n *newAsk) (found *askback.Ask, done func(), err error) {
	if !n.route.Join || n.asked.Ask.Kind != askback.Questions {
		return nil, func() {}, nil
	}
	lock := "join:" + c.ownerKey(n.asked.Request)
	if err := c.engine.locks.lock(ctx, lock); err != nil {
		return nil, nil, err
	}
	done = func() { c.engine.locks.unlock(lock) }
	q := store.Query{Kind: kindAsk, Owner: c.who.Name, Open: new(true), Limit: listChunk}
	for row, err := range c.engine.rows(ctx, q) {
		if err != nil {
			done()
			return nil, nil, fromStore(err)
		}
		state, err := decodeAsk(row)
		if err == nil && state.Request == n.asked.Request {
			state.Ask.Repeated = true
			return &state.Ask, done, nil
		}
	}
	return nil, done, nil
}

// kindJoined is the kind of the records of the idempotency keys of requests that were joined to
// an ask: its own record has only the first key. They are never open, and are deleted after their
// ask.
const kindJoined = "joined_key"

// joinedState is the state of the record of such a key.
type joinedState struct {
	Ask string `json:"ask"` // its id
}

// accept makes an ask that was found by join the reply to a request, which counts as one. It
// records the key of the request, so that a repeat is answered by the same ask for as long as
// that is stored.
func (c *client) accept(ctx context.Context, n *newAsk, found *askback.Ask) (*askback.Ask, error) {
	if err := c.engine.quota.limitRate(c.who.Name, c.engine.settings.Load().AsksPerMinute, c.engine.clock()); err != nil {
		return c.findOr(ctx, n, err) // a request with this key may have been joined meanwhile
	}
	if n.key == "" {
		return found, nil
	}
	state, err := json.Marshal(joinedState{found.ID})
	if err != nil {
		return nil, err
	}
	var earlier *askback.Ask
	err = c.engine.update(ctx, func(t *tx) (err error) {
		if t.attempt > 0 { // another process may have recorded the key
			if earlier, err = c.findByKey(t.ctx, n); !errors.Is(err, askback.ErrNotFound) {
				return err
			}
		}
		id, err := t.engine.ids.New(ids.JoinedKey, t.now)
		if err != nil {
			return err
		}
		t.Put(store.Record{
			Kind: kindJoined, ID: id, Key: n.key, Owner: c.who.Name, Created: t.now, Updated: t.now, Fixed: []byte(`{"v":1}`), State: state,
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask: record the key: %w", err)
	}
	return cmp.Or(earlier, found), nil
}

// decodeJoined returns the id of the ask of the record of a key.
func decodeJoined(row store.Record) (string, error) {
	var state joinedState
	state, err := readable(state, json.Unmarshal(row.State, &state))
	return state.Ask, err
}

// readKey returns the record of the ask that was made with a key, or was the reply to a request
// with it that was joined. The error is [store.ErrNotFound] for any other key.
func (c *client) readKey(ctx context.Context, key string) (store.Record, error) {
	row, err := c.engine.store.ReadKey(ctx, kindAsk, key)
	if !errors.Is(err, store.ErrNotFound) {
		return row, err
	}
	joined, err := c.engine.store.ReadKey(ctx, kindJoined, key)
	if err != nil {
		return store.Record{}, err
	}
	id, err := decodeJoined(joined)
	if err != nil {
		return store.Record{}, err
	}
	return c.engine.store.Read(ctx, kindAsk, id)
}

// joins reports whether a route joins equal questions.
func (s *Settings) joins() bool {
	return slices.ContainsFunc(s.Routes, func(r askback.Route) bool { return r.Join })
}
