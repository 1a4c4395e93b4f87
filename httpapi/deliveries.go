package httpapi

import (
	"context"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
)

func (c *call) deliveries() error {
	in := c.r.URL.Query()
	if status := in.Get("status"); status != "" && status != string(askback.DeliveryFailed) {
		return askback.Invalid{{Pointer: "?status", Detail: "only deliveries that were given up are listed", Fix: "status=failed"}}
	}
	return c.result(c.client.FailedDeliveries(c.r.Context(), askback.DeliveryQuery{Cursor: in.Get("cursor"), Limit: limit(in.Get("limit"))}))
}

func (c *call) retryDelivery() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.result(c.client.RetryDelivery(c.r.Context(), c.id()))
}

// FailedDeliveries implements [askback.Deliveries].
func (c *Client) FailedDeliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error) {
	if err := q.Check(); err != nil {
		return askback.DeliveryPage{}, err
	}
	return fetch[askback.DeliveryPage](ctx, c, request{method: "GET", path: base + "/deliveries", query: filter(q.Limit, "cursor", q.Cursor).Encode()})
}

// RetryDelivery implements [askback.Deliveries].
func (c *Client) RetryDelivery(ctx context.Context, id string) (askback.Delivery, error) {
	return fetch[askback.Delivery](ctx, c, request{method: "POST", path: base + "/deliveries/" + url.PathEscape(id) + "/retry"})
}
