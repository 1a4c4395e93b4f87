package mcpserver

import (
	"context"

	"github.com/askback/askback"
)

// checkedClient authenticates the token of an HTTP request again, because its body or its
// wait may take long. A token that was revoked meanwhile changes nothing, reads no outcome
// and consumes no approval.
type checkedClient struct {
	askback.Client
	authenticator Authenticator
	secret        string
}

// check returns an error unless the token is still valid.
func (g checkedClient) check(ctx context.Context) error {
	_, err := g.authenticator.Authenticate(ctx, g.secret)
	return err
}

// Ask implements [askback.Asker].
func (g checkedClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if err := g.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return g.Client.Ask(ctx, r)
}

// Cancel implements [askback.Asker].
func (g checkedClient) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := g.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return g.Client.Cancel(ctx, id, reason)
}

// List implements [Agent].
func (g checkedClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if err := g.check(ctx); err != nil {
		return askback.Page{}, err
	}
	return g.Client.List(ctx, q)
}

// Wait implements [askback.Asker].
func (g checkedClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := g.Client.Wait(ctx, id)
	if err != nil {
		return a, err
	}
	return g.ifValid(ctx, a)
}

// Get implements [Agent].
func (g checkedClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := g.Client.Get(ctx, id)
	if err != nil {
		return a, err
	}
	return g.ifValid(ctx, a)
}

// ifValid returns an ask if the token is still valid.
func (g checkedClient) ifValid(ctx context.Context, a askback.Ask) (askback.Ask, error) {
	if err := g.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return a, nil
}
