package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// withoutSandbox are the arguments of codex exec with which commands may write to the project.
var withoutSandbox = []string{"--sandbox", "danger-full-access", "Do it."}

// A person edits a command that Codex asks to run. Only the edited command runs.
func TestGuardOfCodexRunsEditedCommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user", "--gate"), codexGuarded.call("call_1"))
	r := f.start(withoutSandbox...)
	f.Answer(f.Open(1)[0].ID,
		askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command":"echo edited >> other"}`)})
	_ = f.model.result("call_1")
	r.end()
	f.wantMade()
	if raw, err := os.ReadFile(filepath.Join(f.project, "other")); err != nil || string(raw) != "edited\n" {
		t.Errorf("the edited command wrote %q, %v", raw, err)
	}
}

// The tools of Askback and the question tool of Codex need no approval, so people get only the asks of these
// tools. The tools of other servers need approval.
func TestGuardOfCodexAllowsQuestions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user", "--gate"), call{"call_1", "ask_user_question", colour},
		codexQuestion.call("call_2"), call{"call_3", "write", map[string]any{"x": "one"}})
	r := f.start("Do it.")
	for _, id := range []string{"call_1", "call_2"} {
		ask := f.Open(1)[0]
		if ask.Confirmation != nil {
			t.Fatalf("%s: got %+v, want a question", id, ask.Confirmation)
		}
		f.Answer(ask.ID, askback.Choose("red"))
		if got := f.model.result(id); !strings.Contains(got, "red") {
			t.Errorf("%s: the model got %q", id, got)
		}
	}
	ask := f.Open(1)[0]
	if c := ask.Confirmation; c == nil || c.Server != "probe" || c.ToolName != "write" || c.NoEdit {
		t.Errorf("got %+v, want a confirmation of write", c)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "not today"})
	if got := f.model.result("call_3"); !strings.Contains(got, "not today") || strings.Contains(got, "wrote") {
		t.Errorf("the model got %q", got)
	}
	r.end()
}

// Codex runs no hook for the input of a running command. With a guard, no command has a
// terminal that could get such input.
func TestGuardOfCodexDeniesTerminals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user", "--gate"),
		call{"call_1", "exec_command", map[string]any{"cmd": "bash", "tty": true}})
	r := f.start(withoutSandbox...)
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	if got := f.model.result("call_1"); !strings.Contains(got, "TTY execution is disabled") {
		t.Errorf("the model got %q", got)
	}
	r.end()
}

// A guard that is not installed, or is killed, blocks the call.
func TestBrokenGuardOfCodexBlocks(t *testing.T) {
	t.Parallel()
	const guard = "askback hook codex --gate --limit 23h"
	for name, command := range map[string]string{
		"missing": "no-such-program hook codex --gate",
		"failing": "false",
		"silent":  "sh -c 'kill -KILL $$'",
		"killed":  "sh -c 'echo $$ > guard.pid; exec " + guard + "'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := codexWithHooks("codex", "--user", "--gate")
			c.configured = func(f *fixture) { f.change(".codex/config.toml", guard, command) }
			f := newFixture(t, c, codexGuarded.call("call_1"))
			r := f.start(withoutSandbox...)
			if name == "killed" {
				f.Open(1)
				f.mustRun("kill", "-KILL", strings.TrimSpace(f.mustRun("cat", "guard.pid")))
			}
			if got := f.model.result("call_1"); !strings.Contains(got, "not approved") {
				t.Errorf("the model got %q, want the reason of the block", got)
			}
			r.end()
			f.wantMade()
		})
	}
}

// Codex runs a tool if its own timeout ends the guard. The limit of the guard must therefore be shorter.
func TestCodexRunsToolAfterGuardTimeout(t *testing.T) {
	t.Parallel()
	guarded := codexWithHooks("codex", "--user", "--gate")
	guarded.configured = func(f *fixture) { f.change(".codex/config.toml", "timeout = 86400", "timeout = 2") }
	f := newFixture(t, guarded, codexGuarded.call("call_1"))
	r := f.start(withoutSandbox...)
	ask := f.Open(1)[0]
	_ = f.model.result("call_1")
	f.made = 1
	f.wantMade()
	f.wantCancelled(ask)
	r.end()
}

// On a machine without askback, Codex asks at the terminal, and no hook fails.
func TestCodexWithoutAskbackShowsItsDialog(t *testing.T) {
	t.Parallel()
	c := codexWithHooks("codex", "--user")
	c.configured = func(f *fixture) { f.change(".codex/config.toml", `"askback hook`, `"no-such-program hook`) }
	f := newFixture(t, c, codexPermission.call("call_1"))
	s := f.startTerminal(codexPermission.terminal...)
	s.WaitFor(codexPermission.dialog...)
	if text := s.Text(); strings.Contains(text, "ailed") || strings.Contains(text, "no-such-program") {
		t.Errorf("the screen has an error of a hook:\n%s", text)
	}
	codexPermission.accept(f, s)
	codexPermission.want(f, "call_1", "wrote")
}

// Codex runs hooks only after a person trusted them at its terminal. Until then codex exec
// skips them silently.
func TestCodexSkipsHooksUntilTheyAreTrusted(t *testing.T) {
	t.Parallel()
	c := codexWithHooks("codex", "--user")
	c.args = codex.args
	f := newFixture(t, c, codexQuestion.call("call_1"))
	f.start("Do it.").end()
	codexQuestion.want(f, "call_1", "")
	s := f.startTerminal("--no-daemon")
	s.WaitFor("Hooks need review", "2. Trust all")
	s.PressUntil("2", clienttest.Contains("› 2. Trust all"))
	s.PressUntil("Enter", clienttest.Lacks("Trust all"))
	r := f.start("Do it.")
	f.Answer(f.Open(1)[0].ID, askback.Choose("red"))
	r.end()
	codexQuestion.want(f, "call_1", `"red"`)
}

// Codex changes its configuration: it deletes the comments of askback init, and inserts tables between the
// tables of Askback. Only the tables of Askback can then still be updated and removed.
func TestConfigurationChangedByCodexIsUpdatedAndRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user", "--gate"))
	f.mustRun(f.program, "mcp", "add", "other", "--", "true")
	path := filepath.Join(f.Home, ".codex", "config.toml")
	changed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(changed), "# askback: begin.") {
		t.Error("Codex keeps comments now")
	}
	f.mustRun(f.Program, "init", "codex", "--user")
	if list := f.mustRun(f.program, "mcp", "list"); !strings.Contains(list, "askback") ||
		!strings.Contains(list, "other") || !strings.Contains(list, "probe") {
		t.Errorf("updated: got the servers\n%s", list)
	}
	f.mustRun(f.Program, "init", "codex", "--user", "--remove")
	withoutFolders := strings.NewReplacer(f.Home, "", os.TempDir(), "").Replace
	if list := f.mustRun(f.program, "mcp", "list"); strings.Contains(withoutFolders(list), "askback") ||
		!strings.Contains(list, "other") || !strings.Contains(list, "probe") {
		t.Errorf("removed: got the servers\n%s", list)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(withoutFolders(string(raw)), "askback") {
		t.Errorf("removed: got %v\n%s", err, raw)
	}
}

// A question at the terminal is answered in Askback, while Codex shows where to answer it. Only the terminal
// asks for a secret, because answers are stored.
func TestCodexQuestionAtTheTerminalIsAnsweredInAskback(t *testing.T) {
	t.Parallel()
	secret := map[string]any{"questions": []any{map[string]any{
		"id": "key", "question": "Which key is it?", "header": "Key", "isSecret": true, "isOther": true,
		"options": []any{map[string]any{"label": "none", "description": "There is no key"}, map[string]any{
			"label": "old", "description": "The old key",
		}},
	}}}
	f := newFixture(t, codexWithHooks("codex", "--user"), codexQuestion.call("call_1"),
		call{"call_2", "request_user_input", secret})
	s := f.startTerminal(codexQuestion.terminal...)
	ask := f.Open(1)[0]
	s.WaitFor("Waiting for an answer in Askback")
	f.Answer(ask.ID, askback.Choose("red"))
	codexQuestion.want(f, "call_1", `"red"`)
	s.WaitFor("Which key is it?", "› 1. none")
	page, err := f.Person.List(bounded(t), askback.Query{Status: askback.Pending})
	if err != nil || len(page.Items) > 0 {
		t.Errorf("got %d open asks, %v, want none", len(page.Items), err)
	}
}

// Whatever the configuration of Codex contains, Codex can still read it with the tables of Askback. After
// their removal it is the same as before.
func TestConfigurationOfCodexStaysValid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user"))
	f.mustRun(f.Program, "init", "codex", "--user", "--remove")
	base, err := os.ReadFile(filepath.Join(f.Home, ".codex", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]string{
		"nothing":            "",
		"no line feed":       "[profiles.a]\nmodel = \"x\"",
		"empty lines":        "\n\n\n",
		"a header in a text": "[profiles.a]\nmodel = \"\"\"\n[features]\n[[hooks.Stop]]\n# askback: end.\n\"\"\"\n",
		"literal strings":    "[profiles.a]\nmodel = '''\n[x] \\''' # [\n\"model_provider\" = '['\n",
		"arrays": "[mcp_servers.other]\ncommand = \"true\"\nargs = [\n  \"[a]\", # ]\n]\nenv = { A " +
			"= \"}\" }\n",
		"hooks of the person": "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"true\"\n",
		"inline hooks": "[[hooks.PermissionRequest]]\nmatcher = \"^Bash$\"\nhooks = [\n  { type = " +
			"\"command\", command = \"true\" },\n]\n",
		"a table of hooks": "[hooks]\n\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"true\" }]\n",
		"states of hooks":  "[hooks.state]\n\n[hooks.state.\"/a.toml:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
		"quoted names":     "[projects.\"/a/[b].c\"]\ntrust_level = \"trusted\" # [x]\n",
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			before := strings.ReplaceAll(string(base)+more, "\n", newline)
			f.write(".codex/config.toml", []byte(before))
			for _, args := range [][]string{{"--gate"}, {"--no-gate"}} {
				f.mustRun(f.Program, append([]string{"init", "codex", "--user"}, args...)...)
				if list := f.mustRun(f.program, "mcp", "list"); !strings.Contains(list, "askback") ||
					!strings.Contains(list, "probe") {
					t.Errorf("%s, %q: got the servers\n%s", name, newline, list)
				}
			}
			f.mustRun(f.Program, "init", "codex", "--user", "--remove")
			if after, err := os.ReadFile(filepath.Join(f.Home, ".codex", "config.toml")); err != nil ||
				strings.TrimRight(string(after), "\r\n") != strings.TrimRight(before, "\r\n") {
				t.Errorf("%s, %q: got %v\n%s\nwant\n%s", name, newline, err, after, before)
			}
		}
	}
}
