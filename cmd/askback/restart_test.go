package main

import (
	"strings"
	"testing"
)

// An ask and the draft of its answer are still there after the server was killed (W17).
func TestAskAndDraftSurviveACrash(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.call(s.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`,
		201)["id"].(string)
	s.call(s.user, "PUT", "/asks/"+id+"/draft", `{"other": "Maybe MariaDB, bec"}`, 204)
	s.kill()
	s.start()
	ask := s.call(s.user, "GET", "/asks/"+id, "", 200)
	if ask["status"] != "pending" || ask["questions"].([]any)[0].(map[string]any)["question"] != "Which database?" {
		t.Errorf("the ask is %v, want it as it was", ask)
	}
	if got := s.call(s.user, "GET", "/asks/"+id+"/draft", "", 200); got["other"] != "Maybe MariaDB, bec" {
		t.Errorf("the draft is %v, want it as it was", got)
	}
}

// After a kill or the end of input an ask is still pending. After its deadline the timer settles it. Neither
// a kill, the end of input nor the timer counts as an answer of a person (W18, C3).
func TestKillTimeoutAndEndOfInputAreNotAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const question = `"question": "Which?", "options": ["a (Recommended)", "b"]`
	asks := map[string]string{
		"killed":       `{` + question + `}`,
		"timed out":    `{` + question + `, "timeout": "1s"}`,
		"by default":   `{` + question + `, "timeout": "1s", "default": "b", "on_timeout": "default"}`,
		"not approved": `{"confirmation": {"tool_name": "rm", "input": {}}, "timeout": "1s"}`,
	}
	ids := map[string]string{}
	for name, body := range asks {
		ids[name] = s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	}
	shell := launch(t, s.env, "ask", "And here?", "a", "b")
	if err := shell.in.Close(); err != nil {
		t.Fatal(err)
	}
	shell.waitForStderr(t, "the input ended without an answer")
	ids["ended input"] = askID.FindString(shell.err.String())
	s.kill()
	s.start()
	type result struct{ status, by, via, answer any }
	for name, want := range map[string]result{
		"killed":       {status: "pending"},
		"ended input":  {status: "pending"},
		"timed out":    {"expired", "timer", nil, nil},
		"by default":   {"expired", "timer", nil, "b"},
		"not approved": {"expired", "timer", nil, nil},
	} {
		got := result{}
		path := "/asks/" + ids[name]
		if want.status != "pending" {
			path += "?wait=30s"
		}
		ask := s.call(s.user, "GET", path, "", 200)
		got.status = ask["status"]
		if o, ok := ask["outcome"].(map[string]any); ok {
			got.by, got.via = o["by"].(map[string]any)["kind"], o["via"]
			if answers, _ := o["answers"].([]any); len(answers) > 0 {
				got.answer = answers[0].(map[string]any)["selected"].([]any)[0]
			}
			if o["decision"] != nil || (o["default_applied"] == true) != (name == "by default") {
				t.Errorf("%s: the outcome is %v", name, o)
			}
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// An ask that was created while no person was connected can be listed and answered later, even after
// restarts. The agent gets the answer when it asks again (W19, F2).
func TestAskIsKeptUntilAPersonAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const body = `{"question": "Anybody?", "key": "run-1"}`
	id := s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	s.kill()
	// without a server, the command reads the database
	if got := mustRun(t, s.env, "list"); !strings.Contains(got, id) {
		t.Errorf("%s is not listed:\n%s", id, got)
	}
	s.start()
	items := s.call(s.user, "GET", "/asks", "", 200)["items"].([]any)
	if len(items) != 1 || items[0].(map[string]any)["id"] != id {
		t.Errorf("got %v, want %s alone", items, id)
	}
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "Yes, now."}`, 200)
	s.kill()
	s.start()
	again := s.call(s.agent, "POST", "/asks", body, 200)
	outcome, _ := again["outcome"].(map[string]any)
	if again["id"] != id || outcome == nil || outcome["answers"].([]any)[0].(map[string]any)["other"] != "Yes, now." {
		t.Errorf("the same ask again: got %v, want the answer", again)
	}
}

// The server also has routes with the paths that other programs use (A4, E2).
func TestCompatPathsAreServed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.call(s.agent, "POST", "/asks", `{"session_key": "run", "question": "Which?", "options": ["a", "b"]}`,
		201)["session_id"].(string)
	rows := s.call(s.user, "GET", "//agent/questions", "", 200)["questions"].([]any)
	if len(rows) != 1 || rows[0].(map[string]any)["session_id"] != id {
		t.Errorf("got %v, want one question of session %s", rows, id)
	}
	s.call(s.user, "POST", "//conversations/"+id+"/respond", `{"answers": {"Which?": "b"}}`, 200)
}
