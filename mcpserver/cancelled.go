package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// flights are the requests of sessions that are being served, so that a client's
// notifications/cancelled, which is a request of its own, finds the one it means.
type flights struct {
	mu  sync.Mutex
	end map[string]*context.CancelFunc // nil: none yet
}

// heed stands before the protocol of clients that have sessions. Some of them leave
// the connection of a call open when they lose patience, and say so in a
// notification instead: what is written there then is read by nobody, so the call
// ends and gives nothing. The ask stays as it is, as after a disconnect. Another
// process over the same store does not hear of it; the call ends there by itself.
func (s *Server) heed(protocol http.Handler) http.Handler {
	f := &s.flights
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := callerOf(r.Context())
		if err != nil || who.session == "" || r.Method != http.MethodPost || r.Header.Get("Mcp-Protocol-Version") >= statelessVersion {
			protocol.ServeHTTP(w, r) // closing the connection is how those say it
			return
		}
		var message struct {
			Method string          `json:"method"`
			ID     json.RawMessage `json:"id"`
			Params struct {
				ID json.RawMessage `json:"requestId"`
			} `json:"params"`
		}
		if json.Unmarshal(peek(r), &message) != nil {
			protocol.ServeHTTP(w, r) // which says what is wrong with it
			return
		}
		switch {
		case message.Method == "notifications/cancelled":
			f.cancel(digest(who.name, who.session, string(message.Params.ID)))
		case len(message.ID) > 0:
			live, cancel := context.WithCancel(who.live)
			defer cancel()
			who.live = live
			defer f.begin(digest(who.name, who.session, string(message.ID)), &cancel)()
		}
		protocol.ServeHTTP(w, r)
	})
}

// begin notes a request until the function it returns is called.
func (f *flights) begin(key string, cancel *context.CancelFunc) (over func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = map[string]*context.CancelFunc{}
	}
	f.end[key] = cancel
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.end[key] == cancel {
			delete(f.end, key)
		}
	}
}

// cancel ends a request, if it is served.
func (f *flights) cancel(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel := f.end[key]; cancel != nil {
		(*cancel)()
	}
}

// peek returns the body of a request, which can still be read after it. One that is
// too large, or breaks off, is so for the next reader too.
func peek(r *http.Request) []byte {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	return body
}
