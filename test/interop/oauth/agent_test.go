package oauth_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// The clients are scripts in this folder.
const (
	legacy = "legacy.mjs" // SDK 1.x: sessions
	modern = "modern.mjs" // SDK 2.x: 2026-07-28
)

// callback is the redirect address of the clients. Nothing listens there: the
// tests read the code from the redirect.
const callback = "http://127.0.0.1:33418/callback"

// An agent is an MCP client that knows only the address of Askback.
type agent struct {
	*process
	f *fixture
}

// newAgent starts a client and returns its agent. The client finds the issuer itself.
func newAgent(f *fixture, client string) *agent {
	f.t.Helper()
	return &agent{run(f.t, client, map[string]string{
		"url": f.resource(), "redirect": callback, "scope": "openid offline_access",
	}), f}
}

// A connectResult reports whether a client is connected. If not, it contains the address at which the user
// signs in.
type connectResult struct {
	In       bool   `json:"in"`
	Redirect string `json:"redirect"`
}

// signIn signs in the account with this log-in name for the client, and returns the agent.
func (a *agent) signIn(name string) *agent {
	a.t.Helper()
	var d connectResult
	a.run("connect", nil, &d)
	if d.In || !strings.HasPrefix(d.Redirect, a.f.setup.Issuer+"/auth?") {
		a.t.Fatalf("it is to sign in at the issuer, but got %+v", d)
	}
	back, v := newPerson(a.t).follow(d.Redirect, name, callback)
	if back == nil || !back.Query().Has("code") {
		a.t.Fatalf("the issuer sends back to %s\n%s", back, v.body)
	}
	a.run("finish", map[string]string{"callback": back.String()}, &d)
	if !d.In {
		a.t.Fatal("it has a token, and is not in")
	}
	return a
}

// memory is the stored state of a client.
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
	a.run("about", nil, &m)
	return m
}

// A result is the result of a tool call.
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

// text returns the text of the result.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// startCall starts a tool call, and returns a channel for its reply.
func (a *agent) startCall(callTool string, input map[string]any) <-chan reply {
	a.t.Helper()
	return a.start("call", map[string]any{"tool": callTool, "input": input, "timeout": patience.Milliseconds()})
}

// startAsk starts a call that asks a question, and returns a channel for its reply.
func (a *agent) startAsk(question string) <-chan reply {
	a.t.Helper()
	return a.startCall("ask_user_question", map[string]any{"question": question, "options": []string{"Yes", "No"}})
}

// result waits for the result of a call.
func (a *agent) result(c <-chan reply) result {
	a.t.Helper()
	var r result
	if err := a.await(c, &r); err != nil {
		a.t.Fatalf("no result: %v", err)
	}
	return r
}

// wantAnswer requires that a result is the answer to a question.
func (a *agent) wantAnswer(r result, question, want string) {
	a.t.Helper()
	if got := r.Structured.Answers[question]; r.IsError || got != want {
		a.t.Errorf("got %v, want %q: %s", got, want, r.text())
	}
}

// questions returns the ids of the open questions of the agent, sorted.
func (a *agent) questions() []string {
	a.t.Helper()
	ids := []string{}
	for _, q := range a.result(a.startCall("list_open_questions", map[string]any{})).Structured.Questions {
		ids = append(ids, q.ID)
	}
	slices.Sort(ids)
	return ids
}

// A response is a response of Askback with its whole body.
type response struct {
	status    int
	challenge string // WWW-Authenticate
	body      string
}

// initializeBody is the first request of an MCP client.
const initializeBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`

// initialize sends the first request of MCP with the given values of the header Authorization, and returns
// the response.
func (f *fixture) initialize(authorization ...string) response {
	f.t.Helper()
	return f.request(http.MethodPost, "/mcp", initializeBody, http.Header{"Authorization": authorization})
}

// initializeWithToken is like initialize, with a bearer token.
func (f *fixture) initializeWithToken(token string) response {
	f.t.Helper()
	return f.initialize("Bearer " + token)
}

// request sends a request and returns the response.
func (f *fixture) request(method, path, body string, header http.Header) response {
	f.t.Helper()
	in, err := http.NewRequestWithContext(f.t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	in.Header = header.Clone()
	in.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	own := http.Client{
		Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := own.Do(in)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return response{res.StatusCode, strings.Join(res.Header.Values("WWW-Authenticate"), " | "), string(raw)}
}

func wantStatus(t *testing.T, what string, got response, status int) {
	t.Helper()
	if got.status != status {
		t.Errorf("%s: got %d, want %d: %s", what, got.status, status, got.body)
	}
}
