package slack

import (
	"context"

	"github.com/askback/askback"
)

// A History lists what was asked and what was sent.
type History interface {
	List(ctx context.Context, q askback.Query) (askback.Page, error)
	Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error)
}

// threadAsks is how many asks before the present one are examined. Each of them that is in Slack
// leads to the thread, so that the last few suffice.
const threadAsks = 10

// ThreadOf returns the receipt of an earlier message of the session of an ask at the same place,
// or "". A receipt has the thread of its message, so any of them leads to the first one. Nothing
// else is stored: the deliveries of a session are the memory of its thread.
func ThreadOf(ctx context.Context, h History, n askback.Notification) (receipt string) {
	page, err := h.List(ctx, askback.Query{SessionID: n.SessionID, Status: askback.AnyStatus, Limit: threadAsks})
	if err != nil {
		return ""
	}
	for _, a := range page.Items {
		if a.ID == n.AskID {
			continue
		}
		sent, err := h.Deliveries(ctx, askback.DeliveryQuery{AskID: a.ID})
		if err != nil {
			return ""
		}
		for _, d := range sent.Items {
			if d.Channel == n.Channel && d.Target == n.Target && d.Receipt != "" {
				return d.Receipt
			}
		}
	}
	return ""
}
