package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cursorCall is a command that Cursor is about to run.
const cursorCall = `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"beforeShellExecution","cursor_version":"2.0.77","command":"make","cwd":"/srv"}`

// programPath returns the path of askback in tests.
func programPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("askback")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The guard of Cursor blocks each call without an approval, with exit code 2. Without --gate, the
// hook then decides nothing (F7, F9).
func TestGuardOfCursorBlocksWithoutApproval(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	own := `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"beforeMCPExecution","tool_name":"get_answer","tool_input":"{}","command":"askback mcp"}`
	program := programPath(t)
	for name, c := range map[string]struct {
		event  string
		gate   bool
		blocks bool
	}{
		"no answer":          {cursorCall, true, true},
		"no answer, no gate": {cursorCall, false, false},
		"another agent":      {permissionEvent, true, true},
		"foreign, no gate":   {permissionEvent, false, false},
		"no JSON":            {"allow", true, true},
		"own tool":           {own, true, false},
		"own tool by path":   {strings.Replace(own, "askback", program, 1), true, false},
		"another program":    {strings.Replace(own, "askback", "./askback", 1), true, true},
	} {
		args := []string{"cursor", "--limit", "4s"}
		if c.gate {
			args = append(args, "--gate")
		}
		out, stderr, code := runHookCommand(t, s.env, c.event, args...)
		if want := map[bool]int{true: 2, false: 0}[c.blocks]; out != "" || code != want {
			t.Errorf("%s: got %q, %q and code %d, want code %d", name, out, stderr, code, want)
		}
	}
}

// A hook finds the approval of its call even if the events differ in white space, and prints the decision of
// the person.
func TestWhiteSpaceInEventsDoesNotHideTheApproval(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	space := strings.NewReplacer(`:{"`, `: { "`, `,"`, ` , "`).Replace
	for _, c := range []struct{ hook, event, want string }{
		{"cursor", space(cursorCall), `{"permission":"allow"}`},
		{"copilot", space(copilotEvent), `{"behavior":"allow"}`},
		{"gemini", space(geminiCall), `{"decision":"allow"}`},
	} {
		args := []string{"hook", c.hook}
		if c.hook != "copilot" {
			args = append(args, "--gate")
		}
		p := launch(t, s.env, args...)
		sendEvent(t, p, c.event)
		s.call(s.user, "POST", "/asks/"+s.waitForAsk()+"/answer", `{"decision":"approved"}`, 200)
		<-p.ended
		if p.result != nil || strings.TrimSpace(p.out.String()) != c.want {
			t.Errorf("%s: got %v, %q, %s", c.hook, p.result, p.out.String(), p.err.String())
		}
	}
}
