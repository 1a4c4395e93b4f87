package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// approveByGrant approves a new confirmation by the newest grant that covers it. If no grant
// covers it, or if that grant is no longer valid, people answer the ask.
func (e *Engine) approveByGrant(t *txn.Tx, a *txn.AskRecord) error {
	if a.State.Ask.Kind != askback.Confirm {
		return nil
	}
	id, err := e.findGrant(t.Context(), a.State.Ask, t.Now())
	if err != nil || id == "" {
		return err
	}
	return e.cover(t, a, id)
}

// cover approves a pending confirmation by a grant. If the grant was deleted, has ended or does not cover the ask,
// cover changes nothing.
func (e *Engine) cover(t *txn.Tx, a *txn.AskRecord, id string) error {
	g, err := t.Grant(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	valid, err := e.people.RootValid(t.Context(), g.State.Grant.Token, g.State.Grant.By, t.Now())
	if err != nil || !valid || !g.Row.Open || !g.State.Grant.Covers(a.State.Ask, t.Now()) {
		return err // people answer the ask instead
	}
	return a.Step(t, lifecycle.Covered{Grant: g.State.Grant, At: t.Now()})
}

// findGrant returns the id of the newest grant that covers an ask, or "". It does not lock the grant, so the
// caller must read it again.
func (e *Engine) findGrant(ctx context.Context, a askback.Ask, now time.Time) (string, error) {
	q := store.Query{
		Kind: txn.KindGrant, Owner: a.Owner, Agent: a.Agent, Open: new(true), Newest: true, Limit: txn.ListChunk,
	}
	for row, err := range e.db.Rows(ctx, q) {
		if err != nil {
			return "", err
		}
		g, err := txn.DecodeGrant(row)
		if err != nil {
			e.db.LogUnreadable(row, err)
		} else if g.Grant.Covers(a, now) {
			return row.ID, nil
		}
	}
	return "", nil
}

// Grants implements [askback.Grants].
func (c *client) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	if err := c.Authorize(access.ActGrants); err != nil {
		return askback.GrantPage{}, err
	}
	if err := cmp.Or(q.Check(), txn.CheckCursor(ids.Grant, q.Cursor)); err != nil {
		return askback.GrantPage{}, err
	}
	from := store.Query{Kind: txn.KindGrant, Agent: q.Agent, Open: new(!q.Ended), Newest: true, After: q.Cursor}
	now := c.engine.db.Clock()
	valid := map[string]bool{}
	items, next, err := txn.ListPage(ctx,
		c.engine.db, from, q.Limit, func(row store.Record) (askback.Grant, bool, error) {
			state, err := txn.DecodeGrant(row)
			g := state.Grant
			if err == nil {
				g, err = c.ShownGrant(ctx, g)
			}
			if err == nil && !q.Ended {
				g.MakerEnded, err = c.engine.makerEnded(ctx, g, now, valid)
			}
			return g, q.Ended || now.Before(g.ExpiresAt), err // the grant may have expired before Run has closed it
		})
	if err != nil {
		return askback.GrantPage{}, fmt.Errorf("grants: %w", err)
	}
	return askback.GrantPage{Items: items, NextCursor: next}, nil
}

// makerEnded reports whether the token or sign-in of the person who made a grant has ended, so that the grant
// approves nothing. It caches the result for each maker in valid.
func (e *Engine) makerEnded(ctx context.Context, g askback.Grant, now time.Time, valid map[string]bool) (bool, error) {
	maker := g.Token + " " + g.By
	if _, known := valid[maker]; !known {
		ok, err := e.people.RootValid(ctx, g.Token, g.By, now)
		if err != nil {
			return false, err
		}
		valid[maker] = ok
	}
	return !valid[maker], nil
}

// Revoke implements [askback.Grants].
func (c *client) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	if err := c.Authorize(access.ActRevoke); err != nil {
		return askback.Grant{}, err
	}
	var g *txn.GrantRecord
	err := c.engine.db.Update(ctx, func(t *txn.Tx) (err error) {
		if g, err = t.Grant(id); err != nil {
			return err
		}
		return g.Step(t, lifecycle.GrantRevoked{By: c.Who.Name, Via: c.Who.Channel, At: t.Now()})
	})
	if err != nil {
		return askback.Grant{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return c.ShownGrant(ctx, g.State.Grant)
}

// grantKind returns the kind of the records of grants.
func (e *Engine) grantKind() txn.Kind {
	remove := func(_ context.Context, row store.Record) (store.Change, error) { return txn.Deletion(row), nil }
	return txn.Kind{Name: txn.KindGrant, Delete: remove, Due: e.stepDueGrant}
}

func (e *Engine) makeGrant(t *txn.Tx, f lifecycle.MakeGrant) error {
	g := txn.Add(t, store.Record{
		Kind: txn.KindGrant, ID: f.Grant.ID, Stream: f.SessionID, Owner: f.Grant.Owner, Agent: f.Grant.Agent,
		Created: f.At,
	}, lifecycle.GrantState{})
	return g.Step(t, lifecycle.GrantMade{Grant: f.Grant, At: f.At})
}

func (e *Engine) useGrant(t *txn.Tx, f lifecycle.UseGrant) error {
	g, err := t.Grant(f.ID)
	if err != nil {
		return err
	}
	return g.Step(t, lifecycle.GrantUsed{Ask: f.Ask, At: f.At})
}

func (e *Engine) requireGrant(t *txn.Tx, f lifecycle.RequireGrant) error {
	g, err := t.Grant(f.ID)
	if errors.Is(err, store.ErrNotFound) {
		return askback.ErrNotApproved
	}
	if err != nil {
		return err
	}
	valid, err := e.db.Valid(t.Context(), g.State.Grant.Token, g.State.Grant.By, f.At)
	if err != nil {
		return err
	}
	return g.Step(t, lifecycle.GrantRequired{MakerValid: valid, At: f.At})
}
