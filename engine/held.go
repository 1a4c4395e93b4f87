package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/lifecycle"
)

// Hold implements [askback.Holder].
func (c *client) Hold(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAnswer, id, func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error) {
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
	return c.copied(c.act(ctx, access.ActDecline, id, func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		in := lifecycle.Answered{By: c.who.Name, Via: c.who.Channel, Answer: askback.Answer{Reason: reason}, At: t.now}
		return c.held(t, a, lifecycle.Held{Answered: in, Declines: true})
	}))
}

// held completes an input with the time of the settings, and the token or sign-in on which the
// answer depends until it is sent.
func (c *client) held(t *tx, a *lifecycle.AskState, in lifecycle.Held) (lifecycle.Input, error) {
	in.For = min(t.engine.settings.Load().Undo, askback.MaxUndo)
	if in.For <= 0 || a.Ask.Settled() {
		return in, nil
	}
	var err error
	in.Token, err = t.engine.Root(t.ctx, c.who.Token)
	return in, err
}

// Undo implements [askback.Holder].
func (c *client) Undo(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAnswer, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Undone{By: c.who.Name, Via: c.who.Channel, At: t.now}, nil
	}))
}

// move steps an ask whose held answer or deadline is due.
func (t *tx) move(r *askRecord) error {
	if next := r.state.Moves(); next.IsZero() || t.now.Before(next) {
		return nil
	}
	in := lifecycle.Due{At: t.now}
	for _, h := range r.state.Held {
		ok, err := t.mayStillSend(&r.state, h)
		if err != nil {
			return err
		}
		if !ok {
			in.Lost = append(in.Lost, h.Name)
		}
	}
	return r.step(t, in)
}

// mayStillSend reports whether the author of a held answer still has the token or the sign-in
// with which it was given, and whether its arguments still have the digest that was approved.
func (t *tx) mayStillSend(s *lifecycle.AskState, h askback.Held) (bool, error) {
	in := lifecycle.Answered{Answer: h.Answer()}
	if len(h.Input) > 0 && (digestEdited(s, &in) != nil || in.Digest != h.Digest) {
		return false, nil
	}
	return t.engine.RootValid(t.ctx, h.Token, h.Name, t.now)
}

// visible returns the ask of a state as this principal gets it. Agents and operators get no held
// answers. The ask shares the memory of the state.
func (c *client) visible(s *lifecycle.AskState) askback.Ask {
	a := s.Ask
	if len(s.Held) == 0 || c.who.Kind != askback.Responder && c.who.Kind != askback.Admin {
		return a
	}
	a.Held = slices.Clone(s.Held)
	for i := range a.Held {
		a.Held[i].Yours = a.Held[i].Name == c.who.Name
	}
	return a
}

// Held returns the asks with an answer of a person that can still be undone, the first one that
// is sent first. They are due soon, so it examines no others.
func (e *Engine) Held(ctx context.Context, p askback.Principal) (held []askback.Ask, err error) {
	rows, err := e.store.Due(ctx, e.clock().Add(askback.MaxUndo), maxHeldScan)
	if err != nil {
		return nil, fromStore(err)
	}
	c := &client{e, p}
	sends := func(a askback.Ask) time.Time { h, _ := a.HeldBy(p.Name); return h.SendsAt }
	for _, row := range rows {
		if row.Kind != kindAsk || !row.Open {
			continue
		}
		state, err := decodeAsk(row)
		if err != nil {
			continue // stepping it logs the error
		}
		a := c.visible(&state)
		if _, ok := a.HeldBy(p.Name); ok && c.authorizeAsk(access.ActGet, &state) == nil {
			held = append(held, a)
		}
	}
	slices.SortStableFunc(held, func(a, b askback.Ask) int { return cmp.Or(sends(a).Compare(sends(b)), cmp.Compare(a.ID, b.ID)) })
	return held, nil
}

// maxHeldScan is how many records that are due soon are examined for held answers.
const maxHeldScan = 1000

// WatchHeld returns a channel that gets a value after each change of held answers in this
// process, until stop is called. Several changes may share one value.
func (e *Engine) WatchHeld() (changed <-chan struct{}, stop func()) {
	h, m := &e.hub, &member{changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders.add("", m)
	return m.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.holders.remove("", m)
	}
}

// notifyHeld reports a change of held answers. It is called after the commit.
func (h *hub) notifyHeld() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := range h.holders.members("") {
		offer(m.changed, struct{}{})
	}
}

// heldBytes returns an upper estimate of the memory of held answers, in bytes.
func heldBytes(all []askback.Held) (n int) {
	for _, h := range all {
		n += outcomeOverhead + 2*len(h.Input)
		for _, t := range []string{h.Name, h.Comment, h.Reason, h.Digest, h.GrantID, h.Token} {
			n += len(t)
		}
		for _, q := range h.Answers {
			n += partOverhead + len(q.ID) + len(q.Question) + len(q.Other) + len(q.Notes)
			for _, s := range q.Selected {
				n += textOverhead + len(s)
			}
		}
	}
	return n
}
