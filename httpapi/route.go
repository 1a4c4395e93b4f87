package httpapi

import (
	"net/http"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/openapi"
)

// A route is one thing that can be done over the wire (wire.md §3). There is no
// other way in: what stands in no route does not exist.
type route struct {
	method string
	path   string         // as ServeMux reads it
	action askback.Action // what the seat is asked to do; "" only where open
	or     askback.Action // what another kind of principal is there for
	open   bool           // needs no token
	limit  int64          // bytes of body at the most; 0: no body
	serve  func(*call) error
	// doc is what others are told of it. Its query keys are the ones that the
	// route knows; method and path are those of the row.
	doc openapi.Route
}

// base is the path all routes stand below, but for those at the root.
const base = "/api/v1"

// maxBody is the limit of wire.md §1.
const maxBody = 2 << 20

// routes is the whole table, in the order of the page.
var routes = slices.Concat(askRoutes, sessionRoutes, deskRoutes, tokenRoutes, serverRoutes, dialectRoutes)

// absent are the paths where a program may look for something that is not there, and
// what it is told.
var absent = map[string]string{
	"/api/":           "there is nothing at this path",
	"/conversations/": "there is nothing at this path",
	"/agent/":         "there is nothing at this path",
	"/hooks/":         "this release starts no agents, so there is no hook; an agent elsewhere asks by POST " + base + "/asks",
	"/metrics":        "this release has no metrics; GET " + base + "/stats has figures",
}

// mount puts every route on a mux, and answers in our words where there is none.
func (h *Handler) mount() {
	allowed := map[string]string{}
	for _, rt := range routes {
		h.mux.Handle(rt.method+" "+rt.path, h.guard(rt))
		if allowed[rt.path] != "" {
			allowed[rt.path] += ", "
		}
		allowed[rt.path] += rt.method
	}
	for path, methods := range allowed {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", methods)
			h.refuse(w, problem{Status: http.StatusMethodNotAllowed, Type: "method-not-allowed", Detail: "this path takes " + methods})
		})
	}
	for path, detail := range absent {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			h.refuse(w, problem{Status: http.StatusNotFound, Type: "not-found", Detail: detail})
		})
	}
}
