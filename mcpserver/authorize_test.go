package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/mcpserver"
)

// A testIssuer is an issuer that accepts each token whose part before the first dot is ana or ben.
type testIssuer struct{}

func (testIssuer) Address() string { return "https://id.example.com" }

func (testIssuer) Agent(_ context.Context, token string) (name, label string, err error) {
	switch name, _, _ := strings.Cut(token, "."); name {
	case "away":
		return "", "", errors.New("no answer")
	case "ana":
		return "oauth:ana", "ana@example.com", nil
	case "ben":
		return "oauth:ben", "", nil
	}
	return "", "", askback.ErrUnauthorized
}

const metadata = "https://ask.example.com/.well-known/oauth-protected-resource/mcp"

func newIssuerFixture(t *testing.T) *fixture {
	f := newFixture(t)
	f.options.Issuer, f.options.PublicURL = testIssuer{}, "https://ask.example.com"
	f.restart()
	return f
}

// listTools requests the list of tools with this Authorization header. It returns the response.
func (f *fixture) listTools(authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp",
		strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	f.server.Handler(f.engine).ServeHTTP(w, r)
	return w
}

// If there is an issuer, a request without a valid token gets the address of the metadata
// (RFC 6750, RFC 9728).
func TestChallengeContainsTheMetadataURL(t *testing.T) {
	with, without := newIssuerFixture(t), newFixture(t)
	for _, c := range []struct {
		fixture       *fixture
		authorization string
		status        int
		want          string
	}{
		{without, "", 401, `Bearer realm="askback"`},
		{without, "Bearer ana.x.y", 401, `Bearer realm="askback", error="invalid_token"`},
		{with, "", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{with, "Bearer", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{with, "Basic ana.x.y", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{
			with, "Bearer eve.x.y", 401,
			`Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`,
		},
		{
			with, "Bearer askback_nonsense", 401,
			`Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`,
		},
		{
			with, "Bearer ana.x", 401,
			`Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`,
		},
		{
			with, "Bearer ana.x.y.z", 401,
			`Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`,
		},
		{with, "Bearer away.x.y", 503, ""},
		{with, "Bearer ana.x.y", 200, ""},
		{with, "Bearer " + with.secret(askback.Agent, "bot"), 200, ""},
		{with, "Bearer " + with.secret(askback.Responder, "ana"), 403, ""},
	} {
		w := c.fixture.listTools(c.authorization)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.want {
			t.Errorf("%q: got %d, %s; want %d, %s", c.authorization, w.Code, got, c.status, c.want)
		}
	}
}

// The metadata follows RFC 9728, and pages of other origins can read it. Without an issuer,
// there is no metadata.
func TestMetadataContainsTheIssuer(t *testing.T) {
	if m := newFixture(t).server.Metadata(); m != nil {
		t.Error("there are metadata without an issuer")
	}
	w := httptest.NewRecorder()
	newIssuerFixture(t).server.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, mcpserver.MetadataPath, nil))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil ||
		w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got %v, %v", w.Header(), err)
	}
	want := map[string]any{
		"resource": "https://ask.example.com/mcp", "authorization_servers": []any{"https://id.example.com"},
		"bearer_methods_supported": []any{"header"}, "resource_name": "Askback",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An agent of the issuer asks and gets its answer. Other agents do not see the ask (D4).
func TestAgentOfTheIssuerGetsItsAnswer(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		synctest.Test(t, func(t *testing.T) {
			f := newIssuerFixture(t)
			f.tokens["ana"], f.tokens["ben"] = "ana.x.y", "ben.x.y"
			ana, ben, bot := f.connectHTTP("ana", "a", version,
				nil), f.connectHTTP("ben", "b", version, nil), f.connectHTTP("bot", "c", version, nil)
			done := startCall(t.Context(), ana, "ask_user_question", database)
			ask := f.pendingAsk()
			if ask.Owner != "oauth:ana" || ask.Agent != "ana@example.com" {
				t.Errorf("%s: got an ask of %q with the label %q", version, ask.Owner, ask.Agent)
			}
			f.answer(ask.ID, askback.Choose("SQLite"))
			got := <-done
			impostor := startCall(t.Context(), f.connectHTTP("ben", "ana@example.com", version, nil),
				"ask_user_question", database)
			if ask := f.pendingAsk(); ask.Owner != "oauth:ben" || ask.Agent != "oauth:ben" {
				t.Errorf("%s: got an ask of %q with the label %q", version, ask.Owner, ask.Agent)
			}
			f.answer(f.pendingAsk().ID, askback.Choose("MySQL"))
			<-impostor
			sees := func(cs *mcp.ClientSession) (sees int) {
				for _, r := range []reply{
					callTool(t.Context(), cs, "list_open_questions", `{}`),
					callTool(t.Context(), cs, "get_answer", `{"question_id": "`+ask.ID+`"}`),
				} {
					if text := r.text(t); strings.Contains(text, "Which database") || strings.Contains(text, "SQLite") {
						sees++
					}
				}
				return sees
			}
			if n := sees(ana); n == 0 {
				t.Errorf("%s: the agent that asked does not see it, so the test shows nothing", version)
			}
			if sees(ben) != 0 || sees(bot) != 0 {
				t.Errorf("%s: others see it", version)
			}
			if got.err != nil || got.IsError || !strings.Contains(got.text(t), "SQLite") {
				t.Errorf("%s: got %q, %v", version, got.text(t), got.err)
			}
		})
	}
}
