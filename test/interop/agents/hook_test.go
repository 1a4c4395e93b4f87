package agents_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// hooked is a Codex with the hook that docs/agents.md shows, and a server with a
// tool that needs a permission.
func hooked(t *testing.T) client {
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
	// At the terminal a person trusts the hook once. There is no terminal here.
	c.args = append([]string{"--dangerously-bypass-hook-trust"}, codex.args...)
	c.prepare = func(b *bench) {
		codex.prepare(b)
		b.append(".codex/config.toml", `
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

// A permission of Codex is asked as one of Codex, and decided from elsewhere. It
// cannot run other arguments, so none can be approved.
func TestPermissionOfCodex(t *testing.T) {
	t.Parallel()
	b := newBench(t, hooked(t), call{"call_1", "write", map[string]any{"x": "one"}}, call{"call_2", "write", map[string]any{"x": "two"}})
	r := b.start("Write it.")
	ask := b.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != "codex" || c == nil || c.ToolName != "write" || c.Server != "probe" || !c.NoEdit {
		t.Errorf("a person is asked %+v by %s", c, ask.Agent)
	}
	_, err := b.Person.Answer(bounded(t), ask.ID, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"x":"other"}`)})
	if _, ok := errors.AsType[askback.Invalid](err); !ok {
		t.Errorf("other arguments: got %v, want them refused", err)
	}
	b.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	if told := b.model.result("call_1"); !strings.Contains(told, `wrote`) || !strings.Contains(told, "one") {
		t.Errorf("approved: the model was told %q", told)
	}
	b.Answer(b.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	if told := b.model.result("call_2"); strings.Contains(told, "wrote") || !strings.Contains(told, "not on a Friday") {
		t.Errorf("denied: the model was told %q", told)
	}
	r.end()
}

// GitHub Copilot CLI runs the hooks that Claude Code's settings have. Nothing of
// it is asked here.
func TestHooksOfClaudeCodeAreSilentInCopilot(t *testing.T) {
	t.Parallel()
	b := newBench(t, copilot, call{"call_1", "bash", map[string]any{"command": "touch made", "description": "Make a file"}}, call{"call_2", "ask_user_question", colour})
	r := b.start("Do it.")
	if told := b.model.result("call_1"); !strings.Contains(told, "Permission denied") {
		t.Errorf("the model was told %q, want that no one could permit it", told)
	}
	ask := b.Open(1)[0]
	if ask.Confirmation != nil {
		t.Errorf("a hook asked %+v", ask.Confirmation)
	}
	b.Answer(ask.ID, askback.Choose("red"))
	b.model.result("call_2")
	r.end()
	if out := r.out.String(); strings.Contains(out, "askback:") {
		t.Errorf("the hook wrote something:\n%s", out)
	}
}
