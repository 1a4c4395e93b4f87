package feed

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
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// kindSnooze is the kind of the records of snoozes. These records have no state machine. They are open until
// they are due, and are then deleted. After the ask is settled, its snooze is no longer returned, but it is
// not deleted earlier.
const kindSnooze = "snooze"

// snoozeState is the state of the record of a snooze.
type snoozeState struct {
	Until time.Time `json:"until"`
}

// snoozeID returns the id of this person's snooze of an ask.
func (c *Client) snoozeID(id string) string { return id + "/" + c.Who.Name }

// decodeSnooze returns the snooze of a record.
func decodeSnooze(row store.Record) (askback.Snooze, error) {
	var state snoozeState
	id, _, _ := strings.Cut(row.ID, "/")
	state, err := txn.Readable(state, json.Unmarshal(row.State, &state))
	return askback.Snooze{AskID: id, Until: state.Until}, err
}

// Snooze implements [askback.Snoozer].
func (c *Client) Snooze(ctx context.Context, id string, until time.Time) (askback.Snooze, error) {
	if err := c.AuthorizePending(ctx, access.ActSnooze, id); err != nil {
		return askback.Snooze{}, err
	}
	now := c.service.Clock()
	until = until.UTC().Truncate(time.Millisecond)
	if err := askback.CheckSnooze(until, now); err != nil {
		return askback.Snooze{}, err
	}
	state, err := json.Marshal(snoozeState{until})
	if err != nil {
		return askback.Snooze{}, err
	}
	err = c.service.Update(ctx, func(t *txn.Tx) error {
		row, err := c.lockSnooze(t, id)
		if errors.Is(err, store.ErrNotFound) {
			row = store.Record{
				Kind: kindSnooze, ID: c.snoozeID(id), Owner: c.Who.Name, Open: true, Created: t.Now(),
				Fixed: []byte(`{"v":1}`),
			}
			err = c.checkSnoozes(t)
		} else {
			row.Fixed = nil
		}
		if err != nil {
			return err
		}
		row.State, row.Updated, row.Due = state, t.Now(), until.Add(limits.SnoozeMarkTime)
		t.Put(row)
		return nil
	})
	if err != nil {
		return askback.Snooze{}, fmt.Errorf("snooze %s: %w", id, err)
	}
	c.service.Hub.NotifySnoozes(c.Who.Name)
	return askback.Snooze{AskID: id, Until: until}, nil
}

// lockSnooze locks and reads the record of this person's snooze of an ask.
func (c *Client) lockSnooze(t *txn.Tx, id string) (store.Record, error) {
	if err := t.Lock(c.snoozeID(id)); err != nil {
		return store.Record{}, err
	}
	return c.service.Store.Read(t.Context(), kindSnooze, c.snoozeID(id))
}

// checkSnoozes returns an error if this person cannot have another snooze.
func (c *Client) checkSnoozes(t *txn.Tx) error {
	n, err := c.service.Store.CountOpen(t.Context(), kindSnooze, c.Who.Name, limits.MaxSnoozes)
	if err == nil && n >= limits.MaxSnoozes {
		err = askback.Invalid{{
			Detail: fmt.Sprintf("you have snoozed %d asks, which is the maximum", limits.MaxSnoozes),
			Fix:    "answer or unsnooze some of them first",
		}}
	}
	return err
}

// Snoozed implements [askback.Snoozer].
func (c *Client) Snoozed(ctx context.Context, id string) (askback.Snooze, error) {
	none := askback.Snooze{AskID: id}
	if err := c.AuthorizePending(ctx, access.ActSnooze, id); errors.Is(err, askback.ErrSettled) {
		return none, nil
	} else if err != nil {
		return askback.Snooze{}, err
	}
	row, err := c.service.Store.Read(ctx, kindSnooze, c.snoozeID(id))
	if errors.Is(err, store.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return askback.Snooze{}, fmt.Errorf("snooze %s: %w", id, txn.FromStore(err))
	}
	return decodeSnooze(row)
}

// Unsnooze implements [askback.Snoozer].
func (c *Client) Unsnooze(ctx context.Context, id string) error {
	if err := c.AuthorizePending(ctx, access.ActSnooze, id); err != nil && !errors.Is(err, askback.ErrSettled) {
		return err
	}
	err := c.service.Update(ctx, func(t *txn.Tx) error {
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
	c.service.Hub.NotifySnoozes(c.Who.Name)
	return nil
}

// snoozes holds the snoozes of a person, keyed by the id of the ask.
type snoozes map[string]askback.Snooze

// snoozes returns the stored snoozes of this principal that a list needs. An agent has none,
// and a settled ask is not snoozed.
func (c *Client) snoozes(ctx context.Context, q askback.Query) (snoozes, error) {
	if q.Unacked || q.Status != "" && q.Status != askback.Pending && q.Status != askback.AnyStatus ||
		!access.Ever(c.Who.Kind, access.ActSnooze) {
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

// snoozesAfter yields this person's snoozes of the asks after an id, oldest ask first. It omits snoozes that
// cannot be read.
func (c *Client) snoozesAfter(ctx context.Context, id string) iter.Seq2[askback.Snooze, error] {
	q := store.Query{
		Kind: kindSnooze, Owner: c.Who.Name, Open: new(true), Limit: limits.MaxSnoozes + 1, Scan: txn.ExamineChunk,
	}
	if id != "" {
		q.After = c.snoozeID(id)
	}
	return func(yield func(askback.Snooze, error) bool) {
		for row, err := range c.service.Rows(ctx, q) {
			if more := (*store.MoreError)(nil); errors.As(err, &more) {
				continue
			}
			var one askback.Snooze
			if err == nil {
				if one, err = decodeSnooze(row); err != nil {
					c.service.LogUnreadable(row, err)
					continue
				}
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// of returns the snoozes of the pending asks in asks.
func (s snoozes) of(asks []askback.Ask) (out []askback.Snooze) {
	for _, a := range asks {
		if one, ok := s[a.ID]; ok && !a.Settled() {
			out = append(out, one)
		}
	}
	return out
}

// listSnoozed returns a page of the asks that this person hides now. It reads the snoozes first, so that it
// examines no other asks.
func (c *Client) listSnoozed(ctx context.Context, q askback.Query) (page askback.Page, err error) {
	if !access.Ever(c.Who.Kind, access.ActSnooze) {
		return page, nil
	}
	limit, size, now := cmp.Or(q.Limit, askback.DefaultLimit), 0, c.service.Clock()
	for s, err := range c.snoozesAfter(ctx, q.Cursor) {
		if err != nil {
			return askback.Page{}, err
		}
		if !s.Hides(now) {
			continue
		}
		a, err := c.service.Read(ctx, s.AskID)
		if errors.Is(err, askback.ErrNotFound) || errors.Is(err, askback.ErrDamaged) ||
			errors.Is(err, txn.ErrUnreadable) {
			continue // the ask was deleted, or is in no list
		}
		if err != nil {
			return askback.Page{}, err
		}
		if c.AuthorizeAsk(access.ActList, &a.State) != nil || a.State.Ask.Settled() || !selects(q, a.State.Ask) {
			continue
		}
		if n := len(page.Items); n == limit || n > 0 && size > txn.ListBytes {
			page.NextCursor = page.Items[n-1].ID
			break
		}
		page.Items, page.Snoozes = append(page.Items, c.Visible(&a.State).Clone()), append(page.Snoozes, s)
		size += txn.AskBytes(&a.State.Ask)
	}
	return page, nil
}

// selects reports whether a query selects an ask, apart from its status.
func selects(q askback.Query, a askback.Ask) bool {
	return (q.Agent == "" || q.Agent == a.Agent) &&
		(q.SessionID == "" || q.SessionID == a.SessionID) && matchesQuery(q, a)
}
