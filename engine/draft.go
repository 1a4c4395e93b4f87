package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// kindDraft is the kind of the records of drafts. They have no state machine and are
// deleted when they are due.
const kindDraft = "draft"

// draftTime is how long a draft is stored after its last change. After the ask is settled, the draft is no
// longer returned, but it is still stored for this time.
const draftTime = 30 * 24 * time.Hour

// draftID returns the id of this person's draft for an ask.
func (c *client) draftID(id string) string { return id + "/" + c.Who.Name }

// Draft implements [askback.Drafts].
func (c *client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	if err := c.AuthorizePending(ctx, access.ActDraft, id); err != nil {
		if errors.Is(err, askback.ErrSettled) {
			err = nil
		}
		return nil, err
	}
	r, err := c.engine.db.Store.Read(ctx, kindDraft, c.draftID(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return r.State, txn.FromStore(err)
}

// SaveDraft implements [askback.Drafts].
func (c *client) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	if err := c.AuthorizePending(ctx, access.ActDraft, id); err != nil {
		return err
	}
	if err := askback.CheckDraft(draft); err != nil {
		return err
	}
	return c.engine.db.Update(ctx, func(t *txn.Tx) error {
		if err := t.Lock(c.draftID(id)); err != nil {
			return err
		}
		row, err := c.engine.db.Store.Read(t.Context(), kindDraft, c.draftID(id))
		if errors.Is(err, store.ErrNotFound) {
			row = store.Record{
				Kind: kindDraft, ID: c.draftID(id), Owner: c.Who.Name, Created: t.Now(), Fixed: []byte(`{"v":1}`),
			}
		} else if err != nil {
			return err
		} else {
			row.Fixed = nil
		}
		row.State, row.Updated, row.Due = draft, t.Now(), t.Now().Add(draftTime)
		t.Put(row)
		return nil
	})
}
