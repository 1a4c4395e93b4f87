package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// A Gate lets agents in.
type Gate interface {
	// Authenticate returns whose secret this is, or askback.ErrUnauthorized.
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the seat of a principal.
	As(askback.Principal) askback.Seat
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
	protocol := s.heed(headed(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.protocol },
		// A token is needed, which no page of another origin has, so the name in
		// Host need not be a local one: there may be a proxy before this server.
		&mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true},
	)))
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cross.Check(r) != nil {
			refuse(w, http.StatusForbidden, "a page of another origin may not do that")
			return
		}
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
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, askback.ErrUnauthorized
	}
	p, err := g.Authenticate(r.Context(), strings.TrimSpace(secret))
	switch {
	case err != nil:
		return nil, err
	case p.Kind != askback.Agent:
		return nil, askback.ErrForbidden // whoever may answer must not ask as well
	case s.stopping.Err() != nil:
		return nil, askback.ErrStopping
	}
	who := &caller{seat: g.As(p), name: p.Name, session: r.Header.Get(sessionHeader), live: r.Context()}
	var known session
	if s.seal.open(who.session, &known, "session", p.Name) {
		who.client = known.Client
	}
	return who, nil
}

// serve gives a request to the protocol. What was given to the agent is taken
// back when the connection broke before all of it was sent.
func (s *Server) serve(protocol http.Handler, who *caller, w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if who.session == "" && r.Header.Get("Mcp-Protocol-Version") < statelessVersion {
		s.offerSession(who, w, r)
	}
	// A call may wait for minutes: the server's own bounds are for reading a
	// request. Where there is no connection, as in a test, there are none.
	_ = control.SetWriteDeadline(time.Time{})
	protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	s.sent(who, r.Context().Err() == nil)
}

// offerSession gives a client that begins a session its id. It says which client
// this is, since later requests do not, and is kept by the client alone.
func (s *Server) offerSession(who *caller, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return // the protocol's handler meets the same
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	var begin struct {
		Method string `json:"method"`
		Params struct {
			Client struct {
				Name string `json:"name"`
			} `json:"clientInfo"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &begin) == nil && begin.Method == "initialize" {
		named := session{Random: rand.Text(), Client: clip(begin.Params.Client.Name)}
		w.Header().Set(sessionHeader, s.seal.close(named, "session", who.name))
	}
}

// refuse says why a request is not let in.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		w.Header().Set("WWW-Authenticate", `Bearer realm="askback"`)
		refuse(w, http.StatusUnauthorized, "send Authorization: Bearer and an agent's token")
	case errors.Is(err, askback.ErrForbidden):
		refuse(w, http.StatusForbidden, "this door is for agents; the token is not one's")
	case errors.Is(err, askback.ErrStopping):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, askback.ErrStopping.Error())
	default:
		s.log.Error("a request could not be let in", "error", err)
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
