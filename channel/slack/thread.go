package slack

import (
	"context"

	"github.com/askback/askback"
)

// A History lists the asks and the deliveries of a session.
type History interface {
	List(ctx context.Context, q askback.Query) (askback.Page, error)
	Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error)
}

// threadAsks is the maximum number of earlier asks that are examined. The messages of these asks are all in
// the same thread, so the last few suffice.
const threadAsks = 10

// ThreadOf returns the receipt of an earlier message to the same address in the session of the ask, or "".
// Each receipt contains the thread, so any receipt leads to the first message. Nothing else is stored,
// because the thread follows from the deliveries of the session.
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
