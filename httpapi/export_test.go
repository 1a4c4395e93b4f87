package httpapi

import (
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/openapi"
)

// WireRequest returns the body that the client sends.
var WireRequest = wireRequest

// Routes returns the paths of the routes by method.
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
	Action, Or   askback.Action
	Open, Body   bool
	Limit        int64 // of the body, in bytes
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

// Actionless returns the routes that name no action and are not open.
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

// SetPause sets the first pause before a stream reconnects.
func (c *Client) SetPause(d time.Duration) { c.pause = d }

// Document returns the OpenAPI document of a server.
func Document() ([]byte, error) {
	d, err := describeWire(Options{})
	return d.document, err
}

// SetSlowBody sets how long a body may take before the client is authenticated again.
func (h *Handler) SetSlowBody(d time.Duration) { h.slowBodyTime = d }
