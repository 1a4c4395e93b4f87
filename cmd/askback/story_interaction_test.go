package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newInteractionStory(t *testing.T) *story {
	t.Helper()
	return newStory(t, "interaction.txtar", "PATH="+filesServer(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Each answer names its ask, so that two waiting runs get their own answers (D2, D4).
func TestAnswersReachTheRunThatAsked(t *testing.T) {
	t.Parallel()
	s := newInteractionStory(t)
	colors, options := s.run("colors", "Ask."), s.run("options", "Ask.")
	color, option := s.askOf(colors), s.askOf(options)
	s.requireLike(color["questions"].([]any)[0], "question.json")
	s.requireLike(option["questions"].([]any)[0], "options.json")
	s.call(s.user, "POST", "/sessions/"+options+"/answer",
		`{"question_id": "`+color["id"].(string)+`", "answer": "Blue"}`, 404)
	s.call(s.user, "POST", "/sessions/"+options+"/answer",
		`{"question_id": "`+option["id"].(string)+`", "answer": "Option A"}`, 200)
	// without an id, as from an older client
	s.call(s.user, "POST", "/sessions/"+colors+"/answer", `{"answer": "Blue"}`, 200)
	for session, want := range map[string]string{colors: "It is blue.", options: "Option A it is."} {
		if got := s.ended(session); got["status"] != "completed" || !strings.Contains(text(got["result"]), want) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// The answer to a question that was cancelled is rejected, and never answers the next question (D2, D3).
func TestStaleAnswerDoesNotAnswerTheNextQuestion(t *testing.T) {
	t.Parallel()
	s := newInteractionStory(t)
	session := s.run("cancelled", "Ask.")
	stale := s.askOf(session)["id"].(string)
	s.call(s.user, "POST", "//conversations/"+session+"/cancel", "", 200)
	s.until("/sessions/"+session, "idle session", func(got map[string]any) bool { return got["phase"] == "idle" })
	s.call(s.user, "POST", "/sessions/"+session+"/messages", `{"text": "Ask again"}`, 202)
	live := s.askOf(session)["id"].(string)
	s.call(s.user, "POST", "/sessions/"+session+"/answer", `{"question_id": "`+stale+`", "answer": "STALE"}`, 409)
	s.call(s.user, "POST", "/asks/"+stale+"/answer", `{"answer": "STALE"}`, 409)
	if got := s.askStatus(live); got != "pending" {
		t.Errorf("the stale answer settled the next question: %v", got)
	}
	s.call(s.user, "POST", "/sessions/"+session+"/answer", `{"question_id": "`+live+`", "answer": "CORRECT"}`, 200)
	s.until("/sessions/"+session, "end",
		func(got map[string]any) bool { return strings.Contains(text(got["result"]), "live one") })
}

// A person sees the tool that an agent asks to run, with its arguments and its reason. The person approves
// the call, approves all such calls, or denies it (D1, D5).
func TestToolRequiresApprovalUntilAPersonApprovesAll(t *testing.T) {
	t.Parallel()
	s := newInteractionStory(t)
	session := s.run("writer", "Fix it.")
	ask := s.askOf(session)
	confirmation := ask["confirmation"].(map[string]any)
	if confirmation["tool_name"] != "write" || confirmation["server"] != "files" || confirmation["tier"] != "confirm" ||
		differs(confirmation["input"], map[string]any{"path": "foo.txt", "text": "one"}, "") != "" ||
		!strings.Contains(text(ask), "Agent was fixing a bug") {
		t.Errorf("the person sees %s", text(ask))
	}
	work := filepath.Join(s.dir, "work", "foo.txt")
	if _, err := os.Stat(work); err == nil {
		t.Error("the tool ran before the approval")
	}
	s.call(s.user, "POST", "/asks/"+ask["id"].(string)+"/answer",
		`{"decision": `+s.payload("approve_all.json")+`, "grant": {"scope": "tool"}}`, 200)

	s.until("/asks?status=pending&session_id="+session, "confirmation of delete", func(page map[string]any) bool {
		items := page["items"].([]any)
		return len(items) == 1 && strings.Contains(text(items[0]), "delete")
	})
	last := s.askOf(session)["id"].(string)
	if got, err := os.ReadFile(work); err != nil || string(got) != "two" {
		t.Errorf("the file is %q, %v, want the text of the second write", got, err)
	}
	s.call(s.user, "POST", "/asks/"+last+"/answer", `{"decision": `+s.payload("denied.json")+`, "reason": "keep it"}`,
		200)
	if got := s.ended(session); got["status"] != "completed" {
		t.Errorf("got %v", got)
	}
	granted := 0
	for _, a := range s.call(s.user, "GET", "/asks?status=all&session_id="+session, "", 200)["items"].([]any) {
		outcome := a.(map[string]any)["outcome"].(map[string]any)
		if outcome["by"].(map[string]any)["kind"] == "policy" {
			granted++
		}
	}
	calls, err := os.ReadFile(filepath.Join(s.dir, "calls"))
	if granted != 1 || err != nil || strings.Count(string(calls), "\n") != 2 {
		t.Errorf("%d asks were approved by the grant, and the tools ran:\n%s%v", granted, calls, err)
	}
}
