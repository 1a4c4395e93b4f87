package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// copilotEvent is a permission that GitHub Copilot CLI asks for.
const copilotEvent = `{"hookName":"permissionRequest","sessionId":"s1","timestamp":1795492516884,"cwd":"/srv/app","toolName":"bash","toolInput":{"command":"touch made"},"permissionSuggestions":[]}`

// runHookCommand runs askback hook with an event, and returns its output and its exit code.
func runHookCommand(t *testing.T, env []string, event string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("askback", append([]string{"hook"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(event), &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Without a decision, the hook of Copilot prints nothing. This holds for an event of another program, a call
// that the hook does not ask about, an error, and a missing answer. The hook exits with 0, because Copilot
// would otherwise deny the call (F9).
func TestCopilotHookPrintsNothingWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, event := range map[string]string{
		"Claude Code": permissionEvent,
		"Gemini CLI":  `{"session_id":"s1","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-11-22T07:08:40.944Z","tool_name":"write_file","tool_input":{}}`,
		"own tool":    strings.Replace(copilotEvent, `"bash"`, `"askback/get_answer"`, 1),
		"reading":     strings.Replace(copilotEvent, "touch made", "ls", 1),
		"no JSON":     "allow",
		"no answer":   copilotEvent,
	} {
		out, stderr, code := runHookCommand(t, s.env, event, "copilot", "--wait", "4s")
		if out != "" || code != 0 || strings.Contains(stderr, "askback:") != (name == "no JSON") {
			t.Errorf("%s: got %q, %q and code %d", name, out, stderr, code)
		}
	}
	if n := len(s.call(s.user, "GET", "/asks?status=pending", "", 200)["items"].([]any)); n != 0 {
		t.Errorf("%d asks are open, want them withdrawn", n)
	}
	s.kill()
	if out, stderr, code := runHookCommand(t, s.env, copilotEvent, "copilot"); out != "" || code != 0 || stderr == "" {
		t.Errorf("without a server: got %q, %q and code %d", out, stderr, code)
	}
}

// The guard of Copilot denies a permission without an approval: with exit code 2 and a text.
func TestGuardOfCopilotBlocksWithoutApproval(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct {
		event string
		code  int
	}{
		"no answer":       {copilotEvent, 2},
		"no JSON":         {"allow", 2},
		"another program": {permissionEvent, 2},
		"not to be shown": {strings.Replace(copilotEvent, `"touch made"`, "123456789012345678901234567890", 1), 2},
		"own tool":        {strings.Replace(copilotEvent, `"bash"`, `"askback/get_answer"`, 1), 0},
		"reading":         {strings.Replace(copilotEvent, "touch made", "rg --pre ./evil.sh a", 1), 2},
	} {
		out, stderr, code := runHookCommand(t, s.env, c.event, "copilot", "--gate", "--wait", "4s")
		if out != "" || code != c.code || (stderr == "") != (c.code == 0) {
			t.Errorf("%s: got %q, %q and code %d, want code %d", name, out, stderr, code, c.code)
		}
	}
}
