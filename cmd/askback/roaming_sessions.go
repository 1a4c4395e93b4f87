package main

import (
	"context"
	"iter"
	"net/http"

	"github.com/askback/askback"
)

// Start implements [askback.Sessions].
func (r roaming) Start(ctx context.Context, in askback.SessionRequest) (askback.Session, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Session, error) { return s.Start(ctx, in) })
}

// Session implements [askback.Sessions].
func (r roaming) Session(ctx context.Context, id string) (askback.Session, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Session, error) { return s.Session(ctx, id) })
}

// Sessions implements [askback.Sessions].
func (r roaming) Sessions(ctx context.Context, q askback.SessionQuery) (askback.SessionPage, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.SessionPage, error) { return s.Sessions(ctx, q) })
}

// Tell implements [askback.Sessions]. A message that got lost on the way back is said
// twice.
func (r roaming) Send(ctx context.Context, id string, t askback.Command) (askback.Session, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Session, error) { return s.Send(ctx, id, t) })
}

// Messages implements [askback.Sessions].
func (r roaming) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.MessagePage, error) {
		return s.Messages(ctx, id, cursor, limit)
	})
}

// Events implements [askback.Events]. It goes on behind the last event it handed over,
// at whoever holds the database then.
func (r roaming) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		more := true
		_, err := call(ctx, r, func(ctx context.Context, s askback.Client) (struct{}, error) {
			for ev, err := range s.Events(ctx, sessionID, after) {
				if err != nil {
					return struct{}{}, err
				}
				r.desk.reach()
				after = ev.Cursor
				if more = yield(ev, nil); !more {
					break
				}
			}
			return struct{}{}, nil
		})
		if more && err != nil {
			yield(askback.Event{}, err)
		}
	}
}

// watched ends a connection when its server cannot be reached: a stream looks for
// that server again and again, and the next one may be elsewhere.
type watched struct {
	next http.RoundTripper
	at   *connection
}

// RoundTrip implements [http.RoundTripper].
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(r)
	if err != nil && r.Context().Err() == nil {
		w.at.end()
	}
	return res, err
}

// CloseIdleConnections does that where the transport can.
func (w watched) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
