package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

const kindGrant = "grant"

// approveByGrant approves a new ask by a grant that covers it, if there is one.
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
	valid, err := e.grantorValid(t.ctx, g.state.Grant, t.now)
	if err != nil || !valid || !g.row.Open || !g.state.Grant.Covers(a.state.Ask, t.now) {
		return err // people answer the ask instead
	}
	return a.step(t, lifecycle.Covered{Grant: g.state.Grant, At: t.now})
}

// findGrant returns the id of the newest grant that covers an ask, or "". The grant
// is not locked, so the caller reads it again.
func (e *Engine) findGrant(ctx context.Context, a askback.Ask, now time.Time) (string, error) {
	open := true
	q := store.Query{Kind: kindGrant, Owner: a.Owner, Agent: a.Agent, Open: &open, Newest: true, Limit: listChunk}
	for {
		records, err := e.store.List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, r := range records {
			q.After = r.ID
			g, err := decodeGrant(r)
			if err != nil {
				e.logUnreadable(r, err)
				continue
			}
			if g.Grant.Covers(a, now) {
				return r.ID, nil
			}
		}
		if len(records) < q.Limit {
			return "", nil
		}
	}
}

// grantorValid reports whether the token or the sign-in of the maker of a grant is still
// valid. A grant without a token was made by the program itself.
func (e *Engine) grantorValid(ctx context.Context, g askback.Grant, now time.Time) (bool, error) {
	if g.Token == "" {
		return true, nil
	}
	if by, signedIn := parseSigner(g.Token); signedIn {
		return e.signerValid(by, g.By), nil
	}
	row, err := e.store.Read(ctx, kindToken, g.Token)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	t, err := readToken(row)
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt)), err
}

// rootID returns the id of the first token in the chain of parents of a token. A
// grant stores it: the grant ends if that token is revoked, but not if a browser
// is logged out. After a sign-in there is no such token; rootID then returns
// [signer.rootID].
func (e *Engine) rootID(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	for range maxParents + 1 { // the token and its parents
		r, err := e.store.Read(ctx, kindToken, token)
		if err != nil {
			return token, fromStore(err)
		}
		t, err := readCredential(r)
		switch {
		case err != nil:
			return token, err
		case t.signer != (signer{}):
			return t.signer.rootID(), nil
		case t.parent == "":
			return token, nil
		}
		token = t.parent
	}
	return token, askback.ErrUnauthorized
}

// Grants implements [askback.Grants].
func (s *client) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	if err := s.authorize(askback.ActGrants); err != nil {
		return askback.GrantPage{}, err
	}
	if err := cmp.Or(q.Check(), checkCursor(ids.Grant, q.Cursor)); err != nil {
		return askback.GrantPage{}, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = askback.DefaultLimit
	}
	open := !q.Ended
	from := store.Query{Kind: kindGrant, Agent: q.Agent, Open: &open, Newest: true, After: q.Cursor, Limit: min(limit+1, listChunk)}
	now := s.engine.clock()
	var page askback.GrantPage
	for size := 0; ; {
		records, err := s.engine.store.List(ctx, from)
		if err != nil {
			return askback.GrantPage{}, fmt.Errorf("grants: %w", fromStore(err))
		}
		for _, r := range records {
			from.After = r.ID
			state, err := decodeGrant(r)
			if err != nil {
				s.engine.logUnreadable(r, err)
				continue
			}
			g := state.Grant
			if open && !now.Before(g.ExpiresAt) {
				continue // expired, but not yet closed by Run
			}
			if n := len(page.Items); n == limit || n > 0 && size > listBytes {
				page.NextCursor = page.Items[n-1].ID
				return page, nil
			}
			if s.who.Kind == askback.Operator {
				g.Input = nil // an operator may not see what agents send
			}
			page.Items = append(page.Items, g)
			size += len(r.Fixed) + len(r.State)
		}
		if len(records) < from.Limit {
			return page, nil
		}
	}
}

// Revoke implements [askback.Grants].
func (s *client) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	if err := s.authorize(askback.ActRevoke); err != nil {
		return askback.Grant{}, err
	}
	var g *grantRecord
	err := s.engine.update(ctx, func(t *tx) (err error) {
		if g, err = t.grant(id); err != nil {
			return err
		}
		return g.step(t, lifecycle.GrantRevoked{By: s.who.Name, Via: s.who.Channel, At: t.now})
	})
	if err != nil {
		return askback.Grant{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return g.state.Grant, nil
}
