package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// List implements [askback.Asks].
func (c *Client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if !access.Ever(c.Who.Kind, access.ActList) {
		return askback.Page{}, fmt.Errorf("list: %w", askback.ErrForbidden)
	}
	if err := cmp.Or(q.Check(), checkAskCursor(q)); err != nil {
		return askback.Page{}, err
	}
	if q.Key != "" {
		return c.listKey(ctx, q.Key)
	}
	after, err := c.eventsCursor(ctx)
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", err)
	}
	page, err := c.listAsks(ctx, q)
	if err != nil {
		return page, fmt.Errorf("list: %w", err)
	}
	page.EventsCursor = after
	return page, nil
}

// listAsks returns a page of the asks that this principal may see, with its snoozes.
func (c *Client) listAsks(ctx context.Context, q askback.Query) (askback.Page, error) {
	if q.Snoozed != nil && *q.Snoozed {
		return c.listSnoozed(ctx, q)
	}
	switch {
	case bySettling(q) && q.Search != "":
		return c.search(ctx, q)
	case bySettling(q):
		return c.settled(ctx, q)
	}
	var hidden snoozes
	if q.Snoozed != nil {
		var err error
		if hidden, err = c.snoozes(ctx, q); err != nil {
			return askback.Page{}, err
		}
	}
	started, err := c.startedRun(ctx, q)
	if err != nil {
		return askback.Page{}, err
	}
	page, err := c.list(ctx, q, started, hidden)
	if err != nil || len(page.Items) == 0 {
		return page, err
	}
	snoozed := hidden
	if q.Snoozed == nil {
		snoozed, err = c.snoozes(ctx, q)
	}
	page.Snoozes = snoozed.of(page.Items)
	return page, err
}

// startedRun reports whether a query selects only the open asks of a hosted run that this agent has started.
// These asks belong to the hosted agent. This agent may read these asks, but no other asks of the hosted
// agent.
func (c *Client) startedRun(ctx context.Context, q askback.Query) (bool, error) {
	if c.Who.Kind != askback.Agent || q.SessionID == "" || q.Unacked || q.Status != "" && q.Status != askback.Pending {
		return false, nil
	}
	row, err := c.service.Store.Read(ctx, txn.KindSession, q.SessionID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, txn.FromStore(err)
	}
	state, err := txn.DecodeSession(row)
	return err == nil && state.Session.Hosted && state.Session.Owner == c.Who.Name, err
}

// eventsCursor returns the end of the event stream, or "" if this principal cannot follow it.
func (c *Client) eventsCursor(ctx context.Context) (askback.Cursor, error) {
	if !access.Ever(c.Who.Kind, access.ActEvents) {
		return "", nil
	}
	seq, n, err := c.service.Store.Head(ctx, "")
	return position{seq, n}.cursor(), txn.FromStore(err)
}

// listKey returns a page with the ask that this principal made with a key, or an empty page.
func (c *Client) listKey(ctx context.Context, key string) (askback.Page, error) {
	row, err := c.ReadKey(ctx, c.OwnerKey(key))
	if errors.Is(err, store.ErrNotFound) {
		return askback.Page{}, nil
	}
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", txn.FromStore(err))
	}
	state, err := txn.DecodeAsk(row)
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", err)
	}
	if c.AuthorizeAsk(access.ActList, &state) != nil {
		return askback.Page{}, nil
	}
	return askback.Page{Items: []askback.Ask{state.Ask}}, nil
}

// list returns a page of the asks that match a query and that this principal may see. If every is set, list
// ignores the permissions. The argument hidden has the snoozes. A pending ask is omitted if its snooze hides
// it now.
func (c *Client) list(ctx context.Context, q askback.Query, every bool, hidden snoozes) (askback.Page, error) {
	now := c.service.Clock()
	from := c.storeQuery(q)
	if every {
		from.For, from.Owner = "", ""
	}
	items, next, err := txn.ListPage(ctx,
		c.service.DB, from, q.Limit, func(row store.Record) (a askback.Ask, ok bool, err error) {
			state, err := txn.DecodeAsk(row)
			if err != nil || !every && c.AuthorizeAsk(access.ActList, &state) != nil || !matchesQuery(q, state.Ask) {
				if err == nil && from.Newest && state.Ask.CreatedAt.Before(q.Since) {
					err = txn.ErrListEnd
				}
				return a, false, err
			}
			if s, ok := hidden[state.Ask.ID]; ok && s.Hides(now) && !state.Ask.Settled() {
				return a, false, nil
			}
			return c.Visible(&state), true, nil
		})
	return askback.Page{Items: items, NextCursor: next}, err
}

// checkAskCursor returns an error unless the cursor of a query can be a cursor of a page of asks.
func checkAskCursor(q askback.Query) error {
	if q.Cursor == "" || !bySettling(q) {
		return txn.CheckCursor(ids.Ask, q.Cursor)
	}
	c, err := parseSettledCursor(q.Cursor)
	if err == nil && (c.ask != "") != (q.Search != "") {
		err = txn.ErrCursor
	}
	return err
}

// storeQuery returns the part of a query that the store evaluates. It has the filters for columns of the
// record. It also has the principal, as the owner or as a recipient of the ask. [matchesQuery] evaluates the
// other filters.
func (c *Client) storeQuery(q askback.Query) store.Query {
	from := store.Query{
		Kind: txn.KindAsk, Agent: q.Agent, Stream: q.SessionID, After: q.Cursor,
	}
	from.Unacked, from.Newest = q.Unacked, q.Unacked
	switch q.Status {
	case askback.AnyStatus:
		from.Newest = true
	case askback.SettledStatus:
		from.Newest, from.Open = true, new(false)
	case "", askback.Pending:
		if !q.Unacked {
			from.Open = new(true)
		}
	default:
		from.Status, from.Newest = string(q.Status), true
	}
	if c.Who.Kind == askback.Agent {
		from.Owner = c.Who.Name
	} else {
		from.For = c.Who.Name
	}
	if first := firstID(q, from.Newest); from.After == "" {
		from.After = first
	}
	return from
}

// firstID returns the id after which the list of a query begins: an id before the first ask that may match.
// The result is "" if the query has no Since. With newest set, it is "" if the query has no Until. The ids of
// asks begin with the time of their creation.
func firstID(q askback.Query, newest bool) string {
	at := q.Since.Add(-time.Millisecond)
	if newest {
		at = q.Until.Add(time.Millisecond)
	}
	if newest && q.Until.IsZero() || !newest && q.Since.IsZero() || at.UnixMilli() <= 0 {
		return ""
	}
	id, _ := ids.New(ids.Ask, at, zeros{}) // zeros returns no error
	return id
}

// zeros is an endless stream of zeros.
type zeros struct{}

// Read fills b with zeros.
func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// matchesQuery reports whether an ask matches the part of a query that the store
// does not evaluate.
func matchesQuery(q askback.Query, a askback.Ask) bool {
	if q.To != "" && !a.Addressed(q.To) {
		return false
	}
	at := a.CreatedAt
	if bySettling(q) && a.Outcome != nil {
		at = a.Outcome.At
	}
	if !q.Since.IsZero() && at.Before(q.Since) || !q.Until.IsZero() && !at.Before(q.Until) {
		return false
	}
	if q.Tool != "" && (a.Confirmation == nil || a.Confirmation.ToolName != q.Tool) ||
		q.Tag != "" && !slices.Contains(a.Tags, q.Tag) {
		return false
	}
	if (q.By != "" || q.Decision != "") && !matchesOutcome(q, a.Outcome) {
		return false
	}
	return a.Contains(q.Search)
}

// matchesOutcome reports whether an outcome matches the outcome filters of a query.
func matchesOutcome(q askback.Query, o *askback.Outcome) bool {
	switch {
	case o == nil:
		return false
	case q.By != "" && (o.Actor.Kind != askback.ActorPerson || o.Actor.Name != q.By):
		return false
	case q.Decision == askback.Approve:
		return o.Approved()
	}
	return q.Decision == "" || o.Decision == q.Decision
}
