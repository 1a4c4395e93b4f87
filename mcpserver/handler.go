package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// A Gate lets agents in.
type Gate interface {
	// Authenticate returns whose secret this is, or askback.ErrUnauthorized.
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the seat of a principal. Only what an [Agent] has is used of it; it
	// is a whole seat because that is what an engine gives, whose methods would not
	// fit otherwise.
	As(askback.Principal) askback.Client
}

// maxBody bounds a request (wire.md §1).
const maxBody = 2 << 20

// sessionHeader holds the id of a client's session. Revisions before 2026-07-28
// have it.
const sessionHeader = "Mcp-Session-Id"

// Handler serves agents over HTTP, each with a token of its own in the header
// Authorization. Nothing is kept between two requests, so every revision of the
// protocol is served the same way, by any process over the same store, and goes
// on after a restart.
func (s *Server) Handler(g Gate) http.Handler {
	protocol := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.protocol },
		// A token is needed, which no page of another origin has, so the name in
		// Host need not be a local one: there may be a proxy before this server.
		&mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true},
	)
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cross.Check(r) != nil {
			refuse(w, http.StatusForbidden, "a page of another origin may not do that")
			return
		}
		if err := s.requests.begin(); err != nil {
			s.refuse(w, err)
			return
		}
		defer s.requests.end()
		who, err := s.admit(g, r)
		if err != nil {
			s.refuse(w, err)
			return
		}
		s.serve(protocol, who, w, r)
	})
}

// admit finds out who makes a request.
func (s *Server) admit(g Gate, r *http.Request) (*caller, error) {
	secret, err := bearer(r)
	if err != nil {
		return nil, err
	}
	who, err := s.seat(r.Context(), g, secret)
	switch {
	case err != nil:
		return nil, err
	case s.stopping.Err() != nil:
		return nil, askback.ErrStopping
	}
	who.session, who.live, who.acks = r.Header.Get(sessionHeader), r.Context(), &s.acks
	var known session
	if s.seal.open(who.session, &known, "session", who.name) {
		who.client = known.Client
	}
	return who, nil
}

// serve gives a request to the protocol. What was given to the agent is taken
// back when the client was gone before its reply, the reply was not written whole, or
// the protocol panicked. A client may close the connection as soon as it has the reply.
func (s *Server) serve(protocol http.Handler, who *caller, w http.ResponseWriter, r *http.Request) {
	reply, arrived := s.bound(w, func() { s.startReply(who, r.Context().Err() != nil) }), false
	defer reply.end()
	defer func() { s.replied(who, arrived) }()
	if isBatch(r) {
		refuseMessage(reply, nil, jsonrpc.CodeInvalidRequest, "send one message at a time, not a list of them")
		return
	}
	m := peek(r)
	if checkTaskHeader(m, reply, r) {
		return
	}
	s.offerSession(m, who, w, r)
	defer s.cancellable(m, who, r)()
	protocol.ServeHTTP(reply, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	arrived = !who.gave() || reply.arrived()
}

// offerSession gives a client that begins a session its id. It says which client
// this is, since later requests do not, and is kept by the client alone.
func (s *Server) offerSession(m *message, who *caller, w http.ResponseWriter, r *http.Request) {
	if m == nil || m.method != "initialize" || who.session != "" || !beforeStateless(r) {
		return
	}
	var client struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.client, &client) // the protocol says what is wrong with it
	named := session{Random: rand.Text(), Client: clip(client.Name)}
	w.Header().Set(sessionHeader, s.seal.close(named, "session", who.name))
}

// refuse says why a request is not let in.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		w.Header().Set("WWW-Authenticate", s.challenge(err))
		refuse(w, http.StatusUnauthorized, "send Authorization: Bearer and an agent's token; what is wrong with one of the issuer is in the server's log")
	case errors.Is(err, askback.ErrForbidden):
		refuse(w, http.StatusForbidden, "this door is for agents; the token is not one's")
	case errors.Is(err, askback.ErrStopping):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, askback.ErrStopping.Error())
	default:
		s.log.Warn("a request could not be let in", "error", err)
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "who this is could not be found out; try again")
	}
}

// refuse writes a problem (RFC 9457).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // whoever went away does not read it
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
}
