package main

import (
	"strings"
	"testing"
)

// A server without agents of its own runs the demonstration without a key. The demonstration asks a person,
// and continues with the answers (E12).
func TestDemonstrationRunsWithoutSettings(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if got := s.call(s.user, "GET", "/hosted-agents", "", 200); !strings.Contains(text(got), `"demo"`) {
		t.Errorf("the agents are %v", got)
	}
	session := s.run("demo", "Write a poem.")
	s.answerNext(session, "Which form should the poem have?", `{"answer": "limerick"}`)
	s.answerNext(session, "Publish the poem", `{"decision": "approved"}`)
	if got := s.completed(session); !strings.Contains(text(got["result"]), "You approved it.") {
		t.Errorf("got %v", got)
	}
}

// askback run demo needs neither a server nor a prompt. If the command ends, the run waits, and a server
// continues it.
func TestServerContinuesTheDemonstration(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	p := launch(t, append(env, "ASKBACK_PLAIN=1"), "run", "demo")
	p.waitForStderr(t, "Which form should the poem have?")
	_ = p.cmd.Process.Kill()
	<-p.ended
	s := &testServer{t: t, env: env}
	s.place.Database = database
	s.start()
	s.user = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	session := s.call(s.user, "GET", "/sessions", "", 200)["items"].([]any)[0].(map[string]any)["id"].(string)
	s.answerNext(session, "Which form", `{"answer": "haiku"}`)
	s.answerNext(session, "Publish the poem", `{"decision": "denied"}`)
	if got := s.completed(session); !strings.Contains(text(got["result"]), "not approved") {
		t.Errorf("got %v", got)
	}
}
