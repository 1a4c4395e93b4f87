package main

import (
	"io"
	"strings"
	"testing"
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
	if !eventually(p.hasEnded) { // its output is closed
		t.Error("the hook still runs")
	}
}

// A guard whose server was killed and started again goes on waiting, and delivers the decision.
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
	if p.result != nil || !strings.Contains(p.out.String(), `"permissionDecision":"allow"`) || !strings.Contains(p.out.String(), `"updatedInput":{"command":"make test"}`) {
		t.Errorf("got %v, %s, %s, want approval", p.result, p.out.String(), p.err.String())
	}
}
