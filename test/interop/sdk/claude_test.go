package sdk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/freeport"
)

// The Claude Agent SDK asks people for permission to run its tools, and asks them the questions of its model
// (F9).
func TestClaudeAgentSDKAsksPeople(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("frameworks/claude-agent-sdk.ts")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(compile(t, map[string]string{"claude-agent-sdk.ts": string(raw)}), "claude-agent-sdk.js")
	server := clienttest.New(t)
	in := func(t *testing.T, folder, order string, mode ...string) *caller {
		d := driver{args: append([]string{node(t), program, folder, t.Name()}, mode...)}
		return d.start(t, server.URL, server.AgentToken, order)
	}
	start := func(t *testing.T, order string) (*caller, string) {
		folder := t.TempDir()
		return in(t, folder, order), folder
	}
	write := `{"name": "Bash", "input": {"command": "echo prod > target", "description": "Deploy the shop"}}`
	t.Run("approved with other arguments", func(t *testing.T) {
		p, folder := start(t, write)
		server.Answer(server.Open(1)[0].ID,
			askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command": "echo staging > target"}`)})
		r := p.agentResult()
		if got, err := os.ReadFile(filepath.Join(folder, "target")); err != nil || string(got) != "staging\n" {
			t.Errorf("got %q, %v, %+v, want the changed command", got, err, r)
		}
	})
	t.Run("denied", func(t *testing.T) {
		p, folder := start(t, write)
		server.Answer(server.Open(1)[0].ID, askback.Decide(askback.Deny, "not on Fridays"))
		contains(t, p.agentResult().Text, "not on Fridays")
		if _, err := os.Stat(filepath.Join(folder, "target")); err == nil {
			t.Error("the command ran")
		}
	})
	t.Run("question", func(t *testing.T) {
		p, _ := start(t,
			`{"name": "AskUserQuestion", "input": {"questions": [{"question": "Which database?", "header": "Database", "multiSelect": false,
			"options": [{"label": "PostgreSQL", "description": "A server"}, {"label": "SQLite", "description": "One file"}]}]}}`)
		open := server.Open(1)[0]
		if open.Kind != askback.Questions {
			t.Fatalf("got %+v, want a question", open)
		}
		server.Answer(open.ID, askback.Choose("SQLite"))
		contains(t, p.agentResult().Text, "SQLite")
	})
	t.Run("ended while it waits, and resumed", func(t *testing.T) {
		folder := t.TempDir()
		for range 2 { // the second process finds no answer yet
			if r := in(t, folder, write, "deferring").agentResult(); len(r.Ran) != 1 || r.Text != "null" {
				t.Errorf("got %+v, want a deferred call without a result", r)
			}
		}
		open := server.Open(1)[0]
		server.Restart()
		server.Answer(open.ID, askback.Decide(askback.Approve, ""))
		r := in(t, folder, write, "deferring").agentResult()
		if got, err := os.ReadFile(filepath.Join(folder, "target")); err != nil ||
			string(got) != "prod\n" || len(r.Ran) != 0 {
			t.Errorf("got %q, %v, %+v, want the approved command", got, err, r)
		}
	})
	t.Run("nothing runs without the server", func(t *testing.T) {
		folder := t.TempDir()
		d := driver{args: []string{node(t), program, folder, t.Name(), "deferring"}}
		r := d.start(t, fmt.Sprintf("http://127.0.0.1:%d", freeport.Pick(t)), server.AgentToken, write).agentResult()
		if _, err := os.Stat(filepath.Join(folder, "target")); err == nil || len(r.Ran) != 1 {
			t.Errorf("got %+v, %v, want a deferred call", r, err)
		}
	})
}
