package httpapi

import (
	"context"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

func (c *call) deliveries() error {
	return c.result(c.client.Deliveries(c.r.Context(), askback.DeliveryQuery{
		Status: askback.DeliveryStatus(c.param("status")), AskID: c.param("question_id"),
		SessionID: c.param("session_id"), Cursor: c.param("cursor"), Limit: limit(c.param("limit")),
	}))
}

func (c *call) retryDelivery() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.result(c.client.RetryDelivery(c.r.Context(), c.id()))
}

// Deliveries implements [askback.Deliveries].
func (c *Client) Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error) {
	if err := q.Check(); err != nil {
		return askback.DeliveryPage{}, err
	}
	query := filter(q.Limit, "status", string(q.Status), "question_id", q.AskID, "session_id", q.SessionID, "cursor",
		q.Cursor)
	return fetch[askback.DeliveryPage](ctx, c,
		request{method: "GET", path: base + "/deliveries", query: query.Encode()})
}

// RetryDelivery implements [askback.Deliveries].
func (c *Client) RetryDelivery(ctx context.Context, id string) (askback.Delivery, error) {
	return fetch[askback.Delivery](ctx, c,
		request{method: "POST", path: base + "/deliveries/" + url.PathEscape(id) + "/retry"})
}
