package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// draftTime is how long a draft is stored after its last change. When its ask is
// settled it is no longer returned, and its record is deleted when it is due.
const draftTime = 30 * 24 * time.Hour

// draftID returns the id of this person's draft for an ask.
func (s *client) draftID(id string) string { return id + "/" + s.who.Name }

// Draft implements [askback.Drafts].
func (s *client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	if err := s.authorizeDraft(ctx, id); err != nil {
		if errors.Is(err, askback.ErrSettled) {
			err = nil
		}
		return nil, err
	}
	r, err := s.engine.store.Read(ctx, kindDraft, s.draftID(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return r.State, fromStore(err)
}

// SaveDraft implements [askback.Drafts].
func (s *client) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	if err := s.authorizeDraft(ctx, id); err != nil {
		return err
	}
	if err := askback.CheckDraft(draft); err != nil {
		return err
	}
	unlock, err := s.engine.locks.lock(ctx, s.draftID(id))
	if err != nil {
		return err
	}
	defer unlock()
	return retryOnConflict(ctx, func(ctx context.Context) error { return s.saveDraft(ctx, id, draft) })
}

func (s *client) saveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	now := s.engine.clock()
	r, err := s.engine.store.Read(ctx, kindDraft, s.draftID(id))
	if errors.Is(err, store.ErrNotFound) {
		r, err = store.Record{Kind: kindDraft, ID: s.draftID(id), Owner: s.who.Name, Created: now, Fixed: []byte(`{"v":1}`)}, nil
	} else {
		r.Fixed = nil
	}
	if err != nil {
		return err
	}
	r.State, r.Updated, r.Due = draft, now, now.Add(draftTime)
	return s.engine.commit(ctx, store.Change{Put: []store.Record{r}})
}

// authorizeDraft returns an error unless this person may answer the ask. The error
// is [askback.ErrSettled] if the ask is settled.
func (s *client) authorizeDraft(ctx context.Context, id string) error {
	if err := s.authorize(askback.ActDraft); err != nil {
		return err
	}
	k, err := s.engine.read(ctx, id)
	if err == nil {
		err = s.authorizeAsk(askback.ActDraft, k.state)
	}
	if err == nil && k.state.Ask.Settled() {
		err = askback.ErrSettled
	}
	if err != nil {
		return fmt.Errorf("draft %s: %w", id, err)
	}
	return nil
}
