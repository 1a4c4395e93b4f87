package agents_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// When Codex needs a permission, a person decides in Askback. Codex cannot run
// edited arguments, so an approval with edited arguments is rejected.
func TestPersonDecidesAboutToolOfCodex(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user"), call{"call_1", "write", map[string]any{"x": "one"}},
		call{"call_2", "write", map[string]any{"x": "two"}})
	r := f.start("Write it.")
	ask := f.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != "codex · project" || c == nil || c.ToolName != "write" ||
		c.Server != "probe" || !c.NoEdit {
		t.Errorf("got the ask %+v by %s", c, ask.Agent)
	}
	_, err := f.Person.Answer(bounded(t), ask.ID,
		askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"x":"other"}`)})
	if _, ok := errors.AsType[askback.Invalid](err); !ok {
		t.Errorf("other arguments: got %v, want them refused", err)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	if result := f.model.result("call_1"); !strings.Contains(result, `wrote`) || !strings.Contains(result, "one") {
		t.Errorf("approved: the model got %q", result)
	}
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	if result := f.model.result("call_2"); strings.Contains(result, "wrote") ||
		!strings.Contains(result, "not on a Friday") {
		t.Errorf("denied: the model got %q", result)
	}
	r.end()
}

// GitHub Copilot CLI runs the hooks in the settings of Claude Code. These hooks must do nothing.
func TestClaudeCodeHooksPrintNothingInCopilot(t *testing.T) {
	t.Parallel()
	c := copilot
	c.init = []string{"claude-code"}
	f := newFixture(t, c, copilotHooks.touch("call_1", "made"), call{"call_2", "ask_user_question", colour})
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

// The hooks that a team shares have no effect for people who use GitHub Copilot CLI without Askback. Copilot
// denies a call if a hook fails, for example because its program is missing (T46).
func TestSharedHooksAllowCallsOfCopilotWithoutAskback(t *testing.T) {
	t.Parallel()
	c := copilot
	c.init = []string{"claude-code", "--shared"}
	c.args = append([]string{"--allow-all-tools"}, copilot.args...)
	f := newFixture(t, c, call{"call_1", "bash", map[string]any{"command": "touch made", "description": "Make a file"}})
	settings := filepath.Join(f.project, ".claude", "settings.json")
	raw, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	// A team may have a matcher for all tools.
	wide := strings.Replace(string(raw), `"matcher": "AskUserQuestion"`, `"matcher": "*"`, 1)
	if wide == string(raw) {
		t.Fatalf("no matcher in %s", raw)
	}
	f.write("project/.claude/settings.json", []byte(wide))
	withAskback := c.environ
	f.client.environ = func(f *fixture) []string { return append(withAskback(f), "PATH="+os.Getenv("PATH")) }
	r := f.start("Do it.")
	if result := f.model.result("call_1"); !strings.Contains(result, "exit code 0") {
		t.Errorf("the model got %q, want the result of the command", result)
	}
	r.end()
	if _, err := os.Stat(filepath.Join(f.project, "made")); err != nil {
		t.Error(err)
	}
}

// In a project with the hooks of Claude Code and of Copilot, a permission is asked once. The same is true
// with hooks of the user and of the project.
func TestPermissionOfCopilotIsAskedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, copilot, copilotHooks.touch("call_1", "one"), copilotHooks.touch("call_2", "two"))
	f.mustRun(f.Program, "init", "claude-code")
	f.mustRun(f.Program, "init", "copilot", "--user")
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.Answer(ask.ID, approve)
	f.wantTouched("call_1", "one", true)
	f.Answer(f.openAfter(ask).ID, refuse)
	f.wantTouched("call_2", "two", false)
	r.end()
	page, err := f.Person.List(bounded(t), askback.Query{Status: askback.AnyStatus})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("got %d asks, want 2; %v", len(page.Items), err)
	}
}

// People are asked about the tools of other MCP servers, and see the name of the server. They are not asked
// about the tools of Askback.
func TestToolsOfOtherServersOfCopilotAreAsked(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := copilot
	c.configured = func(f *fixture) {
		f.writeJSON(".copilot/mcp-config.json", map[string]any{"mcpServers": map[string]any{"probe": map[string]any{
			"type": "local", "command": program, "args": []string{probeWord}, "tools": []string{"*"},
		}}})
	}
	f := newFixture(t, c, call{"call_1", "write", map[string]any{"x": "one"}},
		call{"call_2", "ask_user_question", colour})
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	if c := ask.Confirmation; c == nil || c.ToolName != "write" || c.Server != "probe" || !c.NoEdit {
		t.Errorf("got the ask %+v", c)
	}
	f.Answer(ask.ID, approve)
	if result := f.model.result("call_1"); !strings.Contains(result, "wrote") {
		t.Errorf("approved: the model got %q", result)
	}
	if ask = f.openAfter(ask); ask.Confirmation != nil {
		t.Errorf("asked about Askback's own tool: %+v", ask.Confirmation)
	}
	f.Answer(ask.ID, askback.Choose("red"))
	f.model.result("call_2")
	r.end()
}

// With --gate, the hook of Copilot blocks a call without an answer, even if Copilot allows all tools.
func TestGuardOfCopilotBlocksWithoutAnswer(t *testing.T) {
	t.Parallel()
	for flags, runs := range map[string]bool{"--wait 2s": true, "--gate --wait 2s": false} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			c := copilot
			c.args = append([]string{"--allow-all-tools"}, copilot.args...)
			c.configured = func(f *fixture) {
				f.change("project/.github/hooks/askback.json", "hook copilot", "hook copilot "+flags)
			}
			f := newFixture(t, c, copilotHooks.touch("call_1", "one"))
			r := f.start("Do it.")
			ask := f.Open(1)[0]
			f.wantTouched("call_1", "one", runs)
			f.wantCancelled(ask)
			r.end()
		})
	}
}

// If the guard that askback init writes for Copilot fails in any way, the call is blocked.
func TestFailedCopilotGuardBlocks(t *testing.T) {
	t.Parallel()
	const hooks = "project/.github/hooks/askback.json"
	for name, change := range map[string]func(*fixture){
		"no answer in time": func(f *fixture) { f.change(hooks, "--wait 23h", "--wait 2s") },
		"the program is missing": func(f *fixture) {
			f.change(hooks, "askback hook copilot --gate", "askback-is-missing hook copilot --gate")
		},
		"an unknown flag": func(f *fixture) { f.change(hooks, "--gate", "--gate --unknown") },
		"the program is killed": func(f *fixture) {
			f.change(hooks, "askback hook copilot --gate", "sh -c 'kill -9 $$' hook copilot --gate")
		},
		"no server": func(f *fixture) { f.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := copilot
			c.init = []string{"copilot", "--gate"}
			c.args = append([]string{"--allow-all-tools"}, copilot.args...)
			c.configured = change
			f := newFixture(t, c, copilotHooks.touch("call_1", "one"))
			r := f.start("Do it.")
			f.wantTouched("call_1", "one", false)
			r.end()
		})
	}
}
