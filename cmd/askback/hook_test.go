package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/instance"
)

// An answer that a hook could not print was not given: it has no receipt. One that
// it printed has (B7, F9).
func TestAHookThatCannotPrintGivesNothing(t *testing.T) {
	t.Parallel()
	s := serves(t)
	event := strings.Replace(wantsDB, `"PreToolUse","tool_use_id":"toolu_1"`, `"PermissionRequest"`, 1)
	for _, printed := range []bool{true, false} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		cmd := exec.Command("askback", "hook", "claude-code", "--strict")
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, strings.NewReader(event), w, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		id := s.pendingAsk()
		if !printed {
			_ = r.Close()
		}
		s.does(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
		if err := cmd.Wait(); (err == nil) != printed {
			t.Errorf("printed %t: it ended with %v: %s", printed, err, said.String())
		}
		_ = r.Close()
		if got := s.does(s.user, "GET", "/asks/"+id, "", 200)["acked_at"]; (got != nil) != printed {
			t.Errorf("printed %t: received at %v", printed, got)
		}
	}
}

// hooks starts the hook of an event, and returns once it waits for its ask.
func hooks(t *testing.T, env []string, place instance.Place, event string) *process {
	t.Helper()
	p := launch(t, env, "hook", "claude-code")
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
		t.Fatalf("the hook does not wait:\n%s", p.err.String())
	}
	return p
}

// A hook that is killed, as Codex does it with SIGKILL, can say nothing more: the
// server withdraws what it asked. A hook whose server is killed goes on.
func TestAskOfKilledHookIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := serves(t)
	p := hooks(t, s.env, s.place, wantsBash)
	id := s.pendingAsk()
	_ = p.cmd.Process.Kill()
	if !eventually(func() bool { return s.status(id) == "cancelled" }) {
		t.Fatalf("the ask is %v, want cancelled", s.status(id))
	}

	p = hooks(t, s.env, s.place, wantsBash)
	id = s.pendingAsk()
	s.kill()
	s.start()
	s.does(s.user, "POST", "/asks/"+id+"/answer", `{"decision": "approved"}`, 200)
	<-p.ended
	if p.result != nil || !strings.Contains(p.out.String(), `"behavior":"allow"`) {
		t.Errorf("the server was killed meanwhile: %v, %s, %s", p.result, p.out.String(), p.err.String())
	}
}

// Without a server the hook itself holds the database. When it was killed, the next
// command that opens it withdraws the ask.
func TestAskOfKilledHookThatHeldTheDatabaseIsWithdrawn(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	p := hooks(t, env, instance.Place{Database: database}, wantsBash)
	id := askID.FindString(mustRun(t, env, "list", "--json"))
	if id == "" {
		t.Fatal("nothing is asked")
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	if open := mustRun(t, env, "list", "--json"); strings.Contains(open, id) {
		t.Errorf("it is still open: %s", open)
	}
	if ask := mustRun(t, env, "show", "--json", id); !strings.Contains(ask, `"status":"cancelled"`) && !strings.Contains(ask, `"status": "cancelled"`) {
		t.Errorf("got %s, want it cancelled", ask)
	}
}
