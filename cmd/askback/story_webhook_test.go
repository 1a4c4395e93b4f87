package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/askbacktest"
)

// newAsyncStory starts agents that webhooks start, and a receiver for their callbacks.
func newAsyncStory(t *testing.T, agents string) (*story, *askbacktest.Receiver) {
	t.Helper()
	r := askbacktest.NewReceiver(t, nil)
	return newStory(t, "webhook.txtar", "AGENTS="+agents, "SECRET="+askbacktest.ReceiverSecret, "ALLOW="+r.Address(),
		"CALLBACK="+r.URL()+"/questions"), r
}

// A webhook starts an agent, which asks and waits. The answer resumes it, and the run completes. Only the
// first answer counts, and an ended session is not found. Every payload matches its file (E1, E2, E10, E11).
func TestWebhookRunAsksAndCompletes(t *testing.T) {
	t.Parallel()
	s, _ := newAsyncStory(t, "./agents")
	session := s.hook("write-poem", `{"original_topic": "love"}`)
	questions := s.until("//agent/questions?status=pending", "question",
		func(got map[string]any) bool { return len(got["questions"].([]any)) == 1 })
	ask := questions["questions"].([]any)[0].(map[string]any)["id"].(string)
	ids := []string{"sess-456", session, "q-123", ask}
	s.requireLike(questions, "questions.json", ids...)
	if got := s.call(s.user, "GET", "//agent/session/"+session, "", 200); got["status"] != "pending_input" ||
		got["completed_at"] != nil {
		t.Errorf("the waiting session is %v", got)
	}

	s.call(s.user, "POST", "//agent/answer/ses_00000000000000000000000000", s.payload("answer.json", ids...), 404)
	answered := s.call(s.user, "POST", "//agent/answer/"+session, s.payload("answer.json", ids...), 200)
	s.requireLike(answered, "answered.json", ids...)
	done := s.until("//agent/session/"+session, "completed session",
		func(got map[string]any) bool { return got["status"] == "completed" })
	s.requireLike(done, "session.json", ids...)

	again := s.call(s.user, "POST", "//agent/answer/"+session,
		s.payload("answer.json", append(ids, "haiku", "sonnet")...), 200)
	if again["status"] != "already_answered" {
		t.Errorf("the second answer got %v", again)
	}
	s.call(s.user, "POST", "//agent/answer/"+session, `{"answer": "haiku"}`, 404)
	s.call(s.user, "GET", "//agent/session/ses_00000000000000000000000000", "", 404)
}

// The callback of the definition gets the question, with the expected header and body. The address for the
// answer works (E3).
func TestCallbackContainsTheQuestionOfTheRun(t *testing.T) {
	t.Parallel()
	s, program := newAsyncStory(t, "./called")
	session := s.hook("write-poem", `{"topic": "love"}`)
	message := program.Wait(1)[0]
	rejected(t, program)
	var body any
	if err := json.Unmarshal(message.Body, &body); err != nil {
		t.Fatal(err)
	}
	ids := []string{"sess-456", session, "q-123", message.Question.ID}
	s.requireLike(body, "callback.json", ids...)
	if got := message.Header.Get("X-Agent-Session"); got != session {
		t.Errorf("X-Agent-Session is %q, want %s", got, session)
	}
	path := strings.TrimPrefix(message.AnswerURL, "https://your-server.com")
	s.call(s.user, "POST", "/"+path, s.payload("answer.json", ids...), 200)
	if got := s.ended(session); got["status"] != "completed" {
		t.Errorf("got %v", got)
	}
	if got := program.Wait(2)[1]; got.Event != "question_answered" || got.Outcome.Answers[0].String() != "haiku" {
		t.Errorf("the callback got %s %v, want the answer", got.Event, got.Outcome)
	}
}

// The example of a definition is valid and starts (E12).
func TestExampleDefinitionStarts(t *testing.T) {
	t.Parallel()
	s, _ := newAsyncStory(t, "./agents")
	if got := s.ended(s.hook("complex-research", `{}`)); got["status"] != "completed" ||
		got["agent"] != "complex-research" {
		t.Errorf("got %v", got)
	}
}

// Without async_questions, an agent that a webhook started cannot ask. It gets an error and continues without
// an answer (E1).
func TestWebhookRunCannotAskUnlessItsDefinitionAllowsIt(t *testing.T) {
	t.Parallel()
	s, _ := newAsyncStory(t, "./agents")
	got := s.ended(s.hook("deaf", `{"topic": "love"}`))
	if got["status"] != "completed" || got["asks_total"] != 0.0 {
		t.Errorf("got %v, want a completed run without asks", got)
	}
}

// If there is no answer in time, the session fails or continues with the default (E7).
func TestTimeOutFailsTheRunOrAppliesTheDefault(t *testing.T) {
	t.Parallel()
	s, _ := newAsyncStory(t, "./agents")
	fails, defaults := s.hook("fails", `{}`), s.hook("defaults", `{}`)
	ask := s.askOf(fails)["id"].(string)
	if got := s.ended(fails); got["status"] != "failed" || !strings.Contains(got["error"].(string), "time") {
		t.Errorf("got %v, want a failed run", got)
	}
	if got := s.call(s.user, "GET", "//agent/session/"+fails, "", 200); got["status"] != "failed" {
		t.Errorf("got %v", got)
	}
	s.call(s.user, "POST", "//agent/answer/"+fails, `{"question_id": "`+ask+`", "answer": "haiku"}`, 404)
	got := s.ended(defaults)
	if got["status"] != "completed" ||
		differs(got["result"], map[string]any{"poem_path": "poem/default.md"}, "") != "" {
		t.Errorf("got %v, want a completed run", got)
	}
	asks := s.call(s.user, "GET", "/asks?status=all&session_id="+defaults, "", 200)["items"].([]any)
	outcome := asks[0].(map[string]any)["outcome"]
	if differs(outcome,
		map[string]any{"status": "expired", "default_applied": true, "by": map[string]any{"kind": "timer"}},
		"") != "" {
		t.Errorf("the outcome is %v, want an outcome by a timer", outcome)
	}
}

// A repeated webhook starts no second run (E1).
func TestRepeatedWebhookStartsOneRun(t *testing.T) {
	t.Parallel()
	s, _ := newAsyncStory(t, "./agents")
	announced, _ := s.place.Last()
	deliver := func() (session string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", announced.URL+"/hooks/write-poem",
			strings.NewReader(`{"original_topic": "love"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{
			"Authorization": {"Bearer " + s.agent}, "Content-Type": {"application/json"},
			"Idempotency-Key": {"delivery-1"},
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var started struct {
			SessionID string `json:"session_id"`
		}
		if err := json.NewDecoder(res.Body).Decode(&started); err != nil || res.StatusCode != 202 ||
			started.SessionID == "" {
			t.Fatalf("%s: %+v, %v", res.Status, started, err)
		}
		return started.SessionID
	}
	first := deliver()
	s.askOf(first)
	if again := deliver(); again != first {
		t.Errorf("got the sessions %s and %s, want one", first, again)
	}
	if got := s.call(s.user, "GET", "/sessions", "", 200)["items"].([]any); len(got) != 1 {
		t.Errorf("there are %d sessions", len(got))
	}
}
