package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// attachedCodex returns Codex in a trusted project, with the tools that ask.
func attachedCodex(t *testing.T) client {
	t.Helper()
	c := codex
	c.prepare = func(f *fixture) {
		codex.prepare(f)
		config := filepath.Join(f.Home, ".codex", "config.toml")
		raw, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		f.write(".codex/config.toml", []byte(strings.Replace(string(raw), "[features]\n", `[features]
hooks = false
default_mode_request_user_input = true
exec_permission_approvals = true
request_permissions_tool = true
`, 1)))
		f.append(".codex/config.toml", fmt.Sprintf(`
[sandbox_workspace_write]
exclude_slash_tmp = true

[mcp_servers.probe]
command = %q
args = [%q]

[projects.%q]
trust_level = "trusted"
`, os.Args[0], probeWord, f.project))
	}
	return c
}

// command is a call of Codex's shell that needs a permission, because it runs outside the sandbox.
func command(id, line string) call {
	return call{id, "exec_command", map[string]any{
		"cmd": line, "sandbox_permissions": "require_escalated", "justification": "May I?",
	}}
}

// attach starts askback attach codex, and returns the command. The process ends with the test.
func (f *fixture) attach() *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command(f.Program, "attach", "codex")
	cmd.Dir, cmd.Env = f.project, f.environ()
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if f.t.Failed() {
			f.t.Logf("askback attach wrote:\n%s", log)
		}
	})
	return cmd
}

// terminal starts Codex at a terminal, with its daemon.
func (f *fixture) terminal(prompt string) *clienttest.Screen {
	f.t.Helper()
	f.stopDaemon()
	return clienttest.NewScreen(f.t, f.project, f.environ(), f.program, prompt)
}

// stopDaemon stops the daemon of Codex at the end of the test, and the process that updates it.
func (f *fixture) stopDaemon() {
	f.t.Helper()
	f.t.Cleanup(func() {
		f.killUpdater()
		cmd := exec.Command(f.program, "app-server", "daemon", "stop")
		cmd.Env = f.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			f.t.Logf("stop the daemon: %v\n%s", err, out)
		}
	})
}

// killUpdater ends the process that updates the daemon of Codex, if it runs.
func (f *fixture) killUpdater() {
	var updater struct {
		PID int `json:"pid"`
	}
	raw, err := os.ReadFile(filepath.Join(f.Home, ".codex", "app-server-daemon", "daemon-updater.pid"))
	if err != nil || json.Unmarshal(raw, &updater) != nil || updater.PID <= 1 {
		return
	}
	if process, err := os.FindProcess(updater.PID); err == nil {
		_ = process.Kill()
	}
}

// eventually calls try until it returns nil.
func (f *fixture) eventually(what string, try func() error) {
	f.t.Helper()
	over := time.After(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-over:
			f.t.Fatalf("waited until %s: %v", what, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// becomesCancelled waits until an ask is cancelled.
func (f *fixture) becomesCancelled(id string) {
	f.t.Helper()
	f.eventually("the ask is cancelled", func() error {
		ask, err := f.Person.Get(bounded(f.t), id)
		if err == nil && ask.Status != askback.Cancelled {
			err = fmt.Errorf("it is %s", ask.Status)
		}
		return err
	})
}

// decides presses a key in the dialog of an ask until the ask is cancelled. Another dialog with the same
// text may follow, and it must not get the key.
func (f *fixture) decides(s *clienttest.Screen, dialog, key, id string) {
	f.t.Helper()
	s.WaitFor(dialog)
	s.PressUntil(key, func(string) error {
		ask, err := f.Person.Get(bounded(f.t), id)
		if err == nil && ask.Status != askback.Cancelled {
			err = fmt.Errorf("it is %s", ask.Status)
		}
		return err
	})
}

// exists reports whether a file in the home folder exists.
func (f *fixture) exists(name string) bool {
	_, err := os.Stat(filepath.Join(f.Home, name))
	return err == nil
}

// The dialogs at the terminal and in Askback are open at the same time, and the first answer counts.
func TestFirstAnswerToCodexCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, attachedCodex(t),
		command("call_1", "touch ../one"), command("call_2", "touch ../two"), command("call_3", "touch ../three"),
		call{"call_4", "request_user_input", map[string]any{"questions": []any{map[string]any{
			"id": "db", "header": "DB", "question": "Which database?",
			"options": []any{map[string]any{"label": "PostgreSQL", "description": "a server"}, map[string]any{
				"label": "SQLite", "description": "a file",
			}},
		}}}},
		call{"call_5", "write", map[string]any{"x": "five"}},
		call{"call_6", "exec_command", map[string]any{
			"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../six\n+hello\n*** End Patch\nEOF\n",
		}},
		call{"call_7", "request_permissions", map[string]any{
			"reason":      "May I use the network?",
			"permissions": map[string]any{"network": map[string]any{"enabled": true}},
		}},
		call{"call_8", "request_permissions", map[string]any{
			"reason": "And now?", "permissions": map[string]any{"network": map[string]any{"enabled": true}},
		}},
	)
	s := f.terminal("Do it.")
	f.attach()

	ask := f.Open(1)[0]
	if c := ask.Confirmation; ask.Agent != "codex · project" || c == nil || c.ToolName != "Bash" || !c.NoEdit ||
		c.Description != "May I?" ||
		!strings.Contains(string(c.Input), "touch ../one") || !strings.Contains(string(ask.Context), f.project) {
		t.Errorf("got the ask %+v by %s, context %s", c, ask.Agent, ask.Context)
	}
	s.WaitFor("touch ../one")
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_1")
	if !f.exists("one") {
		t.Error("approved in Askback: the command did not run")
	}

	ask = f.Open(1)[0]
	s.WaitFor("$ touch ../two")
	s.PressUntil("y", clienttest.Lacks("2. Yes, and don't ask again for commands that start with `touch ../two`"))
	f.model.result("call_2")
	if !f.exists("two") {
		t.Error("approved at the terminal: the command did not run")
	}
	f.becomesCancelled(ask.ID)

	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	f.model.result("call_3")
	if f.exists("three") {
		t.Error("denied in Askback: the command ran")
	}
	s.WaitFor("not on a Friday")

	ask = f.Open(1)[0]
	if len(ask.Questions) != 1 || ask.Questions[0].Text != "Which database?" {
		t.Errorf("got the questions %+v", ask.Questions)
	}
	f.Answer(ask.ID, askback.Choose("SQLite"))
	if result := f.model.result("call_4"); !strings.Contains(result, `"db":{"answers":["SQLite"]}`) {
		t.Errorf("the model got the answer %q", result)
	}

	ask = f.Open(1)[0]
	if c := ask.Confirmation; c == nil || c.ToolName != "write" || c.Server != "probe" ||
		string(c.Input) != `{"x":"five"}` {
		t.Errorf("got the ask %+v", c)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	if result := f.model.result("call_5"); !strings.Contains(result, "wrote") {
		t.Errorf("the model got %q", result)
	}

	ask = f.Open(1)[0]
	if c := ask.Confirmation; c == nil || c.ToolName != "apply_patch" ||
		!strings.Contains(string(c.Input), "hello") || f.exists("six") {
		t.Errorf("got the ask %+v", c)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_6")
	if !f.exists("six") {
		t.Error("approved in Askback: the file was not written")
	}

	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	if result := f.model.result("call_7"); !strings.Contains(result, `"enabled":true`) {
		t.Errorf("the model got the permissions %q", result)
	}
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny})
	if result := f.model.result("call_8"); strings.Contains(result, `"enabled":true`) {
		t.Errorf("denied: the model got the permissions %q", result)
	}
	s.WaitFor("Done.")
}

// A request of Codex has one ask, even if Askback is killed and started again. If askback attach is killed,
// its ask is withdrawn, and the next askback attach asks again. While Askback does not run, the terminal
// decides.
func TestRequestOfCodexSurvivesRestarts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, attachedCodex(t), command("call_1", "touch ../one"), command("call_2", "touch ../two"),
		command("call_3", "touch ../three"))
	s := f.terminal("Do it.")
	attached := f.attach()
	ask := f.Open(1)[0]
	_ = attached.Process.Kill()
	_ = attached.Wait()
	f.becomesCancelled(ask.ID)
	attached = f.attach()
	ask = f.Open(1)[0]
	f.Kill()
	f.Start()
	if again := f.Open(1)[0]; again.ID != ask.ID {
		t.Errorf("after the restart, the ask is %s, want %s", again.ID, ask.ID)
	}
	if f.exists("one") {
		t.Error("the command ran without an answer")
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_1")
	if !f.exists("one") {
		t.Error("approved: the command did not run")
	}
	s.WaitFor("$ touch ../two")
	ask = f.Open(1)[0]
	f.Kill()
	s.PressUntil("y", clienttest.Lacks("2. Yes, and don't ask again for commands that start with `touch ../two`"))
	f.model.result("call_2")
	if !f.exists("two") {
		t.Error("approved at the terminal while Askback was away: the command did not run")
	}
	f.Start()
	f.becomesCancelled(ask.ID)

	ask = f.Open(1)[0]
	if err := attached.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := attached.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	f.becomesCancelled(ask.ID) // the killed process may have owned the database, which the server then takes over
	f.attach()
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny})
	f.model.result("call_3")
	if f.exists("three") {
		t.Error("denied: the command ran")
	}
}
