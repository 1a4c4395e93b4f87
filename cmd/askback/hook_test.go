package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/local/instance"
)

// A hook acknowledges an answer only if it could print it (B7, F9).
func TestHookAcksOnlyPrintedAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	event := strings.Replace(questionEvent, `"PreToolUse","tool_use_id":"toolu_1"`, `"PermissionRequest"`, 1)
	for printed, flag := range map[bool]int{true: os.O_WRONLY, false: os.O_RDONLY} { // writing to this pipe fails
		stdout, err := os.OpenFile(os.DevNull, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Command("askback", "hook", "claude-code", "--strict")
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, strings.NewReader(event), stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = stdout.Close()
		id := s.waitForAsk()
		s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
		if err := cmd.Wait(); (err == nil) != printed {
			t.Errorf("printed %t: got %v: %s", printed, err, stderr.String())
		}
		if got := s.call(s.user, "GET", "/asks/"+id, "", 200)["acked_at"]; (got != nil) != printed {
			t.Errorf("printed %t: acked_at is %v", printed, got)
		}
	}
}

// If a person runs a hook at a terminal, the hook prints a note on the input that it reads.
func TestHookAtATerminalExplainsItsInput(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	for _, name := range []string{"claude-code", "codex", "copilot", "cursor", "gemini", "opencode"} {
		s := startTerminal(t, env, 200, "askback", "hook", name)
		s.waitForScreen("askback: reading an event from standard input")
	}
}

// startHook runs askback hook for an event, and returns once it waits for its ask.
func startHook(t *testing.T, env []string, place instance.Place, event string) *process {
	t.Helper()
	p := launch(t, append(slices.Clone(env), claudecode.EntrypointVariable+"=cli"), "hook", "claude-code")
	if _, err := io.WriteString(p.in, event); err != nil {
		t.Fatal(err)
	}
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool {
		notes, err := os.ReadDir(filepath.Join(filepath.Dir(place.Database), "attending"))
		return err == nil && len(notes) == 1
	}) {
		t.Fatalf("the hook does not wait for an ask:\n%s", p.err.String())
	}
	return p
}

// If a hook is killed, the server withdraws its ask. Codex kills hooks with SIGKILL, so a hook cannot
// withdraw its ask. A hook whose server was killed continues to wait.
func TestAskOfKilledHookIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := startHook(t, s.env, s.place, permissionEvent)
	id := s.waitForAsk()
	_ = p.cmd.Process.Kill()
	if !eventually(func() bool { return s.askStatus(id) == "cancelled" }) {
		t.Fatalf("the ask is %v, want cancelled", s.askStatus(id))
	}

	p = startHook(t, s.env, s.place, permissionEvent)
	id = s.waitForAsk()
	s.kill()
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"decision": "approved"}`, 200)
	<-p.ended
	if p.result != nil || !strings.Contains(p.out.String(), `"behavior":"allow"`) {
		t.Errorf("after the server was killed: got %v, %s, %s, want approval", p.result, p.out.String(), p.err.String())
	}
}

// Without a server the hook itself opens the database. If it is killed, the next command that opens the
// database withdraws the ask.
func TestAskOfKilledHookThatHeldTheDatabaseIsWithdrawn(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	p := startHook(t, env, instance.Place{Database: database}, permissionEvent)
	id := askID.FindString(mustRun(t, env, "list", "--json"))
	if id == "" {
		t.Fatal("the hook did not ask")
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	if open := mustRun(t, env, "list", "--json"); strings.Contains(open, id) {
		t.Errorf("%s is still pending: %s", id, open)
	}
	if ask := mustRun(t, env, "show", "--json", id); !strings.Contains(ask, `"status":"cancelled"`) &&
		!strings.Contains(ask, `"status": "cancelled"`) {
		t.Errorf("got %s, want status cancelled", ask)
	}
}
