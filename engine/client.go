package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/feed"
	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/runs"
	"github.com/askback/askback/engine/internal/send"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/revision"
)

// client implements [askback.Client] for one principal. Each method checks the permission
// of the principal.
type client struct {
	txn.Caller
	engine *Engine
	peopleRoom
	sendRoom
	runsRoom
	feedRoom
}

// The parts of the client that packages in engine/internal implement.
type (
	peopleRoom = people.Client
	sendRoom   = send.Client
	runsRoom   = runs.Client
	feedRoom   = feed.Client
)

// act steps the ask with the given id, if this principal may do the action. The function input returns the
// input of the step. If the error is neither nil nor [askback.ErrSettled], the record is nil.
func (c *client) act(
	ctx context.Context, action access.Action, id string,
	input func(t *txn.Tx, a *lifecycle.AskState) (lifecycle.Input, error),
) (*txn.AskRecord, error) {
	var a *txn.AskRecord
	err := c.engine.db.Update(ctx, func(t *txn.Tx) (err error) {
		if a, err = t.AskNow(id); errors.Is(err, askback.ErrNotFound) {
			return c.AuthorizeRelation(action, "") // ErrForbidden does not depend on the ask, so no ask is read
		} else if err != nil {
			return err
		}
		if err := c.AuthorizeAsk(action, &a.State); err != nil {
			return err
		}
		if err := c.checkDangerous(action, &a.State.Ask); err != nil {
			return err
		}
		in, err := input(t, &a.State)
		if err != nil {
			return err
		}
		return a.Step(t, in)
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
func (c *client) copied(a *txn.AskRecord, err error) (askback.Ask, error) {
	if a == nil {
		return askback.Ask{}, err
	}
	return c.Visible(&a.State).Clone(), err
}

// shared returns the revision of the ask in a, and err. If a is nil, the revision is nil.
func (c *client) shared(a *txn.AskRecord, err error) (*revision.Ask, error) {
	if a == nil {
		return nil, err
	}
	if len(a.State.Held) > 0 {
		return revision.New(new(c.Visible(&a.State)), nil), err
	}
	if !a.State.Ask.Settled() {
		return revision.New(&a.State.Ask, nil), err
	}
	if a.Shared.Load() == nil {
		a.Shared.CompareAndSwap(nil, revision.New(&a.State.Ask, c.engine.db.Cache))
	}
	return a.Shared.Load(), err
}

// Answer implements [askback.Inbox].
func (c *client) Answer(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	return c.copied(c.answer(ctx, id, answer))
}

// AnswerRevision implements [revision.Source].
func (c *client) AnswerRevision(ctx context.Context, id string, answer askback.Answer) (*revision.Ask, error) {
	return c.shared(c.answer(ctx, id, answer))
}

func (c *client) answer(ctx context.Context, id string, answer askback.Answer) (*txn.AskRecord, error) {
	return c.act(ctx, access.ActAnswer, id, func(t *txn.Tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		return c.answered(t, a, answer)
	})
}

// Decline implements [askback.Inbox].
func (c *client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.copied(c.act(ctx, access.ActDecline, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Declined{By: c.Who.Name, Via: c.Who.Channel, Reason: reason, At: t.Now()}, nil
	}))
}

// Reassign implements [askback.Inbox].
func (c *client) Reassign(ctx context.Context, id string, r askback.Reassignment) (askback.Ask, error) {
	r, err := r.Normalize()
	if err != nil {
		return askback.Ask{}, err
	}
	record, err := c.act(ctx, access.ActReassign, id, func(t *txn.Tx, a *lifecycle.AskState) (lifecycle.Input, error) {
		return c.Reassigned(t, a, r)
	})
	if errors.Is(err, askback.ErrNotFound) {
		record, err = c.reassignedBefore(ctx, id, r, err)
	}
	a, err := c.copied(record, err)
	if a.ID != "" && c.AuthorizeAsk(access.ActGet, &lifecycle.AskState{Ask: a, Owner: a.Owner}) != nil {
		a = withoutContent(a)
	}
	return a, err
}

// withoutContent returns an ask that has its recipients and its state, but not its content.
func withoutContent(a askback.Ask) askback.Ask {
	out := askback.Ask{
		ID: a.ID, SessionID: a.SessionID, Agent: a.Agent, Owner: a.Owner, Kind: a.Kind, To: a.To,
		Recipients: a.Recipients, Approvers: a.Approvers, ReassignedBy: a.ReassignedBy, ReassignedAt: a.ReassignedAt,
		Quorum: a.Quorum, Status: a.Status, CreatedAt: a.CreatedAt, OnTimeout: a.OnTimeout,
	}
	for _, q := range a.Questions {
		out.Questions = append(out.Questions, askback.Question{ID: q.ID, Text: hiddenText})
	}
	if c := a.Confirmation; c != nil {
		out.Confirmation = &askback.Confirmation{
			ToolName: c.ToolName, Input: []byte("{}"), Tier: c.Tier, Digest: c.Digest,
		}
	}
	if o := a.Outcome; o != nil {
		out.Outcome = &askback.Outcome{Status: o.Status, Actor: askback.Actor{Kind: o.Actor.Kind}, At: o.At}
	}
	return out
}

// hiddenText replaces the text of a question that the reader may not see.
const hiddenText = "(not for you)"

// reassignedBefore returns the ask if this principal has already given the ask to these people. The principal
// can then no longer read the ask, and the call is a repeat. In any other case reassignedBefore returns err.
func (c *client) reassignedBefore(
	ctx context.Context, id string, r askback.Reassignment, err error,
) (*txn.AskRecord, error) {
	a, missing := c.engine.db.Read(ctx, id)
	if missing != nil || a.State.Ask.ReassignedBy != c.Who.Name || c.Who.Kind == askback.Agent {
		return nil, err
	}
	for _, name := range r.To {
		if !slices.Contains(a.State.Ask.To, name) {
			return nil, err
		}
	}
	return a, nil
}

// Claim implements [askback.Inbox].
func (c *client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActClaim, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Claimed{By: c.Who.Name, Via: c.Who.Channel, At: t.Now()}, nil
	}))
}

// Seen implements [askback.Inbox].
func (c *client) Seen(ctx context.Context, id string) error {
	_, err := c.act(ctx, access.ActSeen, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Seen{By: c.Who.Name, Via: c.Who.Channel, At: t.Now()}, nil
	})
	return err
}

// Cancel implements [askback.Asker].
func (c *client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.copied(c.act(ctx, access.ActCancel, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Cancelled{By: c.Actor(), Via: c.Who.Channel, Reason: reason, At: t.Now()}, nil
	}))
}

// Consume implements [askback.Asker]. If it is unknown whether this call has spent the
// approval, the error is [askback.ErrUnknown]: another process may have spent it.
func (c *client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActConsume, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		t.Exclusive = true
		return lifecycle.Consumed{Digest: digest, At: t.Now()}, nil
	}))
}

// Ack implements [askback.Asker].
func (c *client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.act(ctx, access.ActAck, id, func(t *txn.Tx, _ *lifecycle.AskState) (lifecycle.Input, error) {
		return lifecycle.Acked{At: t.Now()}, nil
	}))
}

// Get implements [askback.Asks]. It changes nothing, even if the deadline of the ask has passed.
func (c *client) Get(ctx context.Context, id string) (askback.Ask, error) {
	return c.copied(c.get(ctx, id))
}

func (c *client) get(ctx context.Context, id string) (*txn.AskRecord, error) {
	a, err := c.engine.db.Read(ctx, id)
	if err == nil {
		err = c.AuthorizeAsk(access.ActGet, &a.State)
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

// copyAsk sets out to a copy of the ask in a, if a is not nil. It is a separate function, so that its copies
// do not enlarge the stack of a goroutine that sleeps in Wait.
//
//go:noinline
func (c *client) copyAsk(out *askback.Ask, a *txn.AskRecord) {
	if a != nil {
		*out = c.Visible(&a.State).Clone()
	}
}

// wait returns an ask when it is settled. If the limit ends first, wait returns the pending ask. A limit of 0
// never ends. If ctx ends first, wait returns the ask with the cause of ctx.
//
// wait keeps no copy of the ask while it sleeps. It does not call Settled, because a copy of the ask would
// enlarge its stack. A wait for a settled ask is not counted and starts no timer.
func (c *client) wait(ctx context.Context, id string, l revision.Limit) (*txn.AskRecord, error) {
	if a := c.engine.db.Cache.Get(id); a != nil && a.State.Ask.Outcome != nil &&
		c.AuthorizeAsk(access.ActGet, &a.State) == nil {
		return a, nil
	}
	w, err := c.beginWait(id)
	if err != nil {
		return nil, err
	}
	defer c.endWait(id, w)
	if a, err := c.readForWait(ctx, id); err != nil || a.State.Ask.Outcome != nil {
		return a, err
	}
	if a := sleepUntilSettled(ctx, w, l); a != nil {
		return a, nil
	}
	a, err := c.readForWait(ctx, id)
	if err != nil || a.State.Ask.Outcome != nil {
		return a, err
	}
	return a, context.Cause(ctx) // the cause is nil if the limit has ended the wait
}

// sleepUntilSettled returns the ask of a waiter when it is settled. It returns nil if ctx or the limit ends
// first.
func sleepUntilSettled(ctx context.Context, w *txn.Member, l revision.Limit) *txn.AskRecord {
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
	case a := <-w.Wake:
		return a
	case <-ctx.Done():
	case <-timeout:
	case <-stop:
	}
	return nil
}

// beginWait counts and registers a waiter. The caller must call endWait after the wait.
func (c *client) beginWait(id string) (*txn.Member, error) {
	if err := c.engine.db.Quota.AddWaiter(c.Who); err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	return c.engine.db.Hub.Join(id, c.Who.Kind), nil
}

func (c *client) endWait(id string, w *txn.Member) {
	c.engine.db.Hub.Leave(id, w)
	c.engine.db.Quota.RemoveWaiter(c.Who)
}

// readForWait reads an ask that this principal may get, even if ctx has ended. The caller must not change the
// ask.
//
//go:noinline
func (c *client) readForWait(ctx context.Context, id string) (*txn.AskRecord, error) {
	a, err := c.engine.db.Cache.Get(id), error(nil)
	if a == nil {
		a, err = c.engine.db.FetchApart(context.WithoutCancel(ctx), id)
	}
	if err == nil {
		err = c.AuthorizeAsk(access.ActGet, &a.State)
	}
	if err != nil {
		return nil, fmt.Errorf("wait %s: %w", id, err)
	}
	return a, nil
}
