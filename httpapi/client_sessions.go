package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/askback/askback"
)

// commandRequest returns the request that sends the command t to a session. It returns an error if this
// client does not support the command. The role of a message is always sent, so that the server does not
// choose a different role.
func commandRequest(id string, t askback.Command) (request, error) {
	post := func(resource string, content any) (request, error) {
		return request{method: "POST", path: sessionPath(id, resource), body: content}, nil
	}
	switch t := t.(type) {
	case askback.SendMessage:
		return post("/messages", body[askback.SendMessage]{t, withMember(appendSendMessage, "role", `"user"`)})
	case askback.Report:
		return post("/messages", body[askback.Report]{t, withMember(appendReport, "role", `"assistant"`)})
	case askback.EndTurn:
		return request{
			method: "POST", path: "/conversations/" + url.PathEscape(id) + "/cancel",
			body: body[askback.EndTurn]{t, appendEndTurn},
		}, nil
	case askback.EndSession:
		return post("/cancel", body[askback.EndSession]{t, appendEndSession})
	case askback.ResumeSession:
		return post("/resume", body[askback.ResumeSession]{t, appendResumeSession})
	case askback.Complete:
		return post("/complete", body[askback.Complete]{t, appendComplete})
	case askback.SetTodos:
		return request{
			method: "PUT", path: sessionPath(id, "/todos"), body: body[askback.SetTodos]{t, appendSetTodos},
		}, nil
	}
	return request{}, fmt.Errorf("send %s: this client does not support %T", id, t)
}

// sessionPath returns the path of a session, followed by resource, such as "/events" or "".
func sessionPath(id, resource string) string {
	return base + "/sessions/" + url.PathEscape(id) + resource
}

// sessionBody returns the body of the request that starts a session. If no agent of the server runs the
// session, the body has "external": true.
func sessionBody(r askback.SessionRequest) body[askback.SessionRequest] {
	if r.Hosted() {
		return body[askback.SessionRequest]{r, appendSessionRequest}
	}
	return body[askback.SessionRequest]{r, withMember(appendSessionRequest, "external", "true")}
}

// HostedAgents implements [askback.Sessions].
func (c *Client) HostedAgents(ctx context.Context) ([]askback.HostedAgent, error) {
	return fetchItems[askback.HostedAgent](ctx, c, "/hosted-agents")
}

// Start implements [askback.Sessions].
func (c *Client) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	var out askback.Session
	status, _, err := c.do(ctx, request{method: "POST", path: base + "/sessions", body: sessionBody(r)}, &out)
	out.Repeated = err == nil && status == http.StatusOK
	return out, err
}

// Session implements [askback.Sessions].
func (c *Client) Session(ctx context.Context, id string) (askback.Session, error) {
	return fetch[askback.Session](ctx, c, request{method: "GET", path: sessionPath(id, "")})
}

// Sessions implements [askback.Sessions].
func (c *Client) Sessions(ctx context.Context, q askback.SessionQuery) (askback.SessionPage, error) {
	if err := q.Check(); err != nil {
		return askback.SessionPage{}, err
	}
	query := filter(q.Limit, "status", string(q.Status), "agent", q.Agent, "q", q.Search, "cursor", q.Cursor)
	return fetch[askback.SessionPage](ctx, c, request{method: "GET", path: base + "/sessions", query: query.Encode()})
}

// Send implements [askback.Sessions].
func (c *Client) Send(ctx context.Context, id string, t askback.Command) (askback.Session, error) {
	if err := t.Check(); err != nil {
		return askback.Session{}, err
	}
	r, err := commandRequest(id, t)
	if err != nil {
		return askback.Session{}, err
	}
	return fetch[askback.Session](ctx, c, r)
}

// Messages implements [askback.Sessions].
func (c *Client) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	if err := (askback.Query{Limit: limit}).Check(); err != nil {
		return askback.MessagePage{}, err
	}
	return fetch[askback.MessagePage](ctx, c,
		request{method: "GET", path: sessionPath(id, "/messages"), query: filter(limit, "cursor", cursor).Encode()})
}

// filter returns the query parameters of a list. pairs has a name and a value in turn; empty values are left
// out. The parameter limit is left out if it is 0.
func filter(limit int, pairs ...string) url.Values {
	out := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	if limit != 0 {
		out.Set("limit", strconv.Itoa(limit))
	}
	return out
}
