package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/claudehook"
)

const (
	wantsBash = `{"session_id":"s1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	wantsDB   = `{"session_id":"s1","cwd":"/srv","hook_event_name":"PreToolUse","tool_use_id":"toolu_1","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which database?","header":"DB","options":[{"label":"PostgreSQL","description":"a"},{"label":"SQLite","description":"b"}],"multiSelect":false}]}}`
)

// hooked sends an event as Claude Code does, and returns the reply: its status
// and body, or what became of the connection.
func (s *kept) hooked(query, event, entrypoint string) <-chan string {
	s.t.Helper()
	at, _ := s.place.Last()
	in, err := http.NewRequestWithContext(s.t.Context(), "POST", at.URL+claudehook.Path+query, strings.NewReader(event))
	if err != nil {
		s.t.Fatal(err)
	}
	in.Header.Set("Authorization", "Bearer "+s.agent)
	in.Header.Set("Content-Type", "application/json")
	in.Header.Set(claudehook.EntrypointHeader, entrypoint)
	out := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(in)
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

// pendingAsk waits until there is one open ask, and returns its id.
func (s *kept) pendingAsk() string {
	s.t.Helper()
	id := ""
	if !eventually(func() bool {
		items := s.does(s.user, "GET", "/asks", "", 200)["items"].([]any)
		if len(items) == 1 {
			id = items[0].(map[string]any)["id"].(string)
		}
		return id != ""
	}) {
		s.t.Fatal("nothing is asked")
	}
	return id
}

func (s *kept) status(id string) any {
	s.t.Helper()
	return s.does(s.user, "GET", "/asks/"+id, "", 200)["status"]
}

// A server that ends while a hook waits decides nothing. One that is told to stop
// withdraws the card, since nobody will hear the answer. A killed one leaves it for
// a while, or until an event says that the session went on (F2, F9).
func TestAHookWhoseServerEnds(t *testing.T) {
	t.Parallel()
	s := serves(t)
	got := s.hooked("", wantsBash, "cli")
	id := s.pendingAsk()
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if !s.process.wait() || exitCode(s.process.result) != 0 {
		t.Errorf("it ended with %d\n%s", exitCode(s.process.result), s.process.err.String())
	}
	if reply := <-got; !strings.HasPrefix(reply, "503 ") || strings.Contains(reply, "allow") {
		t.Errorf("stopped: got %s, want 503", reply)
	}
	s.start()
	if now := s.status(id); now != "cancelled" {
		t.Errorf("stopped: the ask is %v, want cancelled", now)
	}

	got = s.hooked("", wantsBash, "cli")
	id = s.pendingAsk()
	s.kill()
	if reply := <-got; strings.Contains(reply, "hookSpecificOutput") || strings.HasPrefix(reply, "2") {
		t.Errorf("killed: got %s, want no reply", reply)
	}
	s.start()
	if now := s.status(id); now != "pending" {
		t.Errorf("killed: the ask is %v, want pending", now)
	}
	if reply := <-s.hooked("", `{"session_id":"s1","hook_event_name":"Stop"}`, "cli"); reply != "204 No Content " {
		t.Errorf("got %s, want no decision", reply)
	}
	if now := s.status(id); now != "cancelled" {
		t.Errorf("the turn is over: the ask is %v, want cancelled", now)
	}
}

// A call that was put off outlives the run, the server and the day: the resumed
// run gets the answer by the same call (B7, F2, F9).
func TestADeferredHookOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := serves(t)
	if reply := <-s.hooked("?defer=1s", wantsDB, "sdk-cli"); !strings.Contains(reply, `"permissionDecision":"defer"`) {
		t.Fatalf("got %s, want it put off", reply)
	}
	id := s.pendingAsk()
	waiting := s.hooked("?defer=0s", wantsDB, "sdk-cli")
	s.kill()
	if reply := <-waiting; strings.Contains(reply, "hookSpecificOutput") {
		t.Errorf("killed: got %s, want no reply", reply)
	}
	s.start()
	s.does(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	s.kill()
	s.start()
	reply := <-s.hooked("?defer=1s", wantsDB, "sdk-cli")
	if !strings.HasPrefix(reply, "200 OK ") || !strings.Contains(reply, `"permissionDecision":"allow"`) || !strings.Contains(reply, `"answers":{"Which database?":"SQLite"}`) {
		t.Errorf("got %s, want the answer", reply)
	}
}
