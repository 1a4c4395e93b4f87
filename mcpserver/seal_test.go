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

// What clients keep of the secret of 32 times "s", written by an earlier release. It
// goes on to mean the same; only a new version of what is signed may change it, and
// then under another label.
const (
	keptState   = "eyJhc2siOiJhc2tfMSIsImV4cGlyZXMiOjE2MDB9.l81q3k11d7A3tmvnYILk3fD95YSHLNuGIMISmOc3ViY"
	keptSession = "eyJyYW5kb20iOiJSIiwiY2xpZW50IjoiY29kZXgtbWNwLWNsaWVudCJ9.TO2E6YHiqCddU4ImShWacKFMMVL2T9k4H9l3pesvJ_s"
)

// A state is signed as a state: it is none of another agent or call, and neither is
// the id of a session, which has the same signature otherwise.
func TestWhatClientsKeepOutlivesARelease(t *testing.T) {
	d := newDesk(t)
	at := time.Unix(1599, 0)
	if id, err := d.server.OpenState(keptState, "bot", "mcp:call", at); id != "ask_1" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	for name, refused := range map[string]func() (string, error){
		"another agent": func() (string, error) { return d.server.OpenState(keptState, "cat", "mcp:call", at) },
		"another call":  func() (string, error) { return d.server.OpenState(keptState, "bot", "mcp:other", at) },
		"too late":      func() (string, error) { return d.server.OpenState(keptState, "bot", "mcp:call", at.Add(time.Second)) },
		"a session":     func() (string, error) { return d.server.OpenState(keptSession, "bot", "mcp:call", at) },
	} {
		if id, err := refused(); id != "" || err == nil {
			t.Errorf("%s: got %q", name, id)
		}
	}
}

// The id of a session says which client it is, to the agent whose session it is and
// to nobody else: only then is Codex known to wait for four minutes.
func TestASessionOutlivesARelease(t *testing.T) {
	for agent, want := range map[string]time.Duration{"bot": 240 * time.Second, "cat": 45 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			begun := time.Now()
			res := d.legacyPost(agent, keptSession, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": `+database+`}}`)
			raw, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(raw), "pending") || time.Since(begun) != want {
				t.Errorf("%s: got %s after %s, %v; want it after %s", agent, raw, time.Since(begun), err, want)
			}
		})
	}
}

// Only a client that begins is given a session: to give others one would part them
// from what they asked before.
func TestOnlyABeginningHasASession(t *testing.T) {
	d := newDesk(t)
	for body, want := range map[string]bool{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}`: true,
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}`:                                                                                                 false,
	} {
		res := d.legacyPost("bot", "", body)
		if got := res.Header.Get("Mcp-Session-Id"); (got != "") != want || res.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d and the session %q", body, res.StatusCode, got)
		}
	}
}

// The header that names a task is of the revision without sessions. Before it, it
// means nothing, and decides nothing.
func TestAnEarlierRevisionHasNoTaskHeader(t *testing.T) {
	d := newDesk(t)
	for version, want := range map[string]bool{legacy: false, modern: true} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "ask_1"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": version, "Mcp-Method": "tasks/get", "Mcp-Name": "ask_2",
		} {
			r.Header.Set(name, value)
		}
		res, err := d.web("bot").Do(r)
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
