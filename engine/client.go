package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/lifecycle"
)

// client implements [askback.Client] for one principal. Each method checks the permission
// of the principal.
type client struct {
	engine *Engine
	who    askback.Principal
}

// authorizeAsk returns an error unless this principal may do an action on an ask. The error
// is [askback.ErrForbidden] if its kind may do the action on no ask. It is
// [askback.ErrNotFound] if it may do the action on other asks only.
func (c *client) authorizeAsk(action askback.Action, state *lifecycle.AskState) error {
	return c.authorizeRelation(action, c.relation(state))
}

// authorizeRelation is like authorizeAsk, for any ask or session to which this principal
// has the given relation.
func (c *client) authorizeRelation(action askback.Action, relation askback.Relation) error {
	switch {
	case access.Allowed(c.who.Kind, action, relation):
		return nil
	case access.Ever(c.who.Kind, action):
		return askback.ErrNotFound
	}
	return askback.ErrForbidden
}

// relation returns the relation of this principal to an ask. The agent that asked is the
// owner. A principal that is not an agent is a recipient if To has its name or is empty. Any
// other principal is unrelated.
func (c *client) relation(state *lifecycle.AskState) askback.Relation {
	to := state.Ask.To
	switch {
	case c.who.Kind == askback.Agent && c.who.Name == state.Owner:
		return askback.Owner
	case c.who.Kind != askback.Agent && (len(to) == 0 || slices.Contains(to, c.who.Name)):
		return askback.Recipient
	}
	return askback.Unrelated
}

// act steps the ask with the given id, if this principal may do the action. The function
// input returns the input of the step.
func (c *client) act(ctx context.Context, action askback.Action, id string, input func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error)) (askback.Ask, error) {
	var a *askRecord
	err := c.engine.update(ctx, func(t *tx) (err error) {
		if a, err = t.ask(id); errors.Is(err, askback.ErrNotFound) {
			return c.authorizeRelation(action, "") // ErrForbidden does not depend on the ask
		} else if err != nil {
			return err
		}
		if err := c.authorizeAsk(action, &a.state); err != nil {
			return err
		}
		in, err := input(t, &a.state)
		if err != nil {
			return err
		}
		return a.step(t, in)
	})
	return askResult(action, id, a, err)
}

// askResult returns a copy of an ask, and err with the action and the id. If err is
// neither nil nor [askback.ErrSettled], the ask is zero.
func askResult(action askback.Action, id string, a *askRecord, err error) (askback.Ask, error) {
	switch {
	case err == nil:
		return a.state.Ask.Clone(), nil
	case errors.Is(err, askback.ErrSettled):
		return a.state.Ask.Clone(), fmt.Errorf("%s %s: %w", action, id, err)
	}
	return askback.Ask{}, fmt.Errorf("%s %s: %w", action, id, err)
}

// Answer implements [askback.Inbox].
func (c *client) Answer(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	return c.act(ctx, askback.ActAnswer, id, func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		return c.answered(t, a, answer)
	})
}

// Decline implements [askback.Inbox].
func (c *client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.act(ctx, askback.ActDecline, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Declined{By: c.who.Name, Via: c.who.Channel, Reason: reason, At: t.now}, nil
	})
}

// Claim implements [askback.Inbox].
func (c *client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return c.act(ctx, askback.ActClaim, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Claimed{By: c.who.Name, At: t.now}, nil
	})
}

// Cancel implements [askback.Asker].
func (c *client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.act(ctx, askback.ActCancel, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Cancelled{By: c.actor(), Via: c.who.Channel, Reason: reason, At: t.now}, nil
	})
}

// actor returns this principal as the actor of a cancellation or a session command: an
// agent, or else a person.
func (c *client) actor() askback.Actor {
	if c.who.Kind == askback.Agent {
		return askback.Actor{Kind: askback.ActorAgent, Name: c.who.Name}
	}
	return askback.Actor{Kind: askback.ActorPerson, Name: c.who.Name}
}

// Consume implements [askback.Asker]. If it is unknown whether this call has spent the
// approval, the error is [askback.ErrUnknown]: another process may have spent it.
func (c *client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return c.act(ctx, askback.ActConsume, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		t.exclusive = true
		return lifecycle.Consumed{Digest: digest, At: t.now}, nil
	})
}

// Ack implements [askback.Asker].
func (c *client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return c.act(ctx, askback.ActAck, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Acked{At: t.now}, nil
	})
}

// Get implements [askback.Inbox]. It changes nothing, not even an ask whose
// deadline is past.
func (c *client) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := c.engine.read(ctx, id)
	if err == nil {
		err = c.authorizeAsk(askback.ActGet, &a.state)
	}
	return askResult(askback.ActGet, id, a, err)
}

// Wait implements [askback.Asker].
func (c *client) Wait(ctx context.Context, id string) (out askback.Ask, err error) {
	a, err := c.wait(ctx, id)
	copyAsk(&out, a)
	return out, err
}

// copyAsk sets out to a copy of a, if a is not nil. It is a function of its own so that the
// copies on its stack do not enlarge the stack of a goroutine that sleeps in Wait.
//
//go:noinline
func copyAsk(out, a *askback.Ask) {
	if a != nil {
		*out = a.Clone()
	}
}

// wait returns an ask when it is settled. If ctx ends first, it returns the ask with the
// cause of ctx. It keeps no copy of the ask while it sleeps, and its stack stays small.
func (c *client) wait(ctx context.Context, id string) (*askback.Ask, error) {
	w, err := c.beginWait(id)
	if err != nil {
		return nil, err
	}
	defer c.endWait(id, w)
	if a, err := c.readForWait(ctx, id); err != nil || a.Status != askback.Pending {
		return a, err
	}
	select {
	case a := <-w.wake:
		return a, nil
	case <-ctx.Done():
	}
	a, err := c.readForWait(ctx, id)
	if err != nil || a.Status != askback.Pending {
		return a, err
	}
	return a, context.Cause(ctx)
}

// beginWait counts and registers a waiter. The caller calls endWait when it no longer waits.
func (c *client) beginWait(id string) (*member, error) {
	if err := c.engine.quota.addWaiter(c.who); err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	return c.engine.hub.join(id, c.who.Kind), nil
}

func (c *client) endWait(id string, w *member) {
	c.engine.hub.leave(id, w)
	c.engine.quota.removeWaiter(c.who)
}

// readForWait reads an ask that this principal may get, even if ctx has ended. The caller
// must not change it.
//
//go:noinline
func (c *client) readForWait(ctx context.Context, id string) (*askback.Ask, error) {
	a, err := c.engine.cache.get(id), error(nil)
	if a == nil {
		a, err = c.engine.fetchApart(context.WithoutCancel(ctx), id)
	}
	if err == nil {
		err = c.authorizeAsk(askback.ActGet, &a.state)
	}
	if err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	return &a.state.Ask, nil
}
