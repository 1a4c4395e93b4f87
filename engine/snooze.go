package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store"
)

// kindSnooze is the kind of the records of snoozes. They have no state machine, and are open
// until they are due, when they are deleted. The snooze of a settled ask is no longer
// returned, but it is not deleted earlier.
const kindSnooze = "snooze"

// snoozeState is the state of the record of a snooze.
type snoozeState struct {
	Until time.Time `json:"until"`
}

// snoozeID returns the id of this person's snooze of an ask.
func (c *client) snoozeID(id string) string { return id + "/" + c.who.Name }

// decodeSnooze returns the snooze of a record.
func decodeSnooze(row store.Record) (askback.Snooze, error) {
	var state snoozeState
	id, _, _ := strings.Cut(row.ID, "/")
	state, err := readable(state, json.Unmarshal(row.State, &state))
	return askback.Snooze{AskID: id, Until: state.Until}, err
}

// Snooze implements [askback.Snoozer].
func (c *client) Snooze(ctx context.Context, id string, until time.Time) (askback.Snooze, error) {
	if err := c.authorizePending(ctx, access.ActSnooze, id); err != nil {
		return askback.Snooze{}, err
	}
	now := c.engine.clock()
	until = until.UTC().Truncate(time.Millisecond)
	if err := askback.CheckSnooze(until, now); err != nil {
		return askback.Snooze{}, err
	}
	state, err := json.Marshal(snoozeState{until})
	if err != nil {
		return askback.Snooze{}, err
	}
	err = c.engine.update(ctx, func(t *tx) error {
		row, err := c.lockSnooze(t, id)
		if errors.Is(err, store.ErrNotFound) {
			row = store.Record{Kind: kindSnooze, ID: c.snoozeID(id), Owner: c.who.Name, Open: true, Created: t.now, Fixed: []byte(`{"v":1}`)}
			err = c.checkSnoozes(t)
		} else {
			row.Fixed = nil
		}
		if err != nil {
			return err
		}
		row.State, row.Updated, row.Due = state, t.now, until.Add(askback.SnoozeMarkTime)
		t.Put(row)
		return nil
	})
	if err != nil {
		return askback.Snooze{}, fmt.Errorf("snooze %s: %w", id, err)
	}
	c.engine.hub.notifySnoozes(c.who.Name)
	return askback.Snooze{AskID: id, Until: until}, nil
}

// lockSnooze locks and reads the record of this person's snooze of an ask.
func (c *client) lockSnooze(t *tx, id string) (store.Record, error) {
	if err := t.Lock(c.snoozeID(id)); err != nil {
		return store.Record{}, err
	}
	return c.engine.store.Read(t.ctx, kindSnooze, c.snoozeID(id))
}

// checkSnoozes returns an error if this person cannot have another snooze.
func (c *client) checkSnoozes(t *tx) error {
	n, err := c.engine.store.CountOpen(t.ctx, kindSnooze, c.who.Name, askback.MaxSnoozes)
	if err == nil && n >= askback.MaxSnoozes {
		err = askback.Invalid{{
			Detail: fmt.Sprintf("you have snoozed %d asks, which is the maximum", askback.MaxSnoozes), Fix: "answer or unsnooze some of them first",
		}}
	}
	return err
}

// Snoozed implements [askback.Snoozer].
func (c *client) Snoozed(ctx context.Context, id string) (askback.Snooze, error) {
	none := askback.Snooze{AskID: id}
	if err := c.authorizePending(ctx, access.ActSnooze, id); errors.Is(err, askback.ErrSettled) {
		return none, nil
	} else if err != nil {
		return askback.Snooze{}, err
	}
	row, err := c.engine.store.Read(ctx, kindSnooze, c.snoozeID(id))
	if errors.Is(err, store.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return askback.Snooze{}, fmt.Errorf("snooze %s: %w", id, fromStore(err))
	}
	return decodeSnooze(row)
}

// Unsnooze implements [askback.Snoozer].
func (c *client) Unsnooze(ctx context.Context, id string) error {
	if err := c.authorizePending(ctx, access.ActSnooze, id); err != nil && !errors.Is(err, askback.ErrSettled) {
		return err
	}
	err := c.engine.update(ctx, func(t *tx) error {
		row, err := c.lockSnooze(t, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			t.Delete(row)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("unsnooze %s: %w", id, err)
	}
	c.engine.hub.notifySnoozes(c.who.Name)
	return nil
}

// snoozes has the snoozes of a person by the id of the ask.
type snoozes map[string]askback.Snooze

// snoozes returns the stored snoozes of this principal that a list needs. An agent has none,
// and a settled ask is not snoozed.
func (c *client) snoozes(ctx context.Context, q askback.Query) (snoozes, error) {
	if q.Unacked || q.Status != "" && q.Status != askback.Pending && q.Status != askback.AnyStatus || !access.Ever(c.who.Kind, access.ActSnooze) {
		return nil, nil
	}
	out := snoozes{}
	for one, err := range c.snoozesAfter(ctx, "") {
		if err != nil {
			return nil, err
		}
		out[one.AskID] = one
	}
	return out, nil
}

// snoozesAfter yields this person's snoozes of the asks after an id, oldest ask first. It omits
// those that cannot be read.
func (c *client) snoozesAfter(ctx context.Context, id string) iter.Seq2[askback.Snooze, error] {
	q := store.Query{Kind: kindSnooze, Owner: c.who.Name, Open: new(true), Limit: askback.MaxSnoozes + 1, Scan: examineChunk}
	if id != "" {
		q.After = c.snoozeID(id)
	}
	return func(yield func(askback.Snooze, error) bool) {
		for row, err := range c.engine.rows(ctx, q) {
			if more := (*store.MoreError)(nil); errors.As(err, &more) {
				continue
			}
			var one askback.Snooze
			if err == nil {
				if one, err = decodeSnooze(row); err != nil {
					c.engine.logUnreadable(row, err)
					continue
				}
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// of returns the snoozes of these asks.
func (s snoozes) of(asks []askback.Ask) (out []askback.Snooze) {
	for _, a := range asks {
		if one, ok := s[a.ID]; ok && !a.Settled() {
			out = append(out, one)
		}
	}
	return out
}

// listSnoozed returns a page of the asks that this person hides now. It reads the snoozes, so
// that it does not examine the other asks.
func (c *client) listSnoozed(ctx context.Context, q askback.Query) (page askback.Page, err error) {
	if !access.Ever(c.who.Kind, access.ActSnooze) {
		return page, nil
	}
	limit, size, now := cmp.Or(q.Limit, askback.DefaultLimit), 0, c.engine.clock()
	for s, err := range c.snoozesAfter(ctx, q.Cursor) {
		if err != nil {
			return askback.Page{}, err
		}
		if !s.Hides(now) {
			continue
		}
		a, err := c.engine.read(ctx, s.AskID)
		if errors.Is(err, askback.ErrNotFound) || errors.Is(err, askback.ErrDamaged) || errors.Is(err, errUnreadable) {
			continue // it was deleted, or no list can have it
		}
		if err != nil {
			return askback.Page{}, err
		}
		if c.authorizeAsk(access.ActList, &a.state) != nil || a.state.Ask.Settled() || !selects(q, a.state.Ask) {
			continue
		}
		if n := len(page.Items); n == limit || n > 0 && size > listBytes {
			page.NextCursor = page.Items[n-1].ID
			break
		}
		page.Items, page.Snoozes = append(page.Items, c.visible(&a.state).Clone()), append(page.Snoozes, s)
		size += askBytes(&a.state.Ask)
	}
	return page, nil
}

// selects reports whether a query selects an ask, apart from its status.
func selects(q askback.Query, a askback.Ask) bool {
	return (q.Agent == "" || q.Agent == a.Agent) && (q.SessionID == "" || q.SessionID == a.SessionID) && matchesQuery(q, a)
}
