package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

const kindGrant = "grant"

// approveByGrant approves a new confirmation by the newest grant that covers it. If no grant
// covers it, or if that grant is no longer valid, people answer the ask.
func (e *Engine) approveByGrant(t *tx, a *askRecord) error {
	if a.state.Ask.Kind != askback.Confirm {
		return nil
	}
	id, err := e.findGrant(t.ctx, a.state.Ask, t.now)
	if err != nil || id == "" {
		return err
	}
	g, err := t.grant(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	valid, err := e.RootValid(t.ctx, g.state.Grant.Token, g.state.Grant.By, t.now)
	if err != nil || !valid || !g.row.Open || !g.state.Grant.Covers(a.state.Ask, t.now) {
		return err // people answer the ask instead
	}
	return a.step(t, lifecycle.Covered{Grant: g.state.Grant, At: t.now})
}

// findGrant returns the id of the newest grant that covers an ask, or "". It does not
// lock the grant, so the caller must read it again.
func (e *Engine) findGrant(ctx context.Context, a askback.Ask, now time.Time) (string, error) {
	q := store.Query{Kind: kindGrant, Owner: a.Owner, Agent: a.Agent, Open: new(true), Newest: true, Limit: listChunk}
	for row, err := range e.rows(ctx, q) {
		if err != nil {
			return "", err
		}
		g, err := decodeGrant(row)
		if err != nil {
			e.logUnreadable(row, err)
		} else if g.Grant.Covers(a, now) {
			return row.ID, nil
		}
	}
	return "", nil
}

// Grants implements [askback.Grants].
func (c *client) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	if err := c.authorize(access.ActGrants); err != nil {
		return askback.GrantPage{}, err
	}
	if err := cmp.Or(q.Check(), checkCursor(ids.Grant, q.Cursor)); err != nil {
		return askback.GrantPage{}, err
	}
	from := store.Query{Kind: kindGrant, Agent: q.Agent, Open: new(!q.Ended), Newest: true, After: q.Cursor}
	now := c.engine.clock()
	valid := map[string]bool{}
	items, next, err := listPage(ctx, c.engine, from, q.Limit, func(row store.Record) (askback.Grant, bool, error) {
		state, err := decodeGrant(row)
		g := state.Grant
		if err == nil {
			g, err = c.shownGrant(ctx, g)
		}
		if err == nil && !q.Ended {
			g.MakerEnded, err = c.engine.makerEnded(ctx, g, now, valid)
		}
		return g, q.Ended || now.Before(g.ExpiresAt), err // it may have expired before Run closed it
	})
	if err != nil {
		return askback.GrantPage{}, fmt.Errorf("grants: %w", err)
	}
	return askback.GrantPage{Items: items, NextCursor: next}, nil
}

// makerEnded reports whether the person who made a grant is no longer valid, so that the grant
// approves nothing. It keeps in valid which makers are valid.
func (e *Engine) makerEnded(ctx context.Context, g askback.Grant, now time.Time, valid map[string]bool) (bool, error) {
	maker := g.Token + " " + g.By
	if _, known := valid[maker]; !known {
		ok, err := e.RootValid(ctx, g.Token, g.By, now)
		if err != nil {
			return false, err
		}
		valid[maker] = ok
	}
	return !valid[maker], nil
}

// Revoke implements [askback.Grants].
func (c *client) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	if err := c.authorize(access.ActRevoke); err != nil {
		return askback.Grant{}, err
	}
	var g *grantRecord
	err := c.engine.update(ctx, func(t *tx) (err error) {
		if g, err = t.grant(id); err != nil {
			return err
		}
		return g.step(t, lifecycle.GrantRevoked{By: c.who.Name, Via: c.who.Channel, At: t.now})
	})
	if err != nil {
		return askback.Grant{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return c.shownGrant(ctx, g.state.Grant)
}

// grantKind returns the kind of the records of grants.
func (e *Engine) grantKind() kind {
	return kind{name: kindGrant, due: func(ctx context.Context, row store.Record) error {
		err := e.update(ctx, func(t *tx) error {
			g, err := t.grant(row.ID)
			if err != nil {
				return err
			}
			return g.step(t, lifecycle.GrantExpired{At: t.now})
		})
		if errors.Is(err, askback.ErrNotFound) {
			return nil
		}
		return err
	}}
}

func (t *tx) makeGrant(f lifecycle.MakeGrant) error {
	g := add(t, store.Record{
		Kind: kindGrant, ID: f.Grant.ID, Stream: f.SessionID, Owner: f.Grant.Owner, Agent: f.Grant.Agent, Created: f.At,
	}, lifecycle.GrantState{})
	return g.step(t, lifecycle.GrantMade{Grant: f.Grant, At: f.At})
}

func (t *tx) useGrant(f lifecycle.UseGrant) error {
	g, err := t.grant(f.ID)
	if err != nil {
		return err
	}
	return g.step(t, lifecycle.GrantUsed{Ask: f.Ask, At: f.At})
}

func (t *tx) requireGrant(f lifecycle.RequireGrant) error {
	g, err := t.grant(f.ID)
	if errors.Is(err, store.ErrNotFound) {
		return askback.ErrNotApproved
	}
	if err != nil {
		return err
	}
	valid, err := t.engine.RootValid(t.ctx, g.state.Grant.Token, g.state.Grant.By, f.At)
	if err != nil {
		return err
	}
	return g.step(t, lifecycle.GrantRequired{MakerValid: valid, At: f.At})
}
