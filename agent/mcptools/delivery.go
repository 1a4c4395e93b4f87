package mcptools

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// A delivery is the delivery state of the HTTP request for a tool call. A tool runs at most once for an
// approval, so a call is repeated only if the server cannot have run the tool.
type delivery struct{ state atomic.Int32 }

const (
	unsent    = iota
	sent      // the server may run the tool
	refused   // the server replied to this request that its session does not exist
	abandoned // the request was not sent, and will not be sent
)

var errAbandoned = errors.New("the request was abandoned before it was sent")

type deliveryKey struct{}

// withDelivery returns a context for the request of a call. The request records its state in d.
func withDelivery(ctx context.Context, d *delivery) context.Context {
	return context.WithValue(ctx, deliveryKey{}, d)
}

// notRun reports whether the server certainly has not run the tool and will not run it. It abandons a request
// that was not sent yet, so that the request is not sent later.
func (d *delivery) notRun() bool {
	return d.state.CompareAndSwap(unsent, abandoned) || d.state.Load() == refused
}

// deliver sends req. If req is the request of a call, deliver records its state in the delivery of its
// context. Other requests with this context, such as a cancellation, do not change the delivery.
func deliver(req *http.Request, send http.RoundTripper) (*http.Response, error) {
	d, _ := req.Context().Value(deliveryKey{}).(*delivery)
	if d == nil || req.Method != http.MethodPost {
		return send.RoundTrip(req)
	}
	if !d.state.CompareAndSwap(unsent, sent) {
		if d.state.Load() == abandoned {
			return nil, errAbandoned
		}
		return send.RoundTrip(req)
	}
	reply, err := send.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch reply.StatusCode {
	case http.StatusNotFound:
		d.state.Store(refused)
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		d.state.Store(unsent) // the client sends the request again, to another address
	}
	return reply, nil
}
