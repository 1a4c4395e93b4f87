package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/claudecode"
)

const (
	permissionEvent = `{"session_id":"s1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	questionEvent   = `{"session_id":"s1","cwd":"/srv","hook_event_name":"PreToolUse","tool_use_id":"toolu_1","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which database?","header":"DB","options":[{"label":"PostgreSQL","description":"a"},{"label":"SQLite","description":"b"}],"multiSelect":false}]}}`
)

// sendHook sends an event as Claude Code does. The channel gets the status and body
// of the reply, or the error of the connection.
func (s *testServer) sendHook(query, event, entrypoint string) <-chan string {
	s.t.Helper()
	announced, _ := s.place.Last()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", announced.URL+claudecode.Path+query,
		strings.NewReader(event))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.agent)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(claudecode.EntrypointHeader, entrypoint)
	out := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			out <- err.Error()
			return
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			out <- err.Error()
			return
		}
		out <- res.Status + " " + string(raw)
	}()
	return out
}

// If the server ends while a hook waits, the hook gets no decision. A server that stops cancels the ask,
// because no client would get the answer. After a kill the ask stays until it times out or an event shows
// that the session continued (F2, F9).
func TestHookGetsNoDecisionWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.sendHook("", permissionEvent, "cli")
	id := s.waitForAsk()
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if !s.process.wait() || exitCode(s.process.result) != 0 {
		t.Errorf("exit code %d, want 0\n%s", exitCode(s.process.result), s.process.err.String())
	}
	if reply := <-got; !strings.HasPrefix(reply, "503 ") || strings.Contains(reply, "allow") {
		t.Errorf("stopped: got %s, want 503", reply)
	}
	s.start()
	if now := s.askStatus(id); now != "cancelled" {
		t.Errorf("stopped: the ask is %v, want cancelled", now)
	}

	got = s.sendHook("", permissionEvent, "cli")
	id = s.waitForAsk()
	s.kill()
	if reply := <-got; strings.Contains(reply, "hookSpecificOutput") || strings.HasPrefix(reply, "2") {
		t.Errorf("killed: got %s, want no reply", reply)
	}
	s.start()
	if now := s.askStatus(id); now != "pending" {
		t.Errorf("killed: the ask is %v, want pending", now)
	}
	if reply := <-s.sendHook("", `{"session_id":"s1","hook_event_name":"Stop"}`, "cli"); reply != "204 No Content " {
		t.Errorf("got %s, want no decision", reply)
	}
	if now := s.askStatus(id); now != "cancelled" {
		t.Errorf("after the turn: the ask is %v, want cancelled", now)
	}
}

// A deferred tool call gets its answer when the run resumes and repeats the call, even if the server was
// killed in between (B7, F2, F9).
func TestDeferredHookSurvivesServerRestart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if reply := <-s.sendHook("?defer=1s", questionEvent,
		"sdk-cli"); !strings.Contains(reply, `"permissionDecision":"defer"`) {
		t.Fatalf("got %s, want a deferral", reply)
	}
	id := s.waitForAsk()
	waiting := s.sendHook("?defer=0s", questionEvent, "sdk-cli")
	s.kill()
	if reply := <-waiting; strings.Contains(reply, "hookSpecificOutput") {
		t.Errorf("killed: got %s, want no reply", reply)
	}
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	s.kill()
	s.start()
	reply := <-s.sendHook("?defer=1s", questionEvent, "sdk-cli")
	if !strings.HasPrefix(reply, "200 OK ") || !strings.Contains(reply, `"permissionDecision":"allow"`) ||
		!strings.Contains(reply, `"answers":{"Which database?":"SQLite"}`) {
		t.Errorf("got %s, want the answer", reply)
	}
}
