package httpapi

import (
	"context"
	"net/url"

	"github.com/askback/askback"
)

func (c *call) grants() error {
	in := c.r.URL.Query()
	q := askback.GrantQuery{Agent: in.Get("agent"), Cursor: in.Get("cursor"), Limit: limit(in.Get("limit"))}
	switch in.Get("ended") {
	case "", "false":
	case "true":
		q.Ended = true
	default:
		return askback.Invalid{{Pointer: "?ended", Detail: "must be true or false", Fix: "ended=true"}}
	}
	return c.result(c.client.Grants(c.r.Context(), q))
}

func (c *call) revokeGrant() error {
	return c.result(c.client.Revoke(c.r.Context(), c.id()))
}

// Grants implements [askback.Grants].
func (c *Client) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	if err := q.Check(); err != nil {
		return askback.GrantPage{}, err
	}
	query := filter(q.Limit, "agent", q.Agent, "cursor", q.Cursor)
	if q.Ended {
		query.Set("ended", "true")
	}
	return fetch[askback.GrantPage](ctx, c, request{method: "GET", path: base + "/grants", query: query.Encode()})
}

// Revoke implements [askback.Grants].
func (c *Client) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	return fetch[askback.Grant](ctx, c, request{method: "DELETE", path: base + "/grants/" + url.PathEscape(id)})
}
