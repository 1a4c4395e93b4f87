package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/revision"
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
func (c *client) authorizeAsk(action access.Action, state *lifecycle.AskState) error {
	handOver := action == access.ActReassign && state.Ask.Kind == askback.Confirm
	if handOver {
		action = access.ActHandOver
	}
	err := c.authorizeRelation(action, c.relation(state))
	switch {
	case err == nil:
	case errors.Is(err, askback.ErrNotApprover):
		return askback.NotApproverError{Who: state.Ask.Deciders()}
	case handOver && errors.Is(err, askback.ErrForbidden):
		return fmt.Errorf("only those who may decide a confirmation, and admins, give it to others: %w", err)
	}
	return err
}

// authorizeRelation is like authorizeAsk, for any ask or session to which this principal
// has the given relation.
func (c *client) authorizeRelation(action access.Action, relation access.Relation) error {
	switch {
	case access.Allowed(c.who.Kind, action, relation):
		return nil
	case relation == access.Starter && access.Allowed(c.who.Kind, action, access.Recipient):
		return askback.ErrSelfApproval
	case relation == access.Viewer && access.Allowed(c.who.Kind, action, access.Recipient):
		return askback.ErrNotApprover
	case access.Ever(c.who.Kind, action):
		return askback.ErrNotFound
	}
	return askback.ErrForbidden
}

// relation returns the relation of this principal to an ask. The agent that asked is the
// owner. A principal that is not an agent is a recipient if the ask is addressed to it, unless
// it started the session and must not settle the ask, or routes let only others decide it. Any
// other principal is unrelated.
func (c *client) relation(state *lifecycle.AskState) access.Relation {
	switch {
	case c.who.Kind == askback.Agent && c.who.Name == state.Owner:
		return access.Owner
	case c.who.Kind == askback.Agent || !state.Ask.Addressed(c.who.Name):
		return access.Unrelated
	case state.Ask.SelfApproval(c.who.Name):
		return access.Starter
	case !state.Ask.IsApprover(c.who.Name):
		return access.Viewer
	}
	return access.Recipient
}

// act steps the ask with the given id, if this principal may do the action. The function
// input returns the input of the step. If the error is neither nil nor [askback.ErrSettled],
// the record is nil.
func (c *client) act(ctx context.Context, action access.Action, id string, input func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error)) (*askRecord, error) {
	var a *askRecord
	err := c.engine.update(ctx, func(t *tx) (err error) {
		if a, err = t.askNow(id); errors.Is(err, askback.ErrNotFound) {
			return c.authorizeRelation(action, "") // ErrForbidden does not depend on the ask
		} else if err != nil {
			return err
		}
		if err := c.authorizeAsk(action, &a.state); err != nil {
			return err
		}
		if err := c.checkDangerous(action, &a.state.Ask); err != nil {
			return err
		}
		in, err := input(t, &a.state)
		if err != nil {
			return err
		}
		return a.step(t, in)
	})
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, askback.ErrSettled):
		a = nil
	}
	return a, fmt.Errorf("%s %s: %w", action, id, err)
}

// copied returns a copy of the ask in a, which the caller may change, and err. If a is nil,
// the ask is zero.
func (c *client) copied(a *askRecord, err error) (askback.Ask, error) {
	if a == nil {
		return askback.Ask{}, err
	}
	return c.visible(&a.state).Clone(), err
}

// shared returns the revision of the ask in a, and err. If a is nil, so is the revision.
func (c *client) shared(a *askRecord, err error) (*revision.Ask, error) {
	if a == nil {
		return nil, err
	}
	if len(a.state.Held) > 0 {
		return revision.New(new(c.visible(&a.state)), nil), err
	}
	if !a.state.Ask.Settled() {
		return revision.New(&a.state.Ask, nil), err
	}
	if a.shared.Load() == nil {
		a.shared.CompareAndSwap(nil, revision.New(&a.state.Ask, c.engine.cache))
	}
	return a.shared.Load(), err
}

// Answer implements [askback.Inbox].
func (c *client) Answer(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	return c.copied(c.answer(ctx, id, answer))
}

// AnswerRevision implements [revision.Source].
func (c *client) AnswerRevision(ctx context.Context, id string, answer askback.Answer) (*revision.Ask, error) {
	return c.shared(c.answer(ctx, id, answer))
}

func (c *client) answer(ctx context.Context, id string, answer askback.Answer) (*askRecord, error) {
	return c.act(ctx, access.ActAnswer, id, func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		return c.answered(t, a, answer)
	})
}

// Decline implements [askback.Inbox].
func (c *client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.copied(c.act(ctx, access.ActDecline, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Declined{By: c.who.Name, Via: c.who.Channel, Reason: reason, At: t.now}, nil
	}))
}

// Reassign implements [askback.Inbox].
func (c *client) Reassign(ctx context.Context, id string, r askback.Reassignment) (askback.Ask, error) {
	r, err := r.Normalize()
	if err != nil {
		return askback.Ask{}, err
	}
	record, err := c.act(ctx, access.ActReassign, id, func(t *tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		return c.reassigned(t, a, r)
	})
	if errors.Is(err, askback.ErrNotFound) {
		record, err = c.reassignedBefore(ctx, id, r, err)
	}
	a, err := c.copied(record, err)
	if a.ID != "" && c.authorizeAsk(access.ActGet, &lifecycle.AskState{Ask: a, Owner: a.Owner}) != nil {
		a = withoutContent(a)
	}
	return a, err
}

// withoutContent returns an ask with who may answer it, and nothing of what it asks.
func withoutContent(a askback.Ask) askback.Ask {
	out := askback.Ask{
		ID: a.ID, SessionID: a.SessionID, Agent: a.Agent, Owner: a.Owner, Kind: a.Kind, To: a.To, Recipients: a.Recipients, Approvers: a.Approvers,
		ReassignedBy: a.ReassignedBy, ReassignedAt: a.ReassignedAt, Quorum: a.Quorum, Status: a.Status, CreatedAt: a.CreatedAt, OnTimeout: a.OnTimeout,
	}
	for _, q := range a.Questions {
		out.Questions = append(out.Questions, askback.Question{ID: q.ID, Text: hiddenText})
	}
	if c := a.Confirmation; c != nil {
		out.Confirmation = &askback.Confirmation{ToolName: c.ToolName, Input: []byte("{}"), Tier: c.Tier, Digest: c.Digest}
	}
	if o := a.Outcome; o != nil {
		out.Outcome = &askback.Outcome{Status: o.Status, Actor: askback.Actor{Kind: o.Actor.Kind}, At: o.At}
	}
	return out
}

// hiddenText replaces the text of a question that the reader may not see.
const hiddenText = "(not for you)"

// reassignedBefore returns an ask that this principal gave to these people, and so cannot see
// any more: the call is repeated. Otherwise it returns err.
func (c *client) reassignedBefore(ctx context.Context, id string, r askback.Reassignment, err error) (*askRecord, error) {
	a, missing := c.engine.read(ctx, id)
	if missing != nil || a.state.Ask.ReassignedBy != c.who.Name || c.who.Kind == askback.Agent {
		return nil, err
	}
	for _, name := range r.To {
		if !slices.Contains(a.state.Ask.To, name) {
			return nil, err
		}
	}
	return a, nil
}

// Claim implements [askback.Inbox].
func (c *client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActClaim, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Claimed{By: c.who.Name, Via: c.who.Channel, At: t.now}, nil
	}))
}

// Seen implements [askback.Inbox].
func (c *client) Seen(ctx context.Context, id string) error {
	_, err := c.act(ctx, access.ActSeen, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Seen{By: c.who.Name, Via: c.who.Channel, At: t.now}, nil
	})
	return err
}

// Cancel implements [askback.Asker].
func (c *client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.copied(c.act(ctx, access.ActCancel, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Cancelled{By: c.actor(), Via: c.who.Channel, Reason: reason, At: t.now}, nil
	}))
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
	return c.copied(c.act(ctx, access.ActConsume, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		t.exclusive = true
		return lifecycle.Consumed{Digest: digest, At: t.now}, nil
	}))
}

// Ack implements [askback.Asker].
func (c *client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAck, id, func(t *tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Acked{At: t.now}, nil
	}))
}

// Get implements [askback.Inbox]. It changes nothing, not even an ask whose
// deadline is past.
func (c *client) Get(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.get(ctx, id))
}

func (c *client) get(ctx context.Context, id string) (*askRecord, error) {
	a, err := c.engine.read(ctx, id)
	if err == nil {
		err = c.authorizeAsk(access.ActGet, &a.state)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", access.ActGet, id, err)
	}
	return a, nil
}

// Wait implements [askback.Asker].
func (c *client) Wait(ctx context.Context, id string) (out askback.Ask, err error) {
	a, err := c.wait(ctx, id, revision.Limit{})
	c.copyAsk(&out, a)
	return out, err
}

// WaitRevision implements [revision.Source].
func (c *client) WaitRevision(ctx context.Context, id string, l revision.Limit) (*revision.Ask, error) {
	if l.Time == 0 {
		return c.shared(c.get(ctx, id))
	}
	return c.shared(c.wait(ctx, id, l))
}

// copyAsk sets out to a copy of the ask in a, if a is not nil. It is a function of its own so
// that the copies on its stack do not enlarge the stack of a goroutine that sleeps in Wait.
//
//go:noinline
func (c *client) copyAsk(out *askback.Ask, a *askRecord) {
	if a != nil {
		*out = c.visible(&a.state).Clone()
	}
}

// wait returns an ask when it is settled, or in its current state when the limit ends the
// wait; the zero limit never does. If ctx ends first, wait returns the ask with the cause of
// ctx. It keeps no copy of the ask while it sleeps, and its stack stays small: calls of Settled
// would enlarge it by a copy of the ask. A wait that ends at once is not counted and starts no
// timer.
func (c *client) wait(ctx context.Context, id string, l revision.Limit) (*askRecord, error) {
	if a := c.engine.cache.get(id); a != nil && a.state.Ask.Outcome != nil && c.authorizeAsk(access.ActGet, &a.state) == nil {
		return a, nil
	}
	w, err := c.beginWait(id)
	if err != nil {
		return nil, err
	}
	defer c.endWait(id, w)
	if a, err := c.readForWait(ctx, id); err != nil || a.state.Ask.Outcome != nil {
		return a, err
	}
	if a := sleepUntilSettled(ctx, w, l); a != nil {
		return a, nil
	}
	a, err := c.readForWait(ctx, id)
	if err != nil || a.state.Ask.Outcome != nil {
		return a, err
	}
	return a, context.Cause(ctx) // nil if the limit has ended the wait
}

// sleepUntilSettled returns the ask of a waiter when it is settled. It returns nil when ctx or
// the limit ends first.
func sleepUntilSettled(ctx context.Context, w *member, l revision.Limit) *askRecord {
	var stop <-chan struct{}
	if l.Stop != nil {
		stop = l.Stop.Done()
	}
	var timeout <-chan time.Time
	if l.Time > 0 {
		timer := time.NewTimer(l.Time)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case a := <-w.wake:
		return a
	case <-ctx.Done():
	case <-timeout:
	case <-stop:
	}
	return nil
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
func (c *client) readForWait(ctx context.Context, id string) (*askRecord, error) {
	a, err := c.engine.cache.get(id), error(nil)
	if a == nil {
		a, err = c.engine.fetchApart(context.WithoutCancel(ctx), id)
	}
	if err == nil {
		err = c.authorizeAsk(access.ActGet, &a.state)
	}
	if err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	return a, nil
}
