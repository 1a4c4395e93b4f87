package engine

import (
	"context"

	"github.com/askback/askback"
)

// A linkedClient is the client of a person who answers through a channel. The asks that it returns have the
// address of their page, as in a notification, because the channel writes new messages about them.
type linkedClient struct{ *client }

// Get implements [askback.Inbox].
func (c linkedClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := c.client.Get(ctx, id)
	return c.engine.db.WithPageURL(a), err
}

// List implements [askback.Inbox].
func (c linkedClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	page, err := c.client.List(ctx, q)
	for i, a := range page.Items {
		page.Items[i] = c.engine.db.WithPageURL(a)
	}
	return page, err
}

// Answer implements [askback.Inbox].
func (c linkedClient) Answer(ctx context.Context, id string, answer askback.Answer) (askback.Ask, error) {
	a, err := c.client.Answer(ctx, id, answer)
	return c.engine.db.WithPageURL(a), err
}

// Decline implements [askback.Inbox].
func (c linkedClient) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	a, err := c.client.Decline(ctx, id, reason)
	return c.engine.db.WithPageURL(a), err
}
