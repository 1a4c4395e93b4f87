package mcpserver

import (
	"context"
	"net/http"
)

// cancelledMethod is the notification of a client that no longer waits for a reply.
const cancelledMethod = "notifications/cancelled"

// trackCancellation makes a request in a session cancellable until end is called. If m is a
// cancellation, it cancels the request that m names.
//
// Some clients send a cancellation when they give up, and leave the connection open. The
// call then ends and delivers nothing, and the ask stays pending, as after a disconnect. If
// another process receives the cancellation, the call ends by its own timeout.
func (s *Server) trackCancellation(m *message, c *caller, r *http.Request) (end func()) {
	if m == nil || c.session == "" || !beforeStateless(r) {
		return func() {}
	}
	if m.method == cancelledMethod {
		if other, ok := s.inFlight.Load(digest(c.name, c.session, string(m.cancelled))); ok {
			s.cancel(other.(*caller))
		}
		return func() {}
	}
	if len(m.id) == 0 {
		return func() {}
	}
	c.connected, c.cancelWait = context.WithCancel(c.connected)
	// If a client reuses an id, the id names the later request.
	key := digest(c.name, c.session, string(m.id))
	s.inFlight.Store(key, c)
	return func() { s.inFlight.CompareAndDelete(key, c); c.cancelWait() }
}
