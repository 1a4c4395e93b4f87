package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// pairsPerEngine is the number of pairs after which an engine is replaced, because its
// memory grows with each pair.
const pairsPerEngine = 200

// An engineChecker checks pairs by approving and consuming the calls in a real engine.
type engineChecker struct {
	pairs                     int
	agent, otherAgent, person askback.Client
}

func newEngineChecker() *engineChecker { return &engineChecker{} }

// nextPair counts a pair, and replaces the engine after pairsPerEngine pairs.
func (p *engineChecker) nextPair() {
	if p.pairs++; p.pairs%pairsPerEngine != 1 {
		return
	}
	e := engine.New(memstore.New(), nil)
	p.agent = e.As(askback.Principal{Kind: askback.Agent, Name: "executor"})
	p.otherAgent = e.As(askback.Principal{Kind: askback.Agent, Name: "stranger"})
	p.person = e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
}

func (p *engineChecker) ask(ctx context.Context, c *toolCall) (askback.Ask, error) {
	return p.agent.Ask(ctx, askback.Request{Agent: c.names[0], Confirmation: &askback.Confirmation{
		Server: c.names[1], ToolName: c.names[2], Input: c.raw,
	}})
}

// check approves the first call of a pair, and tries to consume the approval with the second call. If both
// calls have the same agent, server and tool, it also calls edit.
func (p *engineChecker) check(ctx context.Context, pair *pair) (bad []violation, err error) {
	p.nextPair()
	approved, err := p.ask(ctx, pair.approved)
	if err != nil {
		return nil, fmt.Errorf("ask for an approval: %w", err)
	}
	digest, err := p.digestOf(ctx, pair)
	if err != nil {
		return nil, err
	}
	if digest == "" && pair.means == sameCall {
		return []violation{violated(rejected, "the engine refuses it")}, nil
	}
	if digest != "" && pair.means == invalidCall {
		return []violation{violated(accepted, "the engine takes it")}, nil
	}
	if _, err := p.agent.Consume(ctx, approved.ID, digest); !errors.Is(err, askback.ErrNotApproved) {
		bad = append(bad, violated(accepted, "spent before anybody approved: %v", err))
	}
	if _, err := p.person.Answer(ctx, approved.ID, askback.Decide(askback.Approve, "")); err != nil {
		return bad, fmt.Errorf("approve: %w", err)
	}
	bad = append(bad, p.consume(ctx, approved, digest, pair.means)...)
	if pair.approved.names != pair.changed.names {
		return bad, nil // people can edit only arguments
	}
	edited, err := p.edit(ctx, pair, digest)
	return append(bad, edited...), err
}

// edit asks for the first call of a pair, and approves the arguments of the second call instead. Only the
// second call may then be consumed.
func (p *engineChecker) edit(ctx context.Context, pair *pair, digest string) ([]violation, error) {
	a, err := p.ask(ctx, pair.approved)
	if err != nil {
		return nil, fmt.Errorf("ask for an approval: %w", err)
	}
	a, err = p.person.Answer(ctx, a.ID, askback.Answer{Decision: askback.Approve, Input: pair.changed.raw})
	var invalid askback.Invalid
	switch {
	case errors.As(err, &invalid) && digest == "":
		return nil, nil
	case err != nil:
		return []violation{violated(rejected, "approved as edited: %v", err)}, nil
	case digest == "":
		return []violation{violated(accepted, "it is taken from a person, and not from an agent")}, nil
	case a.Outcome.Digest != digest:
		return []violation{violated(accepted, "approved as edited: got %s, want %s", a.Outcome.Digest, digest)}, nil
	}
	before := a.Confirmation.Digest
	a.Confirmation.Digest = digest // the approved digest
	return p.consume(ctx, a, before, pair.means), nil
}

// digestOf asks for the second call of a pair and returns its digest, or "" if the engine
// rejects the call.
func (p *engineChecker) digestOf(ctx context.Context, pair *pair) (string, error) {
	a, err := p.ask(ctx, pair.changed)
	var invalid askback.Invalid
	if errors.As(err, &invalid) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for another approval: %w", err)
	}
	return a.Confirmation.Digest, nil
}

// consume checks that an approval is consumed only with the approved digest, only by the
// agent that asked, and only once.
func (p *engineChecker) consume(ctx context.Context, a askback.Ask, digest string, means effect) (bad []violation) {
	try := func(who askback.Client, digest string, want error, what string) {
		if _, err := who.Consume(ctx, a.ID, digest); !errors.Is(err, want) {
			f := accepted
			if want == nil {
				f = rejected
			}
			bad = append(bad, violated(f, "%s: got %v, want %v", what, err, want))
		}
	}
	try(p.otherAgent, a.Confirmation.Digest, askback.ErrNotFound, "spent by another agent")
	if means == sameCall {
		try(p.agent, digest, nil, "the same call")
	} else {
		try(p.agent, digest, askback.ErrDigest, "another call")
		try(p.agent, a.Confirmation.Digest, nil, "the approved call, after another was refused")
	}
	try(p.agent, a.Confirmation.Digest, askback.ErrConsumed, "the approved call again")
	return bad
}
