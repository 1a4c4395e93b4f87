package mcpserver

import (
	"context"
	"net/http"
	"sync"
)

// cancelledMethod is how a client says that it does not wait for a reply any more.
const cancelledMethod = "notifications/cancelled"

// inFlight are the requests that a client can cancel, so that its notification, which
// over HTTP is a request of its own, finds the one it means: those that are being
// served, and those that have replied and whose receipts wait.
type inFlight struct {
	mu  sync.Mutex
	who map[string]*caller // nil: none yet
}

// cancellable makes a request of a client that has sessions one that it can cancel,
// and returns what ends what it holds. Some of them leave the connection of a
// call open when they lose patience, and say so in a notification instead: what is
// written there then is read by nobody, so the call ends and gives nothing. The ask
// stays as it is, as after a disconnect. Another process over the same store does
// not hear of it; the call ends there by itself. Others close the connection.
func (s *Server) cancellable(m *message, who *caller, r *http.Request) (over func()) {
	if m == nil || who.session == "" || !beforeStateless(r) {
		return func() {}
	}
	if m.method == cancelledMethod {
		s.cancel(digest(who.name, who.session, string(m.cancelled)))
		return func() {}
	}
	if len(m.id) == 0 {
		return func() {}
	}
	who.live, who.leave = context.WithCancel(who.live)
	s.inFlight.begin(digest(who.name, who.session, string(m.id)), who)
	return who.leave
}

// cancel ends a request, if it is served, and takes back what it gave, unless that
// has its receipt already. The reply may be on its way: nobody reads it.
func (s *Server) cancel(key string) {
	who := s.inFlight.find(key)
	if who == nil {
		return
	}
	if who.leave != nil {
		who.leave()
	}
	s.replied(who, false) // if it is not yet: then nothing comes of its reply
	for _, r := range who.receipts.takeBack(who) {
		s.memory.forget(r.mark)
	}
}

// begin notes a request until it ends. A client may use an id again: then it means
// the later request.
func (f *inFlight) begin(key string, who *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.who == nil {
		f.who = map[string]*caller{}
	}
	who.key = key
	f.who[key] = who
}

// find returns the request of a key, or nil.
func (f *inFlight) find(key string) *caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.who[key]
}

// end forgets a request, if it was noted.
func (f *inFlight) end(who *caller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.who[who.key] == who {
		delete(f.who, who.key)
	}
}
