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

// A grant is a record with its agent: made in the change that answers
// approve_all, and put with its version by each ask that uses it, so that a
// revocation in between is a conflict and never lets anything through (F8).
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
	Token     string          `json:"token,omitempty"` // what root says of whoever made it
}

type grantState struct {
	Format  int   `json:"v"`
	Uses    int   `json:"uses"`
	Revoked int64 `json:"revoked,omitempty"`
}

// grantFormat is the number that stored grants begin with.
const grantFormat = 1

// grantRecord is a new grant as it is kept, in the history of the session in
// which it was made.
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
	return r, moveGrant(&r, g, g.CreatedAt)
}

// moveGrant writes down what changes about a grant.
func moveGrant(r *store.Record, g askback.Grant, now time.Time) (err error) {
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

// granted returns the records of grants that were made with a step.
func granted(stream string, history []lifecycle.Entry) ([]store.Record, error) {
	var made []store.Record
	for _, h := range history {
		if h.Type != "grant_made" {
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
	history []lifecycle.Entry
	used    []store.Record // the grant that answers it, to be put in the same change
}

// cover answers an ask by a grant that covers it, if there is one. Uses of one
// grant wait for each other here; leave ends the turn and comes after the commit.
func (e *Engine) cover(ctx context.Context, o *opening, now time.Time) (leave func(), err error) {
	none := func() {}
	if o.state.Ask.Kind != askback.Confirm {
		return none, nil
	}
	id, err := e.covering(ctx, o.state.Ask, now)
	if err != nil || id == "" {
		return none, err
	}
	if leave, err = e.turns.enter(ctx, id); err != nil {
		return none, err
	}
	return leave, e.use(ctx, o, id, now)
}

// covering returns the id of a grant that seems to cover an ask, or "". Of
// several the newest is taken.
func (e *Engine) covering(ctx context.Context, a askback.Ask, now time.Time) (string, error) {
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
				e.leftOut(r, err)
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

// use steps the ask by a grant as it stands now. One that does not hold any more
// leaves the ask to people.
func (e *Engine) use(ctx context.Context, o *opening, id string, now time.Time) error {
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
	if err := e.trusted(ctx, g, now); err != nil {
		if errors.Is(err, askback.ErrNotApproved) {
			err = nil // people are asked
		}
		return err
	}
	g.Uses++
	next, history, err := lifecycle.Step(o.state, lifecycle.Covered{Grant: g, At: now})
	if err != nil {
		return err
	}
	r.Fixed = nil
	if err := moveGrant(&r, g, now); err != nil {
		return err
	}
	o.state, o.history, o.used = next, append(o.history, history...), []store.Record{r}
	return nil
}

// still adds to the change that spends an approval the grant that gave it: what
// was approved beforehand runs only while the grant holds, however early it was
// asked. The error is [askback.ErrNotApproved].
func (e *Engine) still(ctx context.Context, c *change, a askback.Ask, now time.Time) (leave func(), err error) {
	id := a.Outcome.GrantID
	if leave, err = e.turns.enter(ctx, id); err != nil {
		return func() {}, err
	}
	r, err := e.store.Read(ctx, kindGrant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !r.Open {
		return leave, askback.ErrNotApproved
	}
	if err != nil {
		return leave, err
	}
	g, err := readGrant(r)
	if err == nil && !now.Before(g.ExpiresAt) {
		err = askback.ErrNotApproved
	}
	if err == nil {
		err = e.trusted(ctx, g, now)
	}
	r.Fixed = nil
	c.put(r)
	return leave, err
}

// trusted says whether the token of whoever made a grant is still good. A grant
// of the program itself has none.
func (e *Engine) trusted(ctx context.Context, g askback.Grant, now time.Time) error {
	if g.Token == "" {
		return nil
	}
	if by, signedIn := signerOf(g.Token); signedIn {
		if !e.stands(by, g.By) {
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
	is, err := readToken(t)
	if err == nil && (!is.RevokedAt.IsZero() || !is.ExpiresAt.IsZero() && !now.Before(is.ExpiresAt)) {
		err = askback.ErrNotApproved
	}
	return err
}

// root is the token that the one shown was made with, in the end: a person who
// logs a browser out takes nothing back, one whose own token is revoked does. Who
// signed in has no token of their own: their issuer and address stand for it, in a
// text that is no id ([signer.root]).
func (e *Engine) root(ctx context.Context, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	for range maxParents + 1 { // itself, and those above
		r, err := e.store.Read(ctx, kindToken, token)
		if err != nil {
			return token, mine(err)
		}
		t, err := readCredential(r)
		switch {
		case err != nil:
			return token, err
		case t.signer != (signer{}):
			return t.signer.root(), nil
		case t.parent == "":
			return token, nil
		}
		token = t.parent
	}
	return token, askback.ErrUnauthorized
}

// Grants implements [askback.Desk].
func (s *seat) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	if err := s.mayEver(askback.ActGrants); err != nil {
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
			return askback.GrantPage{}, fmt.Errorf("grants: %w", mine(err))
		}
		for _, r := range records {
			from.After = r.ID
			g, err := readGrant(r)
			if err != nil {
				s.engine.leftOut(r, err)
				continue
			}
			if open && !now.Before(g.ExpiresAt) {
				continue // over, and not yet looked after
			}
			if n := len(page.Items); n == limit || n > 0 && size > listBytes {
				page.NextCursor = page.Items[n-1].ID
				return page, nil
			}
			if s.who.Kind == askback.Operator {
				g.Input = nil // it is what an agent says
			}
			page.Items = append(page.Items, g)
			size += len(r.Fixed) + len(r.State)
		}
		if len(records) < from.Limit {
			return page, nil
		}
	}
}

// Revoke implements [askback.Desk].
func (s *seat) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	if err := s.mayEver(askback.ActRevoke); err != nil {
		return askback.Grant{}, err
	}
	g, err := s.engine.endGrant(ctx, id, func(g askback.Grant, now time.Time) (askback.Grant, lifecycle.Entry) {
		g.RevokedAt = now
		return g, lifecycle.Entry{Type: "grant_revoked", By: s.who.Name, Via: s.who.Via, Grant: &g}
	})
	if err != nil {
		return askback.Grant{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return g, nil
}

// expire ends a grant whose time is over.
func (e *Engine) expire(ctx context.Context, id string) error {
	_, err := e.endGrant(ctx, id, func(g askback.Grant, now time.Time) (askback.Grant, lifecycle.Entry) {
		if now.Before(g.ExpiresAt) {
			return g, lifecycle.Entry{}
		}
		return g, lifecycle.Entry{Type: "grant_expired", Grant: &g}
	})
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}

// endGrant closes a grant, with a line of history, and tries again when somebody
// used it meanwhile. One that is closed stays as it is, and so does one of which
// nothing is to be said.
func (e *Engine) endGrant(ctx context.Context, id string, end func(askback.Grant, time.Time) (askback.Grant, lifecycle.Entry)) (askback.Grant, error) {
	leave, err := e.turns.enter(ctx, id)
	if err != nil {
		return askback.Grant{}, err
	}
	defer leave()
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		g, err := e.tryEnd(limited, id, end)
		if !errors.Is(err, store.ErrConflict) {
			return g, cause(limited, mine(err))
		}
		if err := pause(limited, attempt); err != nil {
			return g, err
		}
	}
}

func (e *Engine) tryEnd(ctx context.Context, id string, end func(askback.Grant, time.Time) (askback.Grant, lifecycle.Entry)) (askback.Grant, error) {
	r, err := e.store.Read(ctx, kindGrant, id)
	if err != nil {
		return askback.Grant{}, err
	}
	g, err := readGrant(r)
	if err != nil || !r.Open {
		return g, err
	}
	now := e.after(r)
	g, said := end(g, now)
	if said.Type == "" {
		return g, nil
	}
	r.Open, r.Status, r.Due, r.Fixed = false, "ended", time.Time{}, nil
	if err := moveGrant(&r, g, now); err != nil {
		return g, err
	}
	var c change
	c.put(r)
	if err := c.say(r.Stream, r.ID, []lifecycle.Entry{said}, now); err != nil {
		return g, err
	}
	return g, e.finish(ctx, c)
}
