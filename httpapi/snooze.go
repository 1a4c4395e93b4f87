package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

func (c *call) snoozed() error { return c.result(c.client.Snoozed(c.r.Context(), c.id())) }

func (c *call) snooze() error {
	until, err := decode.Snooze(c.body)
	if err != nil {
		return err
	}
	return c.result(c.client.Snooze(c.r.Context(), c.id(), until))
}

func (c *call) unsnooze() error {
	if err := c.client.Unsnooze(c.r.Context(), c.id()); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

type wireSnooze struct {
	Until time.Time `json:"until"`
}

// Snooze implements [askback.Snoozer].
func (c *Client) Snooze(ctx context.Context, id string, until time.Time) (askback.Snooze, error) {
	return fetch[askback.Snooze](ctx, c,
		request{method: "PUT", path: askPath(id, "/snooze"), body: wireSnooze{until.UTC()}})
}

// Snoozed implements [askback.Snoozer].
func (c *Client) Snoozed(ctx context.Context, id string) (askback.Snooze, error) {
	return fetch[askback.Snooze](ctx, c, request{method: "GET", path: askPath(id, "/snooze")})
}

// Unsnooze implements [askback.Snoozer].
func (c *Client) Unsnooze(ctx context.Context, id string) error {
	_, _, err := c.do(ctx, request{method: "DELETE", path: askPath(id, "/snooze")}, nil)
	return err
}
