package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/wire/openapi"
)

// Body returns the body that the client sends for a request, an answer or a command.
func Body(v any) ([]byte, error) {
	var content any
	switch v := v.(type) {
	case askback.Request:
		return appendRequest(v, nil)
	case askback.Answer:
		return appendAnswer(v, nil)
	case askback.TokenRequest:
		return appendTokenRequest(v, nil)
	case askback.EndpointRequest:
		return appendEndpointRequest(v, nil)
	case askback.ContactRequest:
		return appendContactRequest(v, nil)
	case askback.SessionRequest:
		content = sessionBody(v)
	case askback.Command:
		r, err := commandRequest("ses_1", v)
		if err != nil {
			return nil, err
		}
		content = r.body
	}
	return appendJSON(nil, content)
}

// Routes returns the paths of the routes, keyed by method.
func Routes() map[string][]string {
	out := map[string][]string{}
	for _, rt := range routes {
		out[rt.method] = append(out[rt.method], rt.path)
	}
	return out
}

// Paths returns the distinct paths of the routes.
func Paths() []string {
	var out []string
	for _, rt := range routes {
		if !slices.Contains(out, rt.path) {
			out = append(out, rt.path)
		}
	}
	return out
}

// A Route is a copy of a route with exported fields.
type Route struct {
	Method, Path string
	Action, Or   access.Action
	Open, Body   bool
	Limit        int64 // maximum size of the body in bytes
	Doc          openapi.Route
}

// Table returns all routes, in the order of the documentation page.
func Table() []Route {
	var out []Route
	for i, doc := range routeDocs() {
		rt := routes[i]
		out = append(out, Route{rt.method, rt.path, rt.action, rt.or, rt.open, rt.limit > 0, rt.limit, doc})
	}
	return out
}

// Actionless returns the routes that need a token but have no action, and the routes that have an action but
// need no token.
func Actionless() []string {
	var out []string
	for _, rt := range routes {
		if rt.open != (rt.action == "") {
			out = append(out, rt.method+" "+rt.path)
		}
	}
	return out
}

// Sentinels returns the status of each type of problem in the table sentinels.
func Sentinels() map[string]int {
	out := map[string]int{}
	for _, s := range sentinels {
		out[s.word] = s.status
	}
	return out
}

// TypePrefix begins the type of each problem.
const TypePrefix = typePrefix

// SetHeartbeat sets the time between heartbeats and the write timeout of frames.
func (h *Handler) SetHeartbeat(heartbeat, frameTime time.Duration) {
	h.heartbeatTime, h.frameTime = heartbeat, frameTime
}

// FillLarge blocks the parsing of large events until release is called.
func (h *Handler) FillLarge() (release func()) {
	for range maxLarge {
		h.large <- struct{}{}
	}
	return func() {
		for range maxLarge {
			<-h.large
		}
	}
}

// SetUnverifiedTime sets how long the body of an unverified webhook may take.
func (h *Handler) SetUnverifiedTime(d time.Duration) { h.unverifiedTime = d }

// SetBodyTime sets how long the body of an authenticated request may take.
func (h *Handler) SetBodyTime(d time.Duration) { h.bodyTime = d }

// Unverified returns the number of webhooks whose bodies are being read before they are verified.
func (h *Handler) Unverified() int {
	h.unverified.mu.Lock()
	defer h.unverified.mu.Unlock()
	return len(h.unverified.all)
}

// Victim returns the index of the webhook that ends when a webhook with the source from arrives. sources has
// the sources of the webhooks whose bodies are being read, oldest first.
func Victim(sources []string, from string) int {
	var u unverified
	for _, source := range sources {
		u.all = append(u.all, &unverifiedBody{source: source})
	}
	return u.victim(from)
}

// MaxUnverified is the maximum of Unverified.
const MaxUnverified = maxUnverified

// SetPause sets the first pause before a stream reconnects.
func (c *Client) SetPause(d time.Duration) { c.pause = d }

// Document returns the OpenAPI document of a server.
func Document() ([]byte, error) {
	d, err := describeWire(Options{})
	return d.document, err
}

// SetSlowBody sets how long a body may take before the client is authenticated again.
func (h *Handler) SetSlowBody(d time.Duration) { h.slowBodyTime = d }

// A Call is a request to the route that lists asks, or to another route with the same parameters.
type Call struct{ c *call }

// Call returns the call of a request.
func (h *Handler) Call(r *http.Request) *Call { return &Call{&call{h: h, r: r}} }

// CheckQuery checks the query for the route that lists asks, with the parameter wait.
func (c *Call) CheckQuery() error { return c.c.checkQuery(listParams) }

var listParams = append(slices.Clone(askRoutes[1].query), queryWait)

// CheckWait parses the parameter wait.
func (c *Call) CheckWait() error {
	_, err := c.c.waitParam()
	return err
}

// CheckOrigin checks the origin of the request.
func (c *Call) CheckOrigin() error { return c.c.h.cross.Check(c.c.r) }

// CheckMediaType returns an error unless the Content-Type is JSON.
func (c *Call) CheckMediaType() error {
	if !isJSON(c.c.r.Header.Get("Content-Type")) {
		return errors.New("not JSON")
	}
	return nil
}

// SetQuery sets the query of the request.
func (c *Call) SetQuery(query string) { c.c.r.URL.RawQuery = query }

// Param returns the value of a query parameter.
func (c *Call) Param(name string) string { return c.c.param(name) }

// A Problem is an error on the wire.
type Problem = problem

// EncodeProblem returns a problem as package json encodes its struct.
func EncodeProblem(p Problem) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(p); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Frames are the frames that a handler shares between its streams.
type Frames struct{ frames }

// Of returns the frame of an event.
func (f *Frames) Of(ev askback.Event) ([]byte, error) { return f.of(ev) }
