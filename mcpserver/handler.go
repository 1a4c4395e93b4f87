package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/login"
)

// An Authenticator identifies agents by their tokens.
type Authenticator interface {
	// Authenticate returns the principal of a token, or [askback.ErrUnauthorized]. Another
	// error means that the token could not be verified.
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the client of a principal. Only the methods of [Agent] are used. The type
	// is [askback.Client] so that an engine is an Authenticator.
	As(askback.Principal) askback.Client
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 2 << 20

// sessionHeader is the header with the id of a client's session, in revisions before
// 2026-07-28.
const sessionHeader = "Mcp-Session-Id"

// Handler returns a handler that serves agents over HTTP. Each agent sends its own token in
// the header Authorization. No request depends on the memory of this process, so any process
// with the same store can serve it, in every revision of the protocol.
func (s *Server) Handler(a Authenticator) http.Handler {
	protocol := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.protocol },
		// Host may be any name, as behind a proxy. DNS rebinding is no threat, because a
		// page of another origin has no token.
		&mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true},
	)
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cross.Check(r) != nil {
			login.RefuseBody(w, r)
			writeProblem(w, http.StatusForbidden, "a page of another origin may not do that")
			return
		}
		if err := s.requests.begin(); err != nil {
			login.RefuseBody(w, r)
			s.writeError(w, err)
			return
		}
		defer s.requests.end()
		caller, err := s.authenticate(a, r)
		if err != nil {
			login.RefuseBody(w, r)
			s.writeError(w, err)
			return
		}
		login.ExtendBody(w, r, login.BodyTime)
		s.seeSession(caller, r.Method)
		s.serve(protocol, caller, w, r)
	})
}

// authenticate returns the caller of a request.
func (s *Server) authenticate(a Authenticator, r *http.Request) (*caller, error) {
	secret, err := bearer(r)
	if err != nil {
		return nil, err
	}
	caller, err := s.authenticateSecret(r.Context(), a, secret)
	switch {
	case err != nil:
		return nil, err
	case s.stopping.Err() != nil:
		return nil, askback.ErrStopping
	}
	caller.session, caller.connected, caller.acks = r.Header.Get(sessionHeader), r.Context(), &s.acks
	var known session
	if caller.session != "" && s.signer.verify(caller.session, &known, "session", caller.name) {
		caller.clientName = known.Client
		if known.Started > 0 {
			caller.started = time.UnixMilli(known.Started)
		}
	}
	return caller, nil
}

// serve serves a direct call or a subscription, rejects a batch, and passes any other request to the
// protocol. The outcomes in the reply are discarded if the client was gone before the reply, if a write
// failed, or if serving panicked. The client may close the connection as soon as it has the reply.
func (s *Server) serve(protocol http.Handler, caller *caller, w http.ResponseWriter, r *http.Request) {
	reply, arrived := s.newDeadlineWriter(w, func() { s.startReply(caller, r.Context().Err() != nil) }), false
	defer reply.finish()
	defer func() {
		s.finishReply(caller, arrived)
		s.stopWaiting(caller, caller.lost() || !arrived)
	}()
	raw, err := readBody(r)
	if isBatch(raw) {
		rejectMessage(reply, nil, jsonrpc.CodeInvalidRequest, "send one message at a time, not a list of them")
		return
	}
	if err == nil {
		if d := s.newDirectCall(caller, r.Header, raw); d != nil {
			defer s.trackCancellation(&message{method: d.method, id: d.id}, caller, r)()
			d.serve(r.Context(), reply)
			arrived = reply.flushed()
			return
		}
	}
	if sub := subscriptionOf(r.Header, raw); err == nil && sub != nil {
		s.serveListen(sub, caller, reply, r)
		arrived = reply.flushed()
		return
	}
	m := peek(r, raw)
	if checkTaskHeader(m, reply, r) {
		return
	}
	s.startSession(m, caller, w, r)
	defer s.trackCancellation(m, caller, r)()
	protocol.ServeHTTP(reply, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	if r.Context().Err() != nil {
		caller.leave()
	}
	arrived = !caller.hasDeliveries() || reply.flushed()
}

// startSession sends a session id to a client that initializes without one, in a revision
// with sessions. The id contains the client's name, which later requests do not have. The
// server does not store it.
func (s *Server) startSession(m *message, caller *caller, w http.ResponseWriter, r *http.Request) {
	if m == nil || m.method != "initialize" || caller.session != "" || !beforeStateless(r) {
		return
	}
	var info struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.clientInfo, &info) // the protocol reports invalid JSON
	id := session{
		Random: rand.Text(), Client: clip(info.Name, maxName), Started: time.Now().UnixMilli(),
	}
	w.Header().Set(sessionHeader, s.signer.sign(id, "session", caller.name))
}

// writeError writes the problem for a request that is not authenticated, or that arrives while
// the server stops.
func (s *Server) writeError(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		w.Header().Set("WWW-Authenticate", s.challenge(err))
		writeProblem(w, http.StatusUnauthorized, "send the header Authorization: Bearer with the token of an agent; "+
			"for a token of the issuer, the log of the server has the reason")
	case errors.Is(err, askback.ErrForbidden):
		writeProblem(w, http.StatusForbidden, "only agents may use this address, and the token does not belong to one")
	case errors.Is(err, askback.ErrStopping):
		w.Header().Set("Retry-After", "1")
		writeProblem(w, http.StatusServiceUnavailable, askback.ErrStopping.Error())
	default:
		s.log.Warn("a request could not be authenticated", "error", err)
		w.Header().Set("Retry-After", "5")
		writeProblem(w, http.StatusServiceUnavailable, "the token could not be verified; try again")
	}
}

// writeProblem writes a problem (RFC 9457).
func writeProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may be gone
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
}
