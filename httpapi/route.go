package httpapi

import (
	"net/http"

	"github.com/askback/askback"
)

// A route is one thing that can be done over the wire (wire.md §3). There is no
// other way in: what stands in no route does not exist.
type route struct {
	method string
	path   string         // below the base path, as ServeMux reads it
	action askback.Action // what the seat is asked to do; "" only where open
	open   bool           // needs no token
	limit  int64          // bytes of body at the most; 0: no body
	query  []string       // the keys it knows
	serve  func(*call) error
}

// base is the path all routes stand below, but for those at the root.
const base = "/api/v1"

// maxBody is the limit of wire.md §1.
const maxBody = 2 << 20

var routes = []route{
	{method: "POST", path: base + "/asks", action: askback.ActAsk, limit: maxBody, query: []string{"wait"}, serve: (*call).ask},
	{method: "GET", path: base + "/asks", action: askback.ActList, query: []string{"status", "agent", "session_id", "to", "cursor", "limit"}, serve: (*call).list},
	{method: "GET", path: base + "/asks/{id}", action: askback.ActGet, query: []string{"wait"}, serve: (*call).get},
	{method: "POST", path: base + "/asks/{id}/answer", action: askback.ActAnswer, limit: maxBody, serve: (*call).answer},
	{method: "POST", path: base + "/asks/{id}/decline", action: askback.ActDecline, limit: maxBody, serve: (*call).decline},
	{method: "POST", path: base + "/asks/{id}/claim", action: askback.ActClaim, limit: maxBody, serve: (*call).claim},
	{method: "POST", path: base + "/asks/{id}/cancel", action: askback.ActCancel, limit: maxBody, serve: (*call).cancel},
	{method: "POST", path: base + "/asks/{id}/consume", action: askback.ActConsume, limit: maxBody, serve: (*call).consume},
	{method: "GET", path: base + "/asks/{id}/draft", action: askback.ActDraft, serve: (*call).draft},
	{method: "PUT", path: base + "/asks/{id}/draft", action: askback.ActDraft, limit: askback.MaxDraft, serve: (*call).saveDraft},
	{method: "GET", path: base + "/tokens", action: askback.ActTokens, serve: (*call).tokens},
	{method: "POST", path: base + "/tokens", action: askback.ActTokens, limit: maxBody, serve: (*call).createToken},
	{method: "DELETE", path: base + "/tokens/{id}", action: askback.ActTokens, serve: (*call).revokeToken},
	{method: "POST", path: base + "/logins", action: askback.ActLogin, limit: maxBody, serve: (*call).login},
	{method: "POST", path: base + "/yield", action: askback.ActYield, limit: maxBody, serve: (*call).yield},
	{method: "GET", path: "/healthz", open: true, query: []string{"nonce"}, serve: (*call).healthz},
	{method: "GET", path: "/readyz", open: true, serve: (*call).readyz},
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
	h.mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		h.refuse(w, problem{Status: http.StatusNotFound, Type: "not-found", Detail: "there is nothing at this path"})
	})
}
