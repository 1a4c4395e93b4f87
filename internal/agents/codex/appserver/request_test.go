package appserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
)

// A request that cannot be asked in full is left to the terminal.
func TestOtherRequestsAreLeftToTheTerminal(t *testing.T) {
	t.Parallel()
	read := func(raw string) bool {
		t.Helper()
		m, ok, _ := jsonrpc2.Read([]byte(raw))
		if !ok {
			t.Fatalf("%s is not a message", raw)
		}
		_, ok = readDialog(m.Method, m.ID, m.Params, "/srv/shop", func(_, item string) json.RawMessage {
			return map[string]json.RawMessage{"i": json.RawMessage(`[{"path":"/srv/a"}]`)}[item]
		})
		return ok
	}
	for _, c := range []struct{ request, part, other string }{
		{commandAsk, methodCommand, "currentTime/read"},
		{commandAsk, methodCommand, "item/tool/call"},
		{commandAsk, methodCommand, "applyPatchApproval"},
		{commandAsk, `"kind":"command"`, `"kind":"writeStdin"`},
		{commandAsk, `["accept","cancel"]`, `["acceptForSession","cancel"]`},
		{commandAsk, `"threadId":"t",`, ``},
		{commandAsk, `"turnId":"u",`, ``},
		{commandAsk, `"itemId":"i",`, ``},
		{commandAsk, `"command":"/bin/bash -lc 'touch a'",`, ``},
		{commandAsk, `"cwd":"/srv/shop",`, `"cwd":"/srv/shop","cwd":"/",`},
		{editAsk, `"itemId":"i"`, `"itemId":"other"`},
		{editAsk, `"grantRoot":null`, `"grantRoot":"/srv"`},
		{grantAsk, `{"network":{"enabled":true},"fileSystem":null}`, `{}`},
		{questionAsk, `"isSecret":false`, `"isSecret":true`},
		{toolAsk, `"mcp_tool_call"`, `"other"`},
		{toolAsk, `"serverName":"probe"`, `"serverName":"askback"`},
		{toolAsk, `"serverName":"probe"`, `"serverName":""`},
		{toolAsk, `"tool_name":"write"`, `"tool_name":""`},
		{toolAsk, `"tool_params":{"x":"1"}`, `"tool_params":["x"]`},
		{toolAsk, `"mode":"form"`, `"mode":"url"`},
	} {
		if !read(c.request) {
			t.Errorf("left to the terminal: %s", c.request)
		}
		other := strings.Replace(c.request, c.part, c.other, 1)
		if other == c.request || read(other) {
			t.Errorf("with %s in place of %s, it is asked: %s", c.other, c.part, other)
		}
	}
}

// An open request is found by its key after an update of Askback.
func TestStoredKeysStayValid(t *testing.T) {
	t.Parallel()
	m, _, _ := jsonrpc2.Read([]byte(commandAsk))
	d, _ := readDialog(m.Method, m.ID, m.Params, "/srv/shop", func(_, _ string) json.RawMessage { return nil })
	if want := "codex-app:7cb489b649e6d8681b9b90bde4bd423fa64cdc4fc7f47355ea814ebdd53072ec"; d.ask.Key != want {
		t.Errorf("got the key %s, want %s", d.ask.Key, want)
	}
}
