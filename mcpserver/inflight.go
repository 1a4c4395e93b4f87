package mcpserver

import (
	"context"
	"net/http"
	"sync"
)

// cancelledMethod is the notification of a client that no longer waits for a reply.
const cancelledMethod = "notifications/cancelled"

// inFlight has the HTTP requests that a client can cancel. A cancellation is a request of
// its own and must find the one it names. The zero value is empty.
type inFlight struct {
	mu      sync.Mutex
	callers map[string]*caller // nil before the first
}

// trackCancellation makes a request in a session cancellable, or cancels the request that m
// names. The returned function ends it.
//
// Some clients send a notification when they give up, and leave the connection open. The
// call then ends and delivers nothing, and the ask stays as after a disconnect. If another
// process receives the notification, the call ends by its own timeout.
func (s *Server) trackCancellation(m *message, caller *caller, r *http.Request) (end func()) {
	if m == nil || caller.session == "" || !beforeStateless(r) {
		return func() {}
	}
	if m.method == cancelledMethod {
		if other := s.inFlight.find(digest(caller.name, caller.session, string(m.cancelled))); other != nil {
			s.cancel(other)
		}
		return func() {}
	}
	if len(m.id) == 0 {
		return func() {}
	}
	connected, cancelWait := context.WithCancel(caller.connected)
	caller.connected, caller.cancelWait = connected, cancelWait
	key := digest(caller.name, caller.session, string(m.id))
	s.inFlight.begin(key, caller)
	return func() { s.inFlight.end(key, caller); cancelWait() }
}

// begin adds a request until it ends. If a client reuses an id, the id names the later
// request.
func (f *inFlight) begin(key string, c *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.callers == nil {
		f.callers = map[string]*caller{}
	}
	f.callers[key] = c
}

// find returns the request with a key, or nil.
func (f *inFlight) find(key string) *caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.callers[key]
}

// end removes a request, unless a later one has its key.
func (f *inFlight) end(key string, caller *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.callers[key] == caller {
		delete(f.callers, key)
	}
}
