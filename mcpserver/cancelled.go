package mcpserver

import (
	"context"
	"net/http"
	"sync"
)

// cancelledMethod is how a client says that it does not wait for a reply any more.
const cancelledMethod = "notifications/cancelled"

// inFlight are the requests over HTTP that are being served and that a client can
// cancel: its notification is a request of its own and has to find the one it means.
// Its zero value is empty.
type inFlight struct {
	mu  sync.Mutex
	who map[string]*caller // nil: none yet
}

// cancellable makes a request of a client that has sessions one that it can cancel,
// and returns the function that ends it. Some clients leave the connection of a
// call open when their time is over, and send a notification instead. The client does
// not read a reply that is written there after that, so the call ends and gives nothing. The ask
// stays as it is, as after a disconnect. Another process over the same store does
// not receive the notification; the call ends there by itself.
func (s *Server) cancellable(m *message, who *caller, r *http.Request) (end func()) {
	if m == nil || who.session == "" || !beforeStateless(r) {
		return func() {}
	}
	if m.method == cancelledMethod {
		if other := s.inFlight.find(digest(who.name, who.session, string(m.cancelled))); other != nil {
			s.cancel(other)
		}
		return func() {}
	}
	if len(m.id) == 0 {
		return func() {}
	}
	live, leave := context.WithCancel(who.live)
	who.live, who.leave = live, leave
	key := digest(who.name, who.session, string(m.id))
	s.inFlight.begin(key, who)
	return func() { s.inFlight.end(key, who); leave() }
}

// begin adds a request until it ends. A client may use an id again: then the id means
// the later request.
func (f *inFlight) begin(key string, who *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.who == nil {
		f.who = map[string]*caller{}
	}
	f.who[key] = who
}

// find returns the request of a key, or nil.
func (f *inFlight) find(key string) *caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.who[key]
}

// end removes a request, unless a later one has its key.
func (f *inFlight) end(key string, who *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.who[key] == who {
		delete(f.who, key)
	}
}
