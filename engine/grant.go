package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

const kindGrant = "grant"

// grantFixed is the stored part of a grant that never changes.
//
// A grant is created in the change that answers approve_all. Each ask that uses it
// puts its record again with its version. So a use that races with a revocation
// is a conflict, and never succeeds after it (F8).
type grantFixed struct {
	Format    int             `json:"v"`
	Owner     string          `json:"owner"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server,omitempty"`
	Scope     askback.Scope   `json:"scope"`
	Session   string          `json:"session,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Ask       string          `json:"ask,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Dangerous bool            `json:"dangerous,omitempty"`
	By        string          `json:"by"`
	Created   int64           `json:"created"`
	Expires   int64           `json:"expires"`
	Token     string          `json:"token,omitempty"` // what [Engine.rootID] returns for its maker
}

// grantState is the stored part of a grant that changes.
type grantState struct {
	Format  int   `json:"v"`
	Uses    int   `json:"uses"`
	Revoked int64 `json:"revoked,omitempty"`
}

// grantFormat is the version of the stored form of grants.
const grantFormat = 1

// grantRecord returns the record of a new grant. stream is the session in which it
// was made; its history is written there.
func grantRecord(g askback.Grant, stream string) (store.Record, error) {
	fixed, err := encode(grantFixed{
		grantFormat, g.Owner, g.Agent, g.ToolName, g.Server, g.Scope, g.SessionID, g.Digest, g.AskID, g.Input, g.Dangerous, g.By,
		millis(g.CreatedAt), millis(g.ExpiresAt), g.Token,
	})
	if err != nil {
		return store.Record{}, err
	}
	r := store.Record{
		Kind: kindGrant, ID: g.ID, Stream: stream, Open: true, Owner: g.Owner, Agent: g.Agent, Status: "granted",
		Created: g.CreatedAt, Due: g.ExpiresAt, Fixed: fixed,
	}
	return r, encodeGrantState(&r, g, g.CreatedAt)
}

// encodeGrantState sets the state and the time of change in the record of a grant.
func encodeGrantState(r *store.Record, g askback.Grant, now time.Time) (err error) {
	r.Updated = now
	r.State, err = json.Marshal(grantState{grantFormat, g.Uses, millis(g.RevokedAt)})
	return err
}

func readGrant(r store.Record) (askback.Grant, error) {
	var f grantFixed
	var s grantState
	if err := errors.Join(json.Unmarshal(r.Fixed, &f), json.Unmarshal(r.State, &s)); err != nil {
		return askback.Grant{}, fmt.Errorf("read grant %s: %v", r.ID, err)
	}
	if newest := max(f.Format, s.Format); newest > grantFormat {
		return askback.Grant{}, fmt.Errorf("grant %s is stored in format %d, and this release reads up to %d: use a newer release", r.ID, newest, grantFormat)
	}
	return askback.Grant{
		ID: r.ID, Owner: f.Owner, Agent: f.Agent, ToolName: f.Tool, Server: f.Server, Scope: f.Scope,
		SessionID: f.Session, Digest: f.Digest, AskID: f.Ask, Input: f.Input, Dangerous: f.Dangerous, By: f.By, CreatedAt: instant(f.Created),
		ExpiresAt: instant(f.Expires), Uses: s.Uses, RevokedAt: instant(s.Revoked),
		Token: f.Token,
	}, nil
}

// grantRecords returns the records of the grants that a step made.
func grantRecords(stream string, history []lifecycle.Event) ([]store.Record, error) {
	var made []store.Record
	for _, h := range history {
		if h.Type != askback.EventGrantMade {
			continue
		}
		r, err := grantRecord(*h.Grant, stream)
		if err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	return made, nil
}

// opening is an ask that is about to be committed.
type opening struct {
	state   lifecycle.State
	history []lifecycle.Event
	used    []store.Record // the grant that answers the ask; it is put in the same change
}

// applyGrant answers an ask by a grant that covers it, if there is one. It locks
// the grant; the caller calls unlock after the commit.
func (e *Engine) applyGrant(ctx context.Context, o *opening, now time.Time) (unlock func(), err error) {
	none := func() {}
	if o.state.Ask.Kind != askback.Confirm {
		return none, nil
	}
	id, err := e.findGrant(ctx, o.state.Ask, now)
	if err != nil || id == "" {
		return none, err
	}
	if unlock, err = e.locks.lock(ctx, id); err != nil {
		return none, err
	}
	return unlock, e.useGrant(ctx, o, id, now)
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
			g, err := readGrant(r)
			if err != nil {
				e.logUnreadable(r, err)
				continue
			}
			if g.Covers(a, now) {
				return r.ID, nil
			}
		}
		if len(records) < q.Limit {
			return "", nil
		}
	}
}

// useGrant reads a grant and answers the ask by it. If the grant is no longer valid,
// it leaves the ask open for people to answer.
func (e *Engine) useGrant(ctx context.Context, o *opening, id string, now time.Time) error {
	r, err := e.store.Read(ctx, kindGrant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !r.Open {
		return nil
	}
	if err != nil {
		return err
	}
	g, err := readGrant(r)
	if err != nil || !g.Covers(o.state.Ask, now) {
		return err
	}
	if err := e.requireGrantor(ctx, g, now); err != nil {
		if errors.Is(err, askback.ErrNotApproved) {
			err = nil // people answer the ask instead
		}
		return err
	}
	g.Uses++
	next, history, err := lifecycle.Step(o.state, lifecycle.Covered{Grant: g, At: now})
	if err != nil {
		return err
	}
	r.Fixed = nil
	if err := encodeGrantState(&r, g, now); err != nil {
		return err
	}
	o.state, o.history, o.used = next, append(o.history, history...), []store.Record{r}
	return nil
}

// requireGrant adds the ask's grant to the change, so that consuming an approval
// fails if the grant was revoked or has expired. The error is then
// [askback.ErrNotApproved].
func (e *Engine) requireGrant(ctx context.Context, c *change, a askback.Ask, now time.Time) (unlock func(), err error) {
	id := a.Outcome.GrantID
	if unlock, err = e.locks.lock(ctx, id); err != nil {
		return func() {}, err
	}
	r, err := e.store.Read(ctx, kindGrant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !r.Open {
		return unlock, askback.ErrNotApproved
	}
	if err != nil {
		return unlock, err
	}
	g, err := readGrant(r)
	if err == nil && !now.Before(g.ExpiresAt) {
		err = askback.ErrNotApproved
	}
	if err == nil {
		err = e.requireGrantor(ctx, g, now)
	}
	r.Fixed = nil
	c.put(r)
	return unlock, err
}

// requireGrantor returns [askback.ErrNotApproved] if the token or the sign-in of the
// maker of a grant is no longer valid. A grant without a token was made by the
// program itself and is always valid.
func (e *Engine) requireGrantor(ctx context.Context, g askback.Grant, now time.Time) error {
	if g.Token == "" {
		return nil
	}
	if by, signedIn := parseSigner(g.Token); signedIn {
		if !e.signerValid(by, g.By) {
			return askback.ErrNotApproved
		}
		return nil
	}
	t, err := e.store.Read(ctx, kindToken, g.Token)
	if errors.Is(err, store.ErrNotFound) {
		return askback.ErrNotApproved
	}
	if err != nil {
		return err
	}
	token, err := readToken(t)
	if err == nil && (!token.RevokedAt.IsZero() || !token.ExpiresAt.IsZero() && !now.Before(token.ExpiresAt)) {
		err = askback.ErrNotApproved
	}
	return err
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
			g, err := readGrant(r)
			if err != nil {
				s.engine.logUnreadable(r, err)
				continue
			}
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
	g, err := s.engine.endGrant(ctx, id, func(g askback.Grant, now time.Time) (askback.Grant, lifecycle.Event) {
		g.RevokedAt = now
		return g, lifecycle.Event{Type: askback.EventGrantRevoked, By: s.who.Name, Via: s.who.Channel, Grant: &g}
	})
	if err != nil {
		return askback.Grant{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return g, nil
}

// expire closes a grant that has expired.
func (e *Engine) expire(ctx context.Context, id string) error {
	_, err := e.endGrant(ctx, id, func(g askback.Grant, now time.Time) (askback.Grant, lifecycle.Event) {
		if now.Before(g.ExpiresAt) {
			return g, lifecycle.Event{}
		}
		return g, lifecycle.Event{Type: askback.EventGrantExpired, Grant: &g}
	})
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}

// endGrant closes a grant with the line of history that end returns, and retries on
// conflicts. It changes nothing if the grant is closed, or if that line has no type.
func (e *Engine) endGrant(ctx context.Context, id string, end func(askback.Grant, time.Time) (askback.Grant, lifecycle.Event)) (askback.Grant, error) {
	unlock, err := e.locks.lock(ctx, id)
	if err != nil {
		return askback.Grant{}, err
	}
	defer unlock()
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		g, err := e.tryEndGrant(limited, id, end)
		if !errors.Is(err, store.ErrConflict) {
			return g, timeoutCause(limited, fromStore(err))
		}
		if err := backOff(limited, attempt); err != nil {
			return g, err
		}
	}
}

func (e *Engine) tryEndGrant(ctx context.Context, id string, end func(askback.Grant, time.Time) (askback.Grant, lifecycle.Event)) (askback.Grant, error) {
	r, err := e.store.Read(ctx, kindGrant, id)
	if err != nil {
		return askback.Grant{}, err
	}
	g, err := readGrant(r)
	if err != nil || !r.Open {
		return g, err
	}
	now := e.nowAfter(r)
	g, entry := end(g, now)
	if entry.Type == "" {
		return g, nil
	}
	r.Open, r.Status, r.Due, r.Fixed = false, "ended", time.Time{}, nil
	if err := encodeGrantState(&r, g, now); err != nil {
		return g, err
	}
	var c change
	c.put(r)
	if err := c.addEvents(r.Stream, r.ID, []lifecycle.Event{entry}, now); err != nil {
		return g, err
	}
	return g, e.finish(ctx, c)
}
