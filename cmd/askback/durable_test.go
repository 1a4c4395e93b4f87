package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/instance"
)

// kept is a server of its own that a test may kill, and the tokens for it.
type kept struct {
	t           *testing.T
	env         []string
	place       instance.Place
	process     *process
	agent, user string
}

func serves(t *testing.T) *kept {
	t.Helper()
	env, database := sandbox(t)
	s := &kept{t: t, env: env, place: instance.Place{Database: database}}
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "create", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, env, "token", "create", "--kind", "responder", "--name", "ana"))
	return s
}

func (s *kept) start() {
	s.t.Helper()
	s.process = launch(s.t, s.env, "serve", "--listen", "127.0.0.1:0")
	s.process.waitForStderr(s.t, "msg=serving")
}

func (s *kept) kill() {
	_ = s.process.cmd.Process.Kill()
	<-s.process.ended
}

// does makes a call and returns the reply, which has this status.
func (s *kept) does(token, method, path, body string, status int) map[string]any {
	s.t.Helper()
	at, _ := s.place.Last()
	in, err := http.NewRequestWithContext(s.t.Context(), method, at.URL+under(path), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	in.Header.Set("Authorization", "Bearer "+token)
	in.Header.Set("Content-Type", "application/json")
	if body == "" {
		in.Body = nil
	}
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		s.t.Fatalf("%s %s: %s %s, %v; want %d", method, path, res.Status, raw, err, status)
	}
	var out map[string]any
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// What was asked, and what was typed so far, can be read after a crash (W17).
func TestAskAndDraftSurviveACrash(t *testing.T) {
	t.Parallel()
	s := serves(t)
	id := s.does(s.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`, 201)["id"].(string)
	s.does(s.user, "PUT", "/asks/"+id+"/draft", `{"other": "Maybe MariaDB, bec"}`, 204)
	s.kill()
	s.start()
	ask := s.does(s.user, "GET", "/asks/"+id, "", 200)
	if ask["status"] != "pending" || ask["questions"].([]any)[0].(map[string]any)["question"] != "Which database?" {
		t.Errorf("the ask is now %v", ask)
	}
	if got := s.does(s.user, "GET", "/asks/"+id+"/draft", "", 200); got["other"] != "Maybe MariaDB, bec" {
		t.Errorf("the draft is now %v", got)
	}
}

// A kill, the end of the input and the passing of time give no answer: what a person
// did not say is said by a timer, or not at all (W18, C3).
func TestNobodyAnswersForAPerson(t *testing.T) {
	t.Parallel()
	s := serves(t)
	const question = `"question": "Which?", "options": ["a (Recommended)", "b"]`
	asks := map[string]string{
		"killed":       `{` + question + `}`,
		"timed out":    `{` + question + `, "timeout": "1s"}`,
		"by default":   `{` + question + `, "timeout": "1s", "default": "b", "on_timeout": "default"}`,
		"not approved": `{"confirmation": {"tool_name": "rm", "input": {}}, "timeout": "1s"}`,
	}
	ids := map[string]string{}
	for name, body := range asks {
		ids[name] = s.does(s.agent, "POST", "/asks", body, 201)["id"].(string)
	}
	shell := launch(t, s.env, "ask", "And here?", "a", "b")
	if err := shell.in.Close(); err != nil {
		t.Fatal(err)
	}
	shell.waitForStderr(t, "the input ended, and that is no answer")
	ids["ended input"] = askID.FindString(shell.err.String())
	s.kill()
	s.start()
	type ending struct{ status, by, via, answer any }
	for name, want := range map[string]ending{
		"killed":       {status: "pending"},
		"ended input":  {status: "pending"},
		"timed out":    {"expired", "timer", nil, nil},
		"by default":   {"expired", "timer", nil, "b"},
		"not approved": {"expired", "timer", nil, nil},
	} {
		got := ending{}
		path := "/asks/" + ids[name]
		if want.status != "pending" {
			path += "?wait=30s"
		}
		ask := s.does(s.user, "GET", path, "", 200)
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

// An ask that is put while nobody looks is kept, listed for whoever comes, and
// answered then; its agent learns it whenever it asks again (W19, F2).
func TestAnAskWithNobodyThereWaits(t *testing.T) {
	t.Parallel()
	s := serves(t)
	const body = `{"question": "Anybody?", "key": "run-1"}`
	id := s.does(s.agent, "POST", "/asks", body, 201)["id"].(string)
	s.kill()
	if got := mustRun(t, s.env, "list"); !strings.Contains(got, id) { // no server: the command looks itself
		t.Errorf("it is not listed:\n%s", got)
	}
	s.start()
	items := s.does(s.user, "GET", "/asks", "", 200)["items"].([]any)
	if len(items) != 1 || items[0].(map[string]any)["id"] != id {
		t.Errorf("listed is %v", items)
	}
	s.does(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "Yes, now."}`, 200)
	s.kill()
	s.start()
	again := s.does(s.agent, "POST", "/asks", body, 200)
	outcome, _ := again["outcome"].(map[string]any)
	if again["id"] != id || outcome == nil || outcome["answers"].([]any)[0].(map[string]any)["other"] != "Yes, now." {
		t.Errorf("asked again, the agent got %v", again)
	}
}

// Who speaks the words of other programs finds the server under their paths (A4).
func TestDialectsAreMounted(t *testing.T) {
	t.Parallel()
	s := serves(t)
	id := s.does(s.agent, "POST", "/asks", `{"session_key": "run", "question": "Which?", "options": ["a", "b"]}`, 201)["session_id"].(string)
	rows := s.does(s.user, "GET", "//agent/questions", "", 200)["questions"].([]any)
	if len(rows) != 1 || rows[0].(map[string]any)["session_id"] != id {
		t.Errorf("the open questions are %v", rows)
	}
	s.does(s.user, "POST", "//conversations/"+id+"/respond", `{"answers": {"Which?": "b"}}`, 200)
}

// under is a path below the wire's; one that begins with // is at the root.
func under(path string) string {
	if root, ok := strings.CutPrefix(path, "//"); ok {
		return "/" + root
	}
	return "/api/v1" + path
}
