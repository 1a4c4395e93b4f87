package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// List implements [askback.Inbox].
func (c *client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if !access.Ever(c.who.Kind, access.ActList) {
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
func (c *client) listAsks(ctx context.Context, q askback.Query) (askback.Page, error) {
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

// startedRun reports whether a query selects only the open asks of a hosted run that this agent has
// started. It may read them, although they belong to the hosted agent, and do nothing else with
// them.
func (c *client) startedRun(ctx context.Context, q askback.Query) (bool, error) {
	if c.who.Kind != askback.Agent || q.SessionID == "" || q.Unacked || q.Status != "" && q.Status != askback.Pending {
		return false, nil
	}
	row, err := c.engine.store.Read(ctx, kindSession, q.SessionID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fromStore(err)
	}
	state, err := decodeSession(row)
	return err == nil && state.Session.Hosted && state.Session.Owner == c.who.Name, err
}

// eventsCursor returns the end of the event stream, or "" if this principal cannot follow it.
func (c *client) eventsCursor(ctx context.Context) (askback.Cursor, error) {
	if !access.Ever(c.who.Kind, access.ActEvents) {
		return "", nil
	}
	seq, n, err := c.engine.store.Head(ctx, "")
	return position{seq, n}.cursor(), fromStore(err)
}

// listKey returns a page with the ask that this principal made with a key, or an empty
// page.
func (c *client) listKey(ctx context.Context, key string) (askback.Page, error) {
	row, err := c.readKey(ctx, c.ownerKey(key))
	if errors.Is(err, store.ErrNotFound) {
		return askback.Page{}, nil
	}
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", fromStore(err))
	}
	state, err := decodeAsk(row)
	if err != nil {
		return askback.Page{}, fmt.Errorf("list: %w", err)
	}
	if c.authorizeAsk(access.ActList, &state) != nil {
		return askback.Page{}, nil
	}
	return askback.Page{Items: []askback.Ask{state.Ask}}, nil
}

// list returns a page of the asks that match a query: those that this principal may
// see, or all of them if every is set. It omits pending asks that are hidden now.
func (c *client) list(ctx context.Context, q askback.Query, every bool, hidden snoozes) (askback.Page, error) {
	now := c.engine.clock()
	from := c.storeQuery(q)
	if every {
		from.For, from.Owner = "", ""
	}
	items, next, err := listPage(ctx, c.engine, from, q.Limit, func(row store.Record) (a askback.Ask, ok bool, err error) {
		state, err := decodeAsk(row)
		if err != nil || !every && c.authorizeAsk(access.ActList, &state) != nil || !matchesQuery(q, state.Ask) {
			if err == nil && from.Newest && state.Ask.CreatedAt.Before(q.Since) {
				err = errListEnd
			}
			return a, false, err
		}
		if s, ok := hidden[state.Ask.ID]; ok && s.Hides(now) && !state.Ask.Settled() {
			return a, false, nil
		}
		return c.visible(&state), true, nil
	})
	return askback.Page{Items: items, NextCursor: next}, err
}

// errListEnd means that a list has neither a record nor those after it.
var errListEnd = errors.New("the list has ended")

// listPage returns at most limit items of the records that a query selects, and the cursor
// of the next page, or "" after the last one. A limit of 0 means askback.DefaultLimit. The
// function item returns the item of a record; ok is false if it is not in the list. Records
// that cannot be read are omitted. A page may have fewer items than limit: see maxScanned,
// maxExamined, maxListTime and listBytes.
func listPage[T any](ctx context.Context, e *Engine, q store.Query, limit int, item func(store.Record) (one T, ok bool, err error)) (items []T, next string, err error) {
	limit = cmp.Or(limit, askback.DefaultLimit)
	q.Limit, q.Scan = min(limit+1, listChunk), examineChunk
	size, looked, last, first := 0, 0, "", q.After
	began, examined := time.Now(), 0
	for row, err := range e.rows(ctx, q) {
		if more := (*store.MoreError)(nil); errors.As(err, &more) {
			if examined += q.Scan; examined >= maxExamined || time.Since(began) >= maxListTime {
				return items, cursorAfter(more.After, first, last, q.Newest), nil
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if looked == maxScanned {
			return items, cursorAfter(q.After, first, last, q.Newest), nil
		}
		q.After = row.ID
		looked++
		one, ok, err := item(row)
		if errors.Is(err, errListEnd) {
			return items, "", nil
		}
		if err != nil {
			e.logUnreadable(row, err)
		}
		if err != nil || !ok {
			continue
		}
		if n := len(items); n == limit || n > 0 && size > listBytes {
			return items, last, nil
		}
		items, last = append(items, one), row.ID
		size += len(row.Fixed) + len(row.State)
	}
	return items, "", nil
}

// cursorAfter returns the cursor for the records after one with this id, which the principal may
// not be allowed to see. So the cursor has only the time of the id. It is after the cursor first of
// this page, and after the id of the last item, or "".
func cursorAfter(id, first, last string, newest bool) string {
	last = cmp.Or(last, first)
	end := len(id) - 16 // of the time of a ULID
	if strings.IndexByte(id, '_') != end-11 {
		return id
	}
	rounded, after := id[:end]+strings.Repeat("0", 16), 1
	if newest {
		rounded, after = id[:end]+strings.Repeat("z", 16), -1
	}
	switch {
	case last == "" || strings.Compare(rounded, last) == after:
		return rounded
	case last != first:
		return last
	}
	return id // it has the same millisecond as the whole page
}

// rows returns the records that a query selects. It reads q.Limit of them at once. After
// each [store.MoreError], which it yields, it continues. Another error ends it.
func (e *Engine) rows(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for {
			rows, err := e.store.List(ctx, q)
			more := (*store.MoreError)(nil)
			if err != nil && !errors.As(err, &more) {
				yield(store.Record{}, fromStore(err))
				return
			}
			for _, row := range rows {
				if q.After = row.ID; !yield(row, nil) {
					return
				}
			}
			switch {
			case more != nil:
				if q.After = more.After; !yield(store.Record{}, more) {
					return
				}
			case len(rows) < q.Limit:
				return
			}
		}
	}
}

const (
	// listChunk is how many records a list reads at once. It is small because an ask
	// may have 2 MB.
	listChunk = 16
	// listBytes is the size in bytes at which a page ends, even if it has fewer items
	// than its limit.
	listBytes = 4 << 20
	// examineChunk is how many records the store examines at once, to find those that a
	// query selects.
	examineChunk = 5000
	// maxExamined and maxListTime limit how many records are examined for a page, and how
	// long. A page that reaches a limit ends with a cursor, even if it has no items. In
	// memory, 200 000 records take about 0.15 s; from a slow disk, they take seconds.
	maxExamined = 200_000
	maxListTime = 250 * time.Millisecond
)

// checkCursor returns an error unless cursor can be the cursor of a page. A wrong
// cursor would return an empty page, which a client would take for the last page.
func checkCursor(prefix, cursor string) error {
	if cursor == "" || ids.Valid(prefix, cursor) {
		return nil
	}
	return errCursor
}

// checkAskCursor returns an error unless the cursor of a query can be that of a page of asks.
func checkAskCursor(q askback.Query) error {
	if q.Cursor == "" || !bySettling(q) {
		return checkCursor(ids.Ask, q.Cursor)
	}
	c, err := parseSettledCursor(q.Cursor)
	if err == nil && (c.ask != "") != (q.Search != "") {
		err = errCursor
	}
	return err
}

// errCursor is the error for a cursor that no page of the list has returned.
var errCursor error = askback.Invalid{{Pointer: "?cursor", Detail: "this is not a cursor of this list", Fix: "send the next_cursor of a page, or leave it out"}}

// storeQuery returns the part of a query that the store evaluates: its columns, and
// whether the principal is the owner or addressed. [matchesQuery] evaluates the rest.
func (c *client) storeQuery(q askback.Query) store.Query {
	from := store.Query{
		Kind: kindAsk, Agent: q.Agent, Stream: q.SessionID, After: q.Cursor,
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
	if c.who.Kind == askback.Agent {
		from.Owner = c.who.Name
	} else {
		from.For = c.who.Name
	}
	if first := firstID(q, from.Newest); from.After == "" {
		from.After = first
	}
	return from
}

// firstID returns an id before the first ask of a query with Since or Until, in the order of
// the list, or "". The ids of asks begin with the time of their creation.
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
	if q.Tool != "" && (a.Confirmation == nil || a.Confirmation.ToolName != q.Tool) || q.Tag != "" && !slices.Contains(a.Tags, q.Tag) {
		return false
	}
	if (q.By != "" || q.Decision != "") && !matchesOutcome(q, a.Outcome) {
		return false
	}
	return a.Contains(q.Search)
}

// matchesOutcome reports whether an outcome matches the filters for it.
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
