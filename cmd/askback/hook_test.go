package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
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
		if got := s.does(s.user, "GET", "/asks/"+id, "", 200)["received_at"]; (got != nil) != printed {
			t.Errorf("printed %t: received at %v", printed, got)
		}
	}
}
