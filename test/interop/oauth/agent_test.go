package oauth_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// The clients, as scripts of this folder.
const (
	legacy = "legacy.mjs" // SDK 1.x: sessions
	modern = "modern.mjs" // SDK 2.x: 2026-07-28
)

// callback is where clients want the browser back. Nothing listens there: the test
// takes the address from the redirect.
const callback = "http://127.0.0.1:33418/callback"

// An agent is an MCP client that knows the address of Askback and nothing else.
type agent struct {
	*script
	h *house
}

// arrives starts a client, which finds out by itself where to sign in.
func arrives(h *house, client string) *agent {
	h.t.Helper()
	return &agent{run(h.t, client, map[string]string{
		"url": h.resource(), "redirect": callback, "scope": "openid offline_access",
	}), h}
}

// A door says whether a client is in; if not, it wants somebody to go elsewhere.
type door struct {
	In       bool   `json:"in"`
	Redirect string `json:"redirect"`
}

// signsIn lets a person sign in for the client, by a name.
func (a *agent) signsIn(name string) *agent {
	a.t.Helper()
	var d door
	a.must("connect", nil, &d)
	if d.In || !strings.HasPrefix(d.Redirect, a.h.setup.Issuer+"/auth?") {
		a.t.Fatalf("it is to sign in at the issuer, but got %+v", d)
	}
	back, v := newPerson(a.t).walk(d.Redirect, name, callback)
	if back == nil || !back.Query().Has("code") {
		a.t.Fatalf("the issuer sends back to %s\n%s", back, v.body)
	}
	a.must("finish", map[string]string{"callback": back.String()}, &d)
	if !d.In {
		a.t.Fatal("it has a token, and is not in")
	}
	return a
}

// memory is what a client keeps.
type memory struct {
	Tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"id_token"`
	} `json:"tokens"`
	Client struct {
		ID string `json:"client_id"`
	} `json:"client"`
	Redirects     []string `json:"redirects"`
	Registrations int      `json:"registrations"`
}

func (a *agent) memory() memory {
	a.t.Helper()
	var m memory
	a.must("about", nil, &m)
	return m
}

// A result is what a tool gave.
type result struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Structured struct {
		Status    askback.Status `json:"status"`
		ID        string         `json:"question_id"`
		Answers   map[string]any `json:"answers"`
		Questions []struct {
			ID string `json:"question_id"`
		} `json:"questions"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`
}

// text is all of its text.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// calls calls a tool and does not wait for the result.
func (a *agent) calls(tool string, input map[string]any) <-chan reply {
	a.t.Helper()
	return a.start("call", map[string]any{"tool": tool, "input": input, "timeout": patience.Milliseconds()})
}

// asks asks a question.
func (a *agent) asks(question string) <-chan reply {
	a.t.Helper()
	return a.calls("ask_user_question", map[string]any{"question": question, "options": []string{"Yes", "No"}})
}

// result is that of a call.
func (a *agent) result(c <-chan reply) result {
	a.t.Helper()
	var r result
	if err := a.soon(c, &r); err != nil {
		a.t.Fatalf("no result: %v", err)
	}
	return r
}

// said checks that a result is the answer to a question.
func (a *agent) said(r result, question, want string) {
	a.t.Helper()
	if got := r.Structured.Answers[question]; r.IsError || got != want {
		a.t.Errorf("got %v, want %q: %s", got, want, r.text())
	}
}

// questions are the questions that the agent sees as its own.
func (a *agent) questions() []string {
	a.t.Helper()
	ids := []string{}
	for _, q := range a.result(a.calls("list_open_questions", map[string]any{})).Structured.Questions {
		ids = append(ids, q.ID)
	}
	slices.Sort(ids)
	return ids
}

// A knock is one request with a token, and what came of it.
type knock struct {
	status    int
	challenge string // WWW-Authenticate
	body      string
}

// initialize is how any MCP client begins.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`

// knocks begins a session of MCP with what stands in the header Authorization.
func (h *house) knocks(authorization ...string) knock {
	h.t.Helper()
	return h.sends(http.MethodPost, "/mcp", initialize, http.Header{"Authorization": authorization})
}

// bears is the same with a token.
func (h *house) bears(token string) knock {
	h.t.Helper()
	return h.knocks("Bearer " + token)
}

// sends makes any request.
func (h *house) sends(method, path, body string, header http.Header) knock {
	h.t.Helper()
	in, err := http.NewRequestWithContext(h.t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	in.Header = header.Clone()
	in.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	own := http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := own.Do(in)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return knock{res.StatusCode, strings.Join(res.Header.Values("WWW-Authenticate"), " | "), string(raw)}
}

func wants(t *testing.T, what string, got knock, status int) {
	t.Helper()
	if got.status != status {
		t.Errorf("%s: got %d, want %d: %s", what, got.status, status, got.body)
	}
}
