package mcpserver

import (
	"context"

	"github.com/askback/askback"
)

// guarded is the seat of a request over HTTP. It does something for a token that is
// good once the body was read, which may take its time. An outcome is told to one that is good
// when it is told: one that was revoked while its call waited hears nothing, and
// spends no approval.
type guarded struct {
	askback.Client
	gate   Gate
	secret string
}

// good says whether the token is good now.
func (g guarded) good(ctx context.Context) error {
	_, err := g.gate.Authenticate(ctx, g.secret)
	return err
}

// Ask implements [askback.Asker].
func (g guarded) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if err := g.good(ctx); err != nil {
		return askback.Ask{}, err
	}
	return g.Client.Ask(ctx, r)
}

// Cancel implements [askback.Asker].
func (g guarded) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := g.good(ctx); err != nil {
		return askback.Ask{}, err
	}
	return g.Client.Cancel(ctx, id, reason)
}

// List returns asks of this agent.
func (g guarded) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if err := g.good(ctx); err != nil {
		return askback.Page{}, err
	}
	return g.Client.List(ctx, q)
}

// Wait implements [askback.Asker].
func (g guarded) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := g.Client.Wait(ctx, id)
	if err != nil {
		return a, err
	}
	return g.still(ctx, a)
}

// Get returns an ask of this agent.
func (g guarded) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := g.Client.Get(ctx, id)
	if err != nil {
		return a, err
	}
	return g.still(ctx, a)
}

// still is the ask, as long as the token is good.
func (g guarded) still(ctx context.Context, a askback.Ask) (askback.Ask, error) {
	if err := g.good(ctx); err != nil {
		return askback.Ask{}, err
	}
	return a, nil
}
