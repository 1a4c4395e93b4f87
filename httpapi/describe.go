package httpapi

import (
	"cmp"

	"github.com/askback/askback/internal/wire/openapi"
)

// params lists the query parameters and headers of a route.
type params = []openapi.Param

// The kinds of principals that may use a route. An admin may also use the routes for responders and
// operators. A test compares these kinds with package access.
var (
	forAgents    = []string{"agent"}
	forPeople    = []string{"responder"}
	forBoth      = []string{"agent", "responder"}
	forScreens   = []string{"responder", "operator"}
	forAdmins    = []string{"admin"}
	forAll       = []string{"agent", "responder", "operator"}
	forOperators = []string{"operator"}
	forSenders   = []string{"agent", "operator"}
)

// Parameters of several routes.
var (
	queryWait = openapi.Param{
		Name: "wait", Description: "How long to wait until the ask is settled, at most 60s.", Example: "30s",
	}
	queryCursor = openapi.Param{Name: "cursor", Description: "The next_cursor of the previous page."}
	queryLimit  = openapi.Param{
		Name: "limit", Description: "The maximum number of items; 50 by default.", Type: "integer",
	}
	queryAgent = openapi.Param{Name: "agent", Description: "Only asks or sessions of agents with this label."}
	queryAfter = openapi.Param{
		Name: "after", Description: "Continue after this cursor. Without one, the stream begins with a snapshot.",
	}
	headerLast = openapi.Param{
		Name:        "Last-Event-ID",
		Description: "The same as after; browsers send it when they reconnect. It has priority over after.",
	}
	headerTrace = openapi.Param{
		Name:        "traceparent",
		Description: "The trace that the ask is part of (W3C Trace Context). An invalid value is ignored.",
	}
	headerDelivery = openapi.Param{
		Name:        "webhook-id",
		Description: "The name of the delivery, at most 128 characters. A repeated delivery has the same name.",
	}
	headerSent = openapi.Param{
		Name:        "webhook-timestamp",
		Description: "With a signature, the time in seconds since 1970, at most five minutes from now.",
	}
	headerSignature = openapi.Param{Name: "webhook-signature", Description: "The Standard Webhooks signature of the " +
		"id, the timestamp and the body: v1, a comma, and the signature in base64."}
	headerHookKey = openapi.Param{
		Name: "Idempotency-Key", Description: "With a token, the name of the delivery instead of webhook-id.",
	}
	headerKey = openapi.Param{
		Name:        "Idempotency-Key",
		Description: "Requests with the same token and key are the same ask, as long as the ask is kept.",
	}
)

// about is the general part of the OpenAPI document.
var about = openapi.Info{
	Title: "Askback", Base: base,
	Description: "AI agents ask people, and get an answer, however long it takes. " +
		"The kind of a token determines its permissions; an admin also has the permissions of responders and " +
		"operators. " +
		"Times are in RFC 3339 format in UTC. Absent values are null.",
	Tags: []openapi.Tag{
		{Name: "asks", Description: "Agents ask, people answer."},
		{Name: "sessions", Description: "The runs of agents, with their messages and events."},
		{Name: "directory", Description: "Standing approvals, people, agents and statistics."},
		{Name: "endpoints", Description: "The receivers of webhooks."},
		{Name: "contacts", Description: "The chats and browsers where people get asks."},
		{Name: "tokens", Description: "Tokens and log-in links."},
		{Name: "server", Description: "The state of the server."},
		{Name: "dialects", Description: "The same asks in the formats of other programs."},
	},
}

// routeDocs returns the documentation of all routes.
func routeDocs() []openapi.Route {
	out := make([]openapi.Route, len(routes))
	for i, rt := range routes {
		out[i] = openapi.Route{
			Method: rt.method, Path: rt.path, Tag: rt.tag, Summary: rt.summary, Detail: rt.detail, Who: rt.who,
			In: rt.in, Optional: rt.optional, Out: rt.out, OutType: rt.outType, Query: rt.query, Header: rt.header,
			Statuses: rt.statuses, ErrorSchemas: rt.errorSchemas,
		}
	}
	return out
}

// A description is the OpenAPI document of a server, and the HTML page generated from the document.
type description struct{ document, page []byte }

// describeWire returns the description of a server with the options o. The page has relative links, so that
// it also works behind a path prefix.
func describeWire(o Options) (description, error) {
	info := about
	info.Version, info.URL = cmp.Or(o.Version, "unreleased"), o.PublicURL
	document, err := openapi.Document(info, routeDocs())
	if err != nil {
		return description{}, err
	}
	page, err := openapi.Page(document, openapi.Links{Stylesheet: "docs.css", Document: "openapi.json"})
	return description{document, page}, err
}

func (c *call) openapi() error {
	d, err := c.h.description()
	if err != nil {
		return err
	}
	return c.replyRaw(openapi.JSON, d.document)
}

// pagePolicy is the Content-Security-Policy of the page. It allows style sheets and images of
// this server, but neither scripts nor frames.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

func (c *call) docs() error {
	d, err := c.h.description()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", pagePolicy)
	c.w.Header().Set("Referrer-Policy", "no-referrer")
	return c.replyRaw("text/html; charset=utf-8", d.page)
}

func (c *call) stylesheet() error {
	return c.replyRaw("text/css; charset=utf-8", openapi.Stylesheet())
}
