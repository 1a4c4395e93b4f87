package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// Hold implements [askback.Holder].
func (c *client) Hold(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAnswer, id, func(t *txn.Tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		in, err := c.answered(t, a, answer)
		if err != nil {
			return nil, err
		}
		return c.held(t, a, lifecycle.Held{Answered: in})
	}))
}

// HoldDecline implements [askback.Holder].
func (c *client) HoldDecline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.copied(c.act(ctx, access.ActDecline, id, func(t *txn.Tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		in := lifecycle.Answered{
			By: c.Who.Name, Via: c.Who.Channel, Answer: askback.Answer{Reason: reason}, At: t.Now(),
		}
		return c.held(t, a, lifecycle.Held{Answered: in, Declines: true})
	}))
}

// held returns the input in with the time for which the settings hold answers. It also adds the token or
// sign-in of this principal, which must be valid until the answer is sent. It adds no token if the settings
// hold no answers, or if the ask is settled.
func (c *client) held(t *txn.Tx, a *lifecycle.AskState, in lifecycle.Held) (lifecycle.Input, error) {
	in.For = min(t.DB.Settings.Load().Undo, limits.MaxUndo)
	if in.For <= 0 || a.Ask.Settled() {
		return in, nil
	}
	var err error
	in.Token, err = c.engine.people.Root(t.Context(), c.Who.Token)
	return in, err
}

// Undo implements [askback.Holder].
func (c *client) Undo(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAnswer, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Undone{By: c.Who.Name, Via: c.Who.Channel, At: t.Now()}, nil
	}))
}

// Held returns the asks with an answer of a person that can still be undone. They are sorted by the time when
// the answer is sent. Such asks are due soon, so Held examines only asks that are due soon.
func (e *Engine) Held(ctx context.Context, p askback.Principal) (held []askback.Ask, err error) {
	rows, err := e.db.Store.Due(ctx, e.db.Clock().Add(limits.MaxUndo), maxHeldScan)
	if err != nil {
		return nil, txn.FromStore(err)
	}
	c := e.db.As(p)
	sends := func(a askback.Ask) time.Time { h, _ := a.HeldBy(p.Name); return h.SendsAt }
	for _, row := range rows {
		if row.Kind != txn.KindAsk || !row.Open {
			continue
		}
		state, err := txn.DecodeAsk(row)
		if err != nil {
			continue // the step of the ask logs the error
		}
		a := c.Visible(&state)
		if _, ok := a.HeldBy(p.Name); ok && c.AuthorizeAsk(access.ActGet, &state) == nil {
			held = append(held, a)
		}
	}
	slices.SortStableFunc(held,
		func(a, b askback.Ask) int { return cmp.Or(sends(a).Compare(sends(b)), cmp.Compare(a.ID, b.ID)) })
	return held, nil
}

// maxHeldScan is the maximum number of records that Held examines.
const maxHeldScan = 1000
