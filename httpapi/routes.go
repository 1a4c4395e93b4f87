package httpapi

import (
	"net/http"
	"slices"

	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/server/login"
)

// A route is an endpoint of the API (docs/wire.md §3). The table routes has all of them.
type route struct {
	method string
	path   string        // a pattern of http.ServeMux
	action access.Action // the action to authorize; "" only if open is set
	or     access.Action // an alternative action, for another kind of principal
	open   bool          // needs no token
	signed bool          // accepts a signature instead of a token
	limit  int64         // maximum size of the body in bytes; 0 if the route has no body
	serve  func(*call) error
	query  params // the only query keys that requests may have

	// The documentation of the route; see [openapi.Route].
	tag, summary, detail string
	who                  []string
	in, out, outType     string
	optional             bool
	header               params
	statuses             []int
	errorSchemas         map[int]string
}

// base is the path prefix of most routes. Routes such as /healthz and /agent/questions do not have this
// prefix.
const base = "/api/v1"

// maxBody is the size limit of most bodies in bytes (docs/wire.md §1). Drafts and hooks have other limits.
const maxBody = 2 << 20

// routes lists all routes, in the order of the documentation page.
var routes = slices.Concat(askRoutes, sessionRoutes, directoryRoutes, endpointRoutes, contactRoutes, tokenRoutes,
	serverRoutes, compatRoutes)

// notFoundDetails maps a path prefix to the detail of the problem for unknown paths.
var notFoundDetails = map[string]string{
	"/api/":           "unknown path",
	"/conversations/": "unknown path",
	"/agent/":         "unknown path",
	"/hooks/":         "unknown path; POST /hooks/{agent} starts an agent",
}

// register registers all routes, and handlers that write a problem for unknown paths
// and methods.
func (h *Handler) register() {
	allowed := map[string]string{}
	for i := range routes {
		rt := &routes[i]
		h.mux.Handle(rt.method+" "+rt.path, h.wrap(rt))
		if allowed[rt.path] != "" {
			allowed[rt.path] += ", "
		}
		allowed[rt.path] += rt.method
	}
	for path, methods := range allowed {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			login.RefuseBody(w, r)
			w.Header().Set("Allow", methods)
			h.writeProblem(w, problem{
				Status: http.StatusMethodNotAllowed, Type: "method-not-allowed",
				Detail: "the methods of this path are " + methods,
			})
		})
	}
	for path, detail := range notFoundDetails {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			login.RefuseBody(w, r)
			h.writeProblem(w, problem{Status: http.StatusNotFound, Type: "not-found", Detail: detail})
		})
	}
}
