package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/server/config"
)

// newExamples starts a server with a copy of the folder examples/agents, with the command in
// examples/README.md.
func newExamples(t *testing.T) *testServer {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/agents")); err != nil {
		t.Fatal(err)
	}
	return newServerIn(t, dir, "PATH="+filesServer(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// answerNext waits until a session has an open ask that contains a text, and answers the ask.
func (s *testServer) answerNext(session, about, answer string) {
	s.t.Helper()
	s.until("/asks?session_id="+session, "ask about "+about,
		func(page map[string]any) bool { return strings.Contains(text(page["items"]), about) })
	s.call(s.user, "POST", "/asks/"+s.askOf(session)["id"].(string)+"/answer", answer, 200)
}

// requireFile requires that a file of the examples contains a text. If the text is "", it requires that the
// file does not exist.
func (s *testServer) requireFile(name, want string) {
	s.t.Helper()
	got, err := os.ReadFile(filepath.Join(s.dir, "work", name))
	if want == "" {
		if !os.IsNotExist(err) {
			s.t.Errorf("%s still exists: %v", name, err)
		}
		return
	}
	if err != nil || !strings.Contains(string(got), want) {
		s.t.Errorf("%s is %q, %v, want %q in it", name, got, err, want)
	}
}

// completed waits until the turn of a session has ended, and requires that the run is completed. It returns
// the session.
func (s *testServer) completed(session string) map[string]any {
	s.t.Helper()
	got := s.ended(session)
	if got["status"] != "completed" {
		s.t.Fatalf("the run is %v", got)
	}
	return got
}

// A webhook starts write-poem, which asks for the style and saves the poem (E1, E12).
func TestExamplePoemIsWrittenInTheStyleOfTheAnswer(t *testing.T) {
	t.Parallel()
	s := newExamples(t)
	session := s.hook("write-poem", `{"topic": "love"}`)
	s.answerNext(session, "What style would you prefer?", `{"answer": "haiku"}`)
	if got := s.completed(session); !strings.Contains(text(got["result"]), "poem/love-haiku-2024.md") {
		t.Errorf("the result is %v", got["result"])
	}
	s.requireFile("poem/love-haiku-2024.md", "Two cups")
}

// A person starts refactor, which asks how to proceed, and needs an approval for each change (D1,
// D5).
func TestExampleRefactorChangesOnlyWhatIsApproved(t *testing.T) {
	t.Parallel()
	s := newExamples(t)
	session := s.run("refactor", "Replace the deprecated calls.")
	s.answerNext(session, "How should I proceed?", `{"answer": "Show me each change for approval"}`)
	s.answerNext(session, "import new_api", `{"decision": "approved"}`)
	s.answerNext(session, "project/old_api.py", `{"decision": "denied", "reason": "another project needs it"}`)
	got := s.completed(session)
	s.requireFile("project/report.py", "new_api.rows(day)")
	s.requireFile("project/old_api.py", "Deprecated")
	if todos := got["todos"].([]any); len(todos) != 3 {
		t.Errorf("the todos are %v", todos)
	}
}

// The sub-agents of research read in parallel, and the agent itself asks (F10).
func TestExampleResearchUsesSubAgents(t *testing.T) {
	t.Parallel()
	s := newExamples(t)
	session := s.run("research", "When is the release?")
	s.answerNext(session, "Is that enough for the announcement?", `{"answer": "Announce it"}`)
	s.completed(session)
	children := 0
	for _, one := range s.call(s.user, "GET", "/sessions", "", 200)["items"].([]any) {
		if one := one.(map[string]any); one["parent_id"] == session && one["agent"] == "reader" &&
			one["status"] == "completed" {
			children++
		}
	}
	if children != 2 {
		t.Errorf("%d sub-agents have completed, want 2", children)
	}
}

// The agent inbox-triage has a schedule, and asks once a day. A webhook starts it for the test.
func TestExampleTriageAsksOnce(t *testing.T) {
	t.Parallel()
	s := newExamples(t)
	session := s.hook("inbox-triage", `{}`)
	ask := s.askOf(session)
	if ask["on_timeout"] != "default" || ask["deadline"] == nil {
		t.Errorf("the ask ends as %v at %v, want a default", ask["on_timeout"], ask["deadline"])
	}
	s.answerNext(session, "invoice", `{"answer": "Today"}`)
	if got := s.completed(session); got["asks_total"] != 1.0 {
		t.Errorf("it asked %v times", got["asks_total"])
	}
	s.requireFile("today.txt", "Prepare the release")
}

// Each example has a test, and README shows how to start it.
func TestEveryExampleAgentIsInReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../examples/agents/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := config.LoadAgent(path, bytes.NewReader(raw), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "["+a.Name+"](agents/"+filepath.Base(path)+")") {
			t.Errorf("examples/README.md does not name the agent %s", a.Name)
		}
	}
}
