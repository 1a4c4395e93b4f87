package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/askback/askback"
)

type wireSession struct {
	External   bool            `json:"external"`
	SessionKey string          `json:"session_key,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Title      string          `json:"title,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

// wireMessage is the body of the request that posts a message. Its role is always sent, so
// that the server does not choose a different one.
type wireMessage struct {
	Role  askback.Role `json:"role"`
	Text  string       `json:"text"`
	Final bool         `json:"final,omitempty"`
}

type wireResume struct {
	Message string `json:"message,omitempty"`
}

type wireComplete struct {
	Status askback.SessionStatus `json:"status,omitempty"`
	Result json.RawMessage       `json:"result,omitempty"`
	Error  string                `json:"error,omitempty"`
}

type wireTodos struct {
	Todos []askback.Todo `json:"todos"`
}

// commandRequest returns the request that sends a command to a session, or an error if this
// client does not support the command.
func commandRequest(id string, t askback.Command) (request, error) {
	switch t := t.(type) {
	case askback.SendMessage:
		return request{method: "POST", path: sessionPath(id, "/messages"), body: wireMessage{Role: askback.RoleUser, Text: t.Text}}, nil
	case askback.Report:
		return request{method: "POST", path: sessionPath(id, "/messages"), body: wireMessage{askback.RoleAssistant, t.Text, t.Final}}, nil
	case askback.EndTurn:
		return request{method: "POST", path: "/conversations/" + url.PathEscape(id) + "/cancel", body: wireReason{t.Reason}}, nil
	case askback.EndSession:
		return request{method: "POST", path: sessionPath(id, "/cancel"), body: wireReason{t.Reason}}, nil
	case askback.ResumeSession:
		return request{method: "POST", path: sessionPath(id, "/resume"), body: wireResume{t.Message}}, nil
	case askback.Complete:
		return request{method: "POST", path: sessionPath(id, "/complete"), body: wireComplete{t.Status, t.Result, t.Error}}, nil
	case askback.SetTodos:
		return request{method: "PUT", path: sessionPath(id, "/todos"), body: wireTodos{append([]askback.Todo{}, t.Todos...)}}, nil
	}
	return request{}, fmt.Errorf("send %s: this client does not support %T", id, t)
}

// sessionPath returns the path of a session, followed by a resource such as "/events", which
// may be empty.
func sessionPath(id, resource string) string {
	return base + "/sessions/" + url.PathEscape(id) + resource
}

// Start implements [askback.Sessions].
func (c *Client) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	var out askback.Session
	body := wireSession{External: true, SessionKey: r.Key, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata}
	status, _, err := c.do(ctx, request{method: "POST", path: base + "/sessions", body: body}, &out)
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
	return fetch[askback.MessagePage](ctx, c, request{method: "GET", path: sessionPath(id, "/messages"), query: filter(limit, "cursor", cursor).Encode()})
}

// filter returns the query parameters of a list: the limit unless it is 0, and the pairs of
// key and value whose value is not empty.
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
