package httpapi

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback/internal/openapi"
)

// params are what goes with a request beside its body.
type params = []openapi.Param

// Whom a route is for. An admin may do what is for a responder or an operator;
// a test holds this to package access.
var (
	forAgents  = []string{"agent"}
	forPeople  = []string{"responder"}
	forBoth    = []string{"agent", "responder"}
	forScreens = []string{"responder", "operator"}
	forAdmins  = []string{"admin"}
	forAll     = []string{"agent", "responder", "operator"}
	forKeepers = []string{"operator"}
)

// What several routes know.
var (
	queryWait   = openapi.Param{Name: "wait", Description: "Wait until it is settled, at most this long and at most 60s.", Example: "30s"}
	queryCursor = openapi.Param{Name: "cursor", Description: "The next_cursor of the page before."}
	queryLimit  = openapi.Param{Name: "limit", Description: "How many at most; 50 unless said.", Type: "integer"}
	queryAgent  = openapi.Param{Name: "agent", Description: "Only those of agents with this label."}
	queryAfter  = openapi.Param{Name: "after", Description: "Go on behind this cursor; without one the stream begins with a snapshot."}
	headerLast  = openapi.Param{Name: "Last-Event-ID", Description: "The same as after, as browsers send it; it wins."}
	headerKey   = openapi.Param{Name: "Idempotency-Key", Description: "The same key of the same token is the same ask, for as long as the ask is kept."}
)

// about is what the wire says of itself as a whole.
var about = openapi.Info{
	Title: "Askback", Base: base,
	Description: "The place where agents ask people, and get an answer, however long it takes. " +
		"A token's kind is what its holder may do; an admin may do what a responder and an operator may. " +
		"Times are RFC 3339 in UTC; what is not there is null.",
	Tags: []openapi.Tag{
		{Name: "asks", Description: "An agent asks, a person answers."},
		{Name: "sessions", Description: "The runs of agents, what is said in them and what happens."},
		{Name: "desk", Description: "Standing approvals, people and numbers."},
		{Name: "tokens", Description: "Who may come in."},
		{Name: "server", Description: "How the server is."},
		{Name: "dialects", Description: "The same asks in the words of other systems."},
	},
}

// documented is the table of routes, for others.
func documented() []openapi.Route {
	out := make([]openapi.Route, len(routes))
	for i, rt := range routes {
		out[i] = rt.doc
		out[i].Method, out[i].Path = rt.method, rt.path
	}
	return out
}

// description is what a server says of itself, made once.
type description struct{ document, page []byte }

// describeWire makes the document of this server, and its page. The page names
// its neighbours without a path, so that it also works below a prefix.
func describeWire(o Options) (description, error) {
	info := about
	info.Version, info.URL = cmp.Or(o.Version, "unreleased"), o.PublicURL
	document, err := openapi.Document(info, documented())
	if err != nil {
		return description{}, err
	}
	page, err := openapi.Page(document, openapi.Links{Stylesheet: "docs.css", Document: "openapi.json"})
	return description{document, page}, err
}

func (c *call) openapi() error {
	d, err := c.h.described()
	if err != nil {
		return err
	}
	return c.static(openapi.JSON, d.document)
}

// pagePolicy lets the page load its style sheet and nothing else: it runs no
// script, and no other page shows it in a frame.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (c *call) docs() error {
	d, err := c.h.described()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", pagePolicy)
	c.w.Header().Set("Referrer-Policy", "no-referrer")
	return c.static("text/html; charset=utf-8", d.page)
}

func (c *call) stylesheet() error {
	return c.static("text/css; charset=utf-8", openapi.Stylesheet())
}

// static writes what is the same for everybody.
func (c *call) static(kind string, body []byte) error {
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime)) // a test's recorder has none
	c.w.Header().Set("Content-Type", kind)
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(body); err != nil {
		c.h.log.Debug("a reply did not arrive", "error", err)
	}
	return nil
}
