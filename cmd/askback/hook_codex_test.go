package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

const codexCall = `{"session_id":"c1","turn_id":"t1","cwd":"/srv","hook_event_name":"PreToolUse","tool_use_id":"call_1","tool_name":"Bash","tool_input":{"command":"make"}}`

// sendEvent writes an event to the standard input of a hook.
func sendEvent(t *testing.T, p *process, event string) {
	t.Helper()
	if _, err := io.WriteString(p.in, event); err != nil {
		t.Fatal(err)
	}
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
}

// Codex kills only the shell that runs a hook. The hook then withdraws its ask itself.
func TestHookWhoseShellWasKilledWithdrawsItsAsk(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := &process{env: s.env}
	if err := p.start("sh", "-c", "askback hook codex --gate || exit 2"); err != nil {
		t.Fatal(err)
	}
	sendEvent(t, p, codexCall)
	id := s.waitForAsk()
	_ = p.cmd.Process.Kill()
	if !eventually(func() bool { return s.askStatus(id) == "cancelled" }) {
		t.Errorf("the ask is %v, want cancelled", s.askStatus(id))
	}
	if !eventually(p.hasEnded) { // the output of the hook is closed
		t.Error("the hook still runs")
	}
}

// The shell of a hook may be killed before the hook has read its event. The hook then asks nothing, or
// withdraws its ask.
func TestHookWhoseShellWasKilledEarlyEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, event := range map[string]string{"gemini": geminiCall, "codex": codexCall} {
		p := &process{env: s.env}
		if err := p.start("sh", "-c", "askback hook "+name+" --gate --limit 1h || exit 2"); err != nil {
			t.Fatal(err)
		}
		// The event is larger than any pipe, so the hook has begun to read.
		if _, err := io.WriteString(p.in, strings.Repeat(" ", 1<<20)); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Process.Kill()
		sendEvent(t, p, event)
		if !eventually(p.hasEnded) { // the output of the hook is closed
			t.Errorf("%s: the hook still runs", name)
		}
	}
	if n := len(s.call(s.user, "GET", "/asks?status=pending", "", 200)["items"].([]any)); n != 0 {
		t.Errorf("%d asks are open", n)
	}
}

// A guard continues to wait after its server was killed and started again, and delivers the decision.
func TestGuardSurvivesRestartOfServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := launch(t, s.env, "hook", "codex", "--gate")
	sendEvent(t, p, codexCall)
	id := s.waitForAsk()
	s.kill()
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"decision": "approved", "input": {"command": "make test"}}`, 200)
	<-p.ended
	if p.result != nil || !strings.Contains(p.out.String(), `"permissionDecision":"allow"`) ||
		!strings.Contains(p.out.String(), `"updatedInput":{"command":"make test"}`) {
		t.Errorf("got %v, %s, %s, want approval", p.result, p.out.String(), p.err.String())
	}
}

// While askback attach codex follows a thread, the hooks of the thread do not ask about calls that have a
// dialog in Codex. A guard asks anyway, and so do the hooks of other threads.
func TestHookDoesNotAskWhileItsThreadIsAttached(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	place := instance.Place{Database: filepath.Join(filepath.Dir(s.place.Database), "codex", "threads")}
	done, err := place.Attend("c1")
	if err != nil {
		t.Fatal(err)
	}
	permission := strings.Replace(strings.Replace(codexCall, "PreToolUse", "PermissionRequest", 1),
		`"tool_use_id":"call_1",`, "", 1)
	p := launch(t, s.env, "hook", "codex")
	sendEvent(t, p, permission)
	<-p.ended
	if p.result != nil || p.out.String()+p.err.String() != "" {
		t.Errorf("got %v, %s, %s, want nothing", p.result, p.out.String(), p.err.String())
	}
	for _, event := range []string{codexCall, strings.Replace(permission, `"c1"`, `"c2"`, 1), permission} {
		if event == permission {
			done()
		}
		p := launch(t, s.env, "hook", "codex", "--gate")
		sendEvent(t, p, event)
		id := s.waitForAsk()
		s.call(s.user, "POST", "/asks/"+id+"/answer", `{"decision": "approved"}`, 200)
		<-p.ended
		if !strings.Contains(p.out.String(), `"allow"`) {
			t.Errorf("%s: got %s, %s, want the approval", event, p.out.String(), p.err.String())
		}
	}
}
