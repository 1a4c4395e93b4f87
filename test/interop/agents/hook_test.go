package agents_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// codexWithHook returns Codex with the hook of docs/agents.md, and an MCP server with a
// tool that needs a permission.
func codexWithHook(t *testing.T) client {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	probe, err := json.Marshal(program)
	if err != nil {
		t.Fatal(err)
	}
	c := codex
	// At the terminal, a person must trust the hook once.
	c.args = append([]string{"--dangerously-bypass-hook-trust"}, codex.args...)
	c.prepare = func(f *fixture) {
		codex.prepare(f)
		f.append(".codex/config.toml", `
[mcp_servers.probe]
command = `+string(probe)+`
args = ["`+probeWord+`"]

[[hooks.PermissionRequest]]
matcher = ".*"
[[hooks.PermissionRequest.hooks]]
type = "command"
command = "askback hook claude-code"
timeout = 86400
`)
	}
	return c
}

// When Codex needs a permission, a person decides in Askback. Codex cannot run
// edited arguments, so an approval with edited arguments is rejected.
func TestPersonDecidesAboutToolOfCodex(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHook(t), call{"call_1", "write", map[string]any{"x": "one"}}, call{"call_2", "write", map[string]any{"x": "two"}})
	r := f.start("Write it.")
	ask := f.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != "codex" || c == nil || c.ToolName != "write" || c.Server != "probe" || !c.NoEdit {
		t.Errorf("got the ask %+v by %s", c, ask.Agent)
	}
	_, err := f.Person.Answer(bounded(t), ask.ID, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"x":"other"}`)})
	if _, ok := errors.AsType[askback.Invalid](err); !ok {
		t.Errorf("other arguments: got %v, want them refused", err)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	if result := f.model.result("call_1"); !strings.Contains(result, `wrote`) || !strings.Contains(result, "one") {
		t.Errorf("approved: the model got %q", result)
	}
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	if result := f.model.result("call_2"); strings.Contains(result, "wrote") || !strings.Contains(result, "not on a Friday") {
		t.Errorf("denied: the model got %q", result)
	}
	r.end()
}

// GitHub Copilot CLI runs the hooks in the settings of Claude Code. They must
// do nothing.
func TestHooksOfClaudeCodeAreSilentInCopilot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copilot, call{"call_1", "bash", map[string]any{"command": "touch made", "description": "Make a file"}}, call{"call_2", "ask_user_question", colour})
	r := f.start("Do it.")
	if result := f.model.result("call_1"); !strings.Contains(result, "Permission denied") {
		t.Errorf("the model got %q, want a denial without a person", result)
	}
	ask := f.Open(1)[0]
	if ask.Confirmation != nil {
		t.Errorf("a hook asked %+v", ask.Confirmation)
	}
	f.Answer(ask.ID, askback.Choose("red"))
	f.model.result("call_2")
	r.end()
	if out := r.out.String(); strings.Contains(out, "askback:") {
		t.Errorf("the hook wrote something:\n%s", out)
	}
}
