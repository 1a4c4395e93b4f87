package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"qwen-cli","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

const mcpQuestion = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_user_question","arguments":` +
	`{"questions":[{"question":"Which database?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}}}` + "\n"

// askOverMCP starts askback mcp in a session of Qwen Code, and asks a question.
func (s *testServer) askOverMCP(session string) *process {
	s.t.Helper()
	p := launch(s.t, append(s.env, "CLAUDE_CODE_SESSION_ID=", "QWEN_CODE_SESSION_ID="+session), "mcp")
	if _, err := io.WriteString(p.in, mcpHello+mcpQuestion); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// If askback mcp is killed, the next process of the same session finds the question, and gets the answer once:
// while the question is open, after it was answered, and after a restart of the server. A process that lives,
// and a process of another session, keep a question of their own.
func TestKilledMCPProcessPassesItsQuestionOn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	gets := func(p *process, label string) {
		t.Helper()
		if !eventually(func() bool { return strings.Contains(p.out.String(), label) }) {
			t.Fatalf("the answer did not arrive: %s%s", p.out.String(), p.err.String())
		}
	}
	answer := func(id, label string) {
		t.Helper()
		s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answers": [{"id": "q1", "selected": ["`+label+`"]}]}`, 200)
	}
	recorded := func() (id string) { // a process that is killed before it has recorded its question asks again
		t.Helper()
		id = s.waitForAsk()
		if !eventually(func() bool {
			records, _ := filepath.Glob(filepath.Join(s.place.Waiting(), "*", id))
			if len(records) != 1 {
				return false
			}
			raw, err := os.ReadFile(records[0])
			return err == nil && json.Valid(raw) // the whole record
		}) {
			t.Fatal("the question is not recorded")
		}
		return id
	}
	kill := func(p *process) {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}

	first := s.askOverMCP("a")
	id := recorded()
	kill(first)
	second := s.askOverMCP("a")
	answer(id, "SQLite")
	gets(second, "SQLite")
	if !eventually(func() bool { return s.call(s.user, "GET", "/asks/"+id, "", 200)["acked_at"] != nil }) {
		t.Fatal("the answer is not acknowledged")
	}
	kill(second)

	third := s.askOverMCP("a") // the answer was delivered
	id = recorded()
	kill(third)
	answer(id, "PostgreSQL")
	s.kill()
	s.start()
	gets(s.askOverMCP("a"), "PostgreSQL")

	live := s.askOverMCP("a")
	id = s.waitForAsk()
	other := s.askOverMCP("b")
	again := s.askOverMCP("a")
	if !eventually(func() bool { return len(s.call(s.user, "GET", "/asks", "", 200)["items"].([]any)) == 3 }) {
		t.Error("processes that live share a question")
	}
	answer(id, "SQLite")
	gets(live, "SQLite")
	if strings.Contains(again.out.String()+other.out.String(), `SQLite`) {
		t.Error("another process got the answer")
	}
}
