package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newToolStory(t *testing.T) *story {
	t.Helper()
	return newStory(t, "tool.txtar", "PATH="+filesServer(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The tool stops the run until a person responds. The run then makes the remaining calls of the same message,
// in order, and continues. The stream has the state with the questions (A1, A2, A4, A5).
func TestAskAmongOtherToolsStopsTheRunUntilTheResponse(t *testing.T) {
	t.Parallel()
	s := newToolStory(t)
	events := s.follow("/events")
	session := s.run("mixed", "Plan it.")
	frame := events.wait("state_change", session,
		func(data map[string]any) bool { return data["type"] == "awaiting_user_response" })
	s.requireLike(frame, "state_change.json")
	input := events.wait("tool_input_ready", session,
		func(data map[string]any) bool { return strings.Contains(text(data), "Which database") })
	s.requireLike(input["input"], "input.json")
	plan := filepath.Join(s.dir, "work", "notes", "plan.txt")
	if _, err := os.Stat(plan); err == nil {
		t.Error("the call after the question was made before the answer")
	}
	if got := s.call(s.user, "GET", "/sessions/"+session, "", 200); got["status"] != "waiting_for_input" {
		t.Errorf("the session is %v", got)
	}

	s.call(s.user, "POST", "//conversations/"+session+"/respond", `{"answers": {"Which database?": "SQLite"}}`, 400)
	s.call(s.user, "POST", "//conversations/"+session+"/respond", s.payload("respond.json"), 200)
	if got := s.ended(session); got["status"] != "completed" || got["phase"] != "idle" {
		t.Errorf("the session is %v", got)
	}
	if got, err := os.ReadFile(plan); err != nil || string(got) != "The plan" {
		t.Errorf("the call after the question wrote %q, %v", got, err)
	}
	s.call(s.user, "POST", "//conversations/"+session+"/respond", s.payload("respond.json"), 409)
	s.call(s.user, "POST", "//conversations/ses_00000000000000000000000000/respond", s.payload("respond.json"), 404)

	events.wait("agent_complete", session, nil)
	var results []string
	for _, data := range events.all("tool_complete", session) {
		results = append(results, text(data["output"]))
	}
	if len(results) != 3 || !strings.Contains(results[0], "readme.txt") || !strings.Contains(results[1], "SQLite") ||
		!strings.Contains(results[1], "Export") || strings.Contains(results[1], "Dark mode") ||
		!strings.Contains(results[2], "Wrote") {
		t.Errorf("the results are %q, want the results of the list, the answer and the write", results)
	}
}

// An input that breaks the rules of the tool is an error for the model, and no person sees it (A3).
func TestInvalidInputIsAnErrorForTheModel(t *testing.T) {
	t.Parallel()
	s := newToolStory(t)
	got := s.ended(s.run("invalid", "Ask."))
	if got["status"] != "completed" || got["asks_total"] != 0.0 {
		t.Errorf("got %v, want a run without asks", got)
	}
}

// A person who cancels the conversation ends the turn. Each open call gets an error, and the model is not
// called. The next message starts another turn (A2, A4).
func TestCancelEndsTheTurnWithAValidHistory(t *testing.T) {
	t.Parallel()
	s := newToolStory(t)
	events := s.follow("/events")
	session := s.run("cancelled", "Begin.")
	ask := s.askOf(session)["id"].(string)
	s.call(s.user, "POST", "//conversations/"+session+"/cancel", "", 200)
	if got := s.ended(session); got["status"] != "completed" || got["phase"] != "idle" {
		t.Errorf("the session is %v, want it idle", got)
	}
	if got := s.askStatus(ask); got != "cancelled" {
		t.Errorf("the ask is %v", got)
	}
	events.wait("agent_complete", session, nil)
	if results := events.all("tool_complete", session); len(results) != 2 || results[0]["is_error"] != true ||
		results[1]["is_error"] != true {
		t.Errorf("the results are %v, want an error for each of the two calls", results)
	}
	if got := s.call(s.user, "GET", "/sessions/"+session+"/messages", "", 200); strings.Contains(text(got), "I go on") {
		t.Errorf("the model was requested: %v", got)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "work", "never.txt")); err == nil {
		t.Error("the call after the cancelled one was made")
	}

	s.call(s.user, "POST", "/sessions/"+session+"/messages", `{"text": "Go on"}`, 202)
	s.until("/sessions/"+session+"/messages", "reply",
		func(got map[string]any) bool { return strings.Contains(text(got), "I go on") })
}

// A sub-agent does not have the tool. If it is called nevertheless, it gets an error that names
// what to do instead (A3, F10).
func TestSubAgentCannotAsk(t *testing.T) {
	t.Parallel()
	s := newToolStory(t)
	session := s.run("parent", "Find out.")
	if got := s.ended(session); got["status"] != "completed" ||
		!strings.Contains(text(got["result"]), "not allowed to ask") {
		t.Errorf("got %v", got)
	}
	if got := s.call(s.user, "GET", "/asks?status=all", "", 200)["items"].([]any); len(got) != 0 {
		t.Errorf("people were asked: %v", got)
	}
}
