package mcpserver

import (
	"context"
	"net/http"
	"sync"
)

// inFlight are the requests of sessions that are being served, so that a client's
// notifications/cancelled, which is a request of its own, finds the one it means.
type inFlight struct {
	mu  sync.Mutex
	end map[string]*context.CancelFunc // nil: none yet
}

// cancellable makes a request of a client that has sessions one that it can cancel,
// until the function it returns is called. Some of them leave the connection of a
// call open when they lose patience, and say so in a notification instead: what is
// written there then is read by nobody, so the call ends and gives nothing. The ask
// stays as it is, as after a disconnect. Another process over the same store does
// not hear of it; the call ends there by itself. Others close the connection.
func (s *Server) cancellable(m *message, who *caller, r *http.Request) (over func()) {
	if m == nil || who.session == "" || !beforeStateless(r) {
		return func() {}
	}
	if m.method == "notifications/cancelled" {
		s.inFlight.cancel(digest(who.name, who.session, string(m.cancelled)))
		return func() {}
	}
	if len(m.id) == 0 {
		return func() {}
	}
	live, cancel := context.WithCancel(who.live)
	who.live = live
	gone := s.inFlight.begin(digest(who.name, who.session, string(m.id)), &cancel)
	return func() { gone(); cancel() }
}

// begin notes a request until the function it returns is called.
func (f *inFlight) begin(key string, cancel *context.CancelFunc) (over func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = map[string]*context.CancelFunc{}
	}
	f.end[key] = cancel
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.end[key] == cancel { // a client may use an id twice
			delete(f.end, key)
		}
	}
}

// cancel ends a request, if it is served.
func (f *inFlight) cancel(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel := f.end[key]; cancel != nil {
		(*cancel)()
	}
}
