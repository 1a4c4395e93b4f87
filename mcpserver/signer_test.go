package mcpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An earlier release signed these values with a secret of 32 times "s". Later releases must accept the
// values.
const (
	keptState   = "eyJhc2siOiJhc2tfMSIsImV4cGlyZXMiOjE2MDB9.l81q3k11d7A3tmvnYILk3fD95YSHLNuGIMISmOc3ViY"
	keptSession = "eyJyYW5kb20iOiJSIiwiY2xpZW50IjoiY29kZXgtbWNwLWNsaWVudCJ9.TO2E6YHiqCddU4ImShWacKFMMVL2T9k4H9l3pesvJ_s"
)

// A requestState that an earlier release signed is valid until it expires, but only for its
// agent and its call.
func TestStateOfAnEarlierReleaseIsValid(t *testing.T) {
	f := newFixture(t)
	at := time.Unix(1599, 0)
	if id, err := f.server.OpenState(keptState, "bot", "mcp:call", at); id != "ask_1" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	for name, refused := range map[string]func() (string, error){
		"another agent": func() (string, error) { return f.server.OpenState(keptState, "cat", "mcp:call", at) },
		"another call":  func() (string, error) { return f.server.OpenState(keptState, "bot", "mcp:other", at) },
		"too late": func() (string, error) {
			return f.server.OpenState(keptState, "bot", "mcp:call", at.Add(time.Second))
		},
		"a session": func() (string, error) { return f.server.OpenState(keptSession, "bot", "mcp:call", at) },
	} {
		if id, err := refused(); id != "" || err == nil {
			t.Errorf("%s: got %q", name, id)
		}
	}
}

// A session id that an earlier release signed is valid, but only for its agent. The id contains the name of
// the client. By this name the server recognizes Codex, which waits for four minutes.
func TestSessionOfAnEarlierReleaseIsValid(t *testing.T) {
	for agent, want := range map[string]time.Duration{"bot": 240 * time.Second, "cat": 45 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			started := time.Now()
			res := f.postInSession(agent, keptSession, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": `+database+`}}`)
			raw, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(raw), "pending") || time.Since(started) != want {
				t.Errorf("%s: got %s after %s, %v; want it after %s", agent, raw, time.Since(started), err, want)
			}
		})
	}
}

// Only initialize returns a session id. A second id would separate a client from its
// earlier asks.
func TestOnlyInitializeReturnsASession(t *testing.T) {
	f := newFixture(t)
	for body, want := range map[string]bool{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}`: true,
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`:                                                                                                 false,
	} {
		res := f.postInSession("bot", "", body)
		if got := res.Header.Get("Mcp-Session-Id"); (got != "") != want || res.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d and the session %q", body, res.StatusCode, got)
		}
	}
}

// The header Mcp-Name must match the task only in the revision without sessions.
func TestTaskHeaderIsCheckedOnlyWithoutSessions(t *testing.T) {
	f := newFixture(t)
	for version, want := range map[string]bool{withSessions: false, stateless: true} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
			strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "ask_1"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": version, "Mcp-Method": "tasks/get", "Mcp-Name": "ask_2",
		} {
			r.Header.Set(name, value)
		}
		res, err := f.httpClient("bot").Do(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := strings.Contains(string(raw), "Mcp-Name"); got != want || err != nil || !json.Valid(raw) && want {
			t.Errorf("%s: got %d %s, %v; want a refusal of the header: %t", version, res.StatusCode, raw, err, want)
		}
	}
}
