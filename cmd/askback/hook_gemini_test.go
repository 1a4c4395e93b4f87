package main

import (
	"strings"
	"testing"
)

// geminiCall is a call of Gemini CLI.
const geminiCall = `{"session_id":"s1","cwd":"/srv","hook_event_name":"BeforeTool","timestamp":"2026-11-22T07:08:40.944Z","tool_name":"run_shell_command","tool_input":{"command":"make"}}`

// The guard of Gemini CLI blocks each call without an approval, with exit code 2 and a text. Without
// the text, Gemini CLI would run the tool (F7, F9).
func TestGuardOfGeminiBlocksWithoutApproval(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	own := strings.Replace(geminiCall, `"tool_name"`,
		`"mcp_context":{"server_name":"askback","tool_name":"get_answer","command":"`+programPath(t)+
			`","args":["mcp"]},"tool_name"`,
		1)
	question := strings.Replace(geminiCall, "run_shell_command", "ask_user", 1)
	for name, c := range map[string]struct {
		event   string
		guarded bool
		blocks  bool
	}{
		"no answer":         {geminiCall, true, true},
		"no JSON":           {"allow", true, true},
		"nothing":           {"", true, true},
		"another program":   {permissionEvent, true, true},
		"not to be shown":   {strings.Replace(geminiCall, `"make"`, "123456789012345678901234567890", 1), true, true},
		"no question":       {question, true, false},
		"own tool":          {own, true, false},
		"another's tool":    {strings.Replace(own, `"args"`, `"tcp":"x","args"`, 1), true, true},
		"not a guard":       {geminiCall, false, false},
		"foreign, no guard": {permissionEvent, false, false},
	} {
		args := []string{"gemini", "--limit", "4s"}
		if c.guarded {
			args = append(args, "--gate")
		}
		out, stderr, code := runHookCommand(t, s.env, c.event, args...)
		if out != "" || (code == 2) != c.blocks || strings.HasPrefix(stderr, "askback: ") != c.blocks ||
			!c.blocks && code != 0 {
			t.Errorf("%s: got %q, %q and code %d", name, out, stderr, code)
		}
	}
	s.kill()
	if out, stderr, code := runHookCommand(t, s.env, geminiCall, "gemini", "--gate"); out != "" ||
		code != 2 || stderr == "" {
		t.Errorf("without a server: got %q, %q and code %d", out, stderr, code)
	}
}

// The decision of a person is the output of the guard.
func TestGuardOfGeminiPrintsTheDecision(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for answer, want := range map[string]string{
		`{"decision":"approved"}`:                                 `{"decision":"allow"}`,
		`{"decision":"approved","input":{"command":"make test"}}`: `"tool_input":{"command":"make test"}`,
		`{"decision":"denied","reason":"not today"}`:              `{"decision":"deny","reason":`,
	} {
		p := launch(t, s.env, "hook", "gemini", "--gate")
		sendEvent(t, p, strings.Replace(geminiCall, `"s1"`, `"`+strings.ReplaceAll(want, `"`, "'")+`"`, 1))
		id := s.waitForAsk()
		s.call(s.user, "POST", "/asks/"+id+"/answer", answer, 200)
		<-p.ended
		if p.result != nil || !strings.Contains(p.out.String(), want) {
			t.Errorf("%s: got %v, %s, %s", answer, p.result, p.out.String(), p.err.String())
		}
	}
}
