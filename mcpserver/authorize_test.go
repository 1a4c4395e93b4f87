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

// vouches is an issuer that knows one token of each name.
type vouches struct{}

func (vouches) Address() string { return "https://id.example.com" }

func (vouches) Agent(_ context.Context, token string) (name, label string, err error) {
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

func issued(t *testing.T) *desk {
	d := newDesk(t)
	d.options.Issuer, d.options.PublicURL = vouches{}, "https://ask.example.com"
	d.restart()
	return d
}

// lists asks for the tools with what the header Authorization says.
func (d *desk) lists(authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	d.server.Handler(d.engine).ServeHTTP(w, r)
	return w
}

// Whoever is not let in is told where to get a token (RFC 6750, RFC 9728).
func TestAChallengeSaysWhereTokensAre(t *testing.T) {
	with, without := issued(t), newDesk(t)
	for _, c := range []struct {
		desk          *desk
		authorization string
		status        int
		want          string
	}{
		{without, "", 401, `Bearer realm="askback"`},
		{without, "Bearer ana.x.y", 401, `Bearer realm="askback", error="invalid_token"`},
		{with, "", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{with, "Bearer", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{with, "Basic ana.x.y", 401, `Bearer realm="askback", resource_metadata="` + metadata + `"`},
		{with, "Bearer eve.x.y", 401, `Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`},
		{with, "Bearer askback_nonsense", 401, `Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`},
		{with, "Bearer ana.x", 401, `Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`},
		{with, "Bearer ana.x.y.z", 401, `Bearer realm="askback", error="invalid_token", resource_metadata="` + metadata + `"`},
		{with, "Bearer away.x.y", 503, ""},
		{with, "Bearer ana.x.y", 200, ""},
		{with, "Bearer " + with.secret(askback.Agent, "bot"), 200, ""},
		{with, "Bearer " + with.secret(askback.Responder, "ana"), 403, ""},
	} {
		w := c.desk.lists(c.authorization)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.want {
			t.Errorf("%q: got %d, %s; want %d, %s", c.authorization, w.Code, got, c.status, c.want)
		}
	}
}

// The metadata are what RFC 9728 wants, for pages of others too; without an issuer there
// are none.
func TestMetadataNameTheIssuer(t *testing.T) {
	if m := newDesk(t).server.Metadata(); m != nil {
		t.Error("there are metadata without an issuer")
	}
	w := httptest.NewRecorder()
	issued(t).server.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, mcpserver.MetadataPath, nil))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
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

// An agent of the issuer asks and gets its answer; those of others, and of tokens of
// ours, never see it (D4).
func TestAnAgentOfTheIssuerAsks(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		synctest.Test(t, func(t *testing.T) {
			d := issued(t)
			d.tokens["ana"], d.tokens["ben"] = "ana.x.y", "ben.x.y"
			ana, ben, bot := d.http("ana", "a", version, nil), d.http("ben", "b", version, nil), d.http("bot", "c", version, nil)
			done := start(t.Context(), ana, "ask_user_question", database)
			ask := d.only()
			if ask.Owner != "oauth:ana" || ask.Agent != "ana@example.com" {
				t.Errorf("%s: it is %q who asks, known as %q", version, ask.Owner, ask.Agent)
			}
			d.answer(ask.ID, askback.Choose("SQLite"))
			got := <-done
			impostor := start(t.Context(), d.http("ben", "ana@example.com", version, nil), "ask_user_question", database)
			if ask := d.only(); ask.Owner != "oauth:ben" || ask.Agent != "oauth:ben" {
				t.Errorf("%s: it is %q who asks, known as %q", version, ask.Owner, ask.Agent)
			}
			d.answer(d.only().ID, askback.Choose("MySQL"))
			<-impostor
			sees := func(cs *mcp.ClientSession) (sees int) {
				for _, r := range []reply{
					call(t.Context(), cs, "list_open_questions", `{}`),
					call(t.Context(), cs, "get_answer", `{"question_id": "`+ask.ID+`"}`),
				} {
					if text := r.text(t); strings.Contains(text, "Which database") || strings.Contains(text, "SQLite") {
						sees++
					}
				}
				return sees
			}
			if n := sees(ana); n == 0 {
				t.Errorf("%s: whoever asked does not see it, so nothing is tried", version)
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
