package mcpserver

import (
	"context"

	"github.com/askback/askback"
)

// A checkedClient is an Agent that authenticates the token of an HTTP request again for each ask that it
// creates, cancels or reads. The body of the request or the wait may take long, and the token may be revoked
// in the meantime. With a revoked token, a call changes nothing, reads no outcome and consumes no approval.
type checkedClient struct {
	Agent
	authenticator Authenticator
	secret        string
}

// check returns an error unless the token is still valid.
func (c checkedClient) check(ctx context.Context) error {
	_, err := c.authenticator.Authenticate(ctx, c.secret)
	return err
}

// Ask implements [askback.Asker].
func (c checkedClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if err := c.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return c.Agent.Ask(ctx, r)
}

// Cancel implements [askback.Asker].
func (c checkedClient) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := c.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return c.Agent.Cancel(ctx, id, reason)
}

// List implements [askback.Asks].
func (c checkedClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if err := c.check(ctx); err != nil {
		return askback.Page{}, err
	}
	return c.Agent.List(ctx, q)
}

// Wait implements [askback.Asker].
func (c checkedClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := c.Agent.Wait(ctx, id)
	return c.ifValid(ctx, a, err)
}

// Get implements [askback.Asks].
func (c checkedClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := c.Agent.Get(ctx, id)
	return c.ifValid(ctx, a, err)
}

// ifValid returns a and err. If err is nil but the token cannot be authenticated, it returns the error of the
// authentication without the ask.
func (c checkedClient) ifValid(ctx context.Context, a askback.Ask, err error) (askback.Ask, error) {
	if err != nil {
		return a, err
	}
	if err := c.check(ctx); err != nil {
		return askback.Ask{}, err
	}
	return a, nil
}
