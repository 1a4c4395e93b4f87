package auth

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

const (
	// UseInterval is the time between two calls of [Authority.StoreUses].
	UseInterval = time.Minute
	// useBatch is the maximum number of tokens in one change.
	useBatch = 100
)

// uses holds, for each token, the time of the last call with the token since the last StoreUses.
type uses struct {
	mu   sync.Mutex
	byID map[string]time.Time
}

// add records a call with a token.
func (u *uses) add(id string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byID == nil {
		u.byID = map[string]time.Time{}
	}
	if at.After(u.byID[id]) {
		u.byID[id] = at
	}
}

// ids returns the sorted ids of the tokens that were used.
func (u *uses) ids() (ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// last returns the time of the last call with a token: the stored time, or a later time.
func (u *uses) last(t askback.Token) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at := u.byID[t.ID]; at.After(t.LastUsedAt) {
		return at
	}
	return t.LastUsedAt
}

// remove removes the uses that are not later than their stored times.
func (u *uses) remove(stored map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range stored {
		if !u.byID[id].After(at) {
			delete(u.byID, id)
		}
	}
}

// StoreUses stores the last uses since the previous StoreUses, many tokens in one change. So a call with a
// token needs no write of its own.
func (a *Authority) StoreUses(ctx context.Context) error {
	for ids := range slices.Chunk(a.uses.ids(), useBatch) {
		var stored map[string]time.Time
		err := a.o.Update(ctx, func(ctx context.Context, tx Tx) (err error) {
			stored, err = a.putUses(ctx, tx, ids)
			return err
		})
		if err != nil {
			return err
		}
		a.uses.remove(stored)
	}
	return nil
}

// putUses adds to tx the tokens with these ids and the time of their last call, and returns these times. It
// adds no token that was deleted or cannot be read. The ids must be sorted, so that two changes cannot
// deadlock.
func (a *Authority) putUses(ctx context.Context, tx Tx, ids []string) (map[string]time.Time, error) {
	stored := map[string]time.Time{}
	for _, id := range ids {
		if err := tx.Lock(id); err != nil {
			return nil, err
		}
		row, err := a.o.Store.Read(ctx, KindToken, id)
		if err != nil && !errors.Is(err, askback.ErrNotFound) && !errors.Is(err, askback.ErrDamaged) {
			return nil, err
		}
		c := credential{}
		if err == nil {
			c, err = decode(row)
		}
		if stored[id] = a.uses.last(askback.Token{ID: id}); err != nil {
			continue // the token was deleted, or EachToken reports that it cannot be read
		}
		row, err = withUse(row, c, stored[id])
		if err != nil {
			return nil, err
		}
		tx.Put(row)
	}
	return stored, nil
}

// withUse returns the record of a token with the time of its last call: at, or a later stored time.
func withUse(row store.Record, c credential, at time.Time) (_ store.Record, err error) {
	row.Fixed = nil
	row.State, err = json.Marshal(moving{1, millis(c.RevokedAt), max(millis(at), millis(c.LastUsedAt))})
	return row, err
}
