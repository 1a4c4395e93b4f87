package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// kindDraft is the kind of the records of drafts. They have no state machine and are
// deleted when they are due.
const kindDraft = "draft"

// draftTime is how long a draft is stored after its last change. The draft of a settled ask
// is no longer returned, but it is not deleted earlier.
const draftTime = 30 * 24 * time.Hour

// draftID returns the id of this person's draft for an ask.
func (c *client) draftID(id string) string { return id + "/" + c.who.Name }

// Draft implements [askback.Drafts].
func (c *client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	if err := c.authorizePending(ctx, access.ActDraft, id); err != nil {
		if errors.Is(err, askback.ErrSettled) {
			err = nil
		}
		return nil, err
	}
	r, err := c.engine.store.Read(ctx, kindDraft, c.draftID(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return r.State, fromStore(err)
}

// SaveDraft implements [askback.Drafts].
func (c *client) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	if err := c.authorizePending(ctx, access.ActDraft, id); err != nil {
		return err
	}
	if err := askback.CheckDraft(draft); err != nil {
		return err
	}
	return c.engine.update(ctx, func(t *tx) error {
		if err := t.Lock(c.draftID(id)); err != nil {
			return err
		}
		row, err := c.engine.store.Read(t.ctx, kindDraft, c.draftID(id))
		if errors.Is(err, store.ErrNotFound) {
			row = store.Record{Kind: kindDraft, ID: c.draftID(id), Owner: c.who.Name, Created: t.now, Fixed: []byte(`{"v":1}`)}
		} else if err != nil {
			return err
		} else {
			row.Fixed = nil
		}
		row.State, row.Updated, row.Due = draft, t.now, t.now.Add(draftTime)
		t.Put(row)
		return nil
	})
}

// authorizePending returns an error unless this principal may do an action on an ask. The
// error is [askback.ErrSettled] if the ask is settled.
func (c *client) authorizePending(ctx context.Context, action access.Action, id string) error {
	if err := c.authorize(action); err != nil {
		return err
	}
	a, err := c.engine.read(ctx, id)
	if err == nil {
		err = c.authorizeAsk(action, &a.state)
	}
	if err == nil && a.state.Ask.Settled() {
		err = askback.ErrSettled
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", action, id, err)
	}
	return nil
}
