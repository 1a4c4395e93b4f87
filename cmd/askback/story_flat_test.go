package main

import (
	"strings"
	"testing"
)

// The flat form asks one question: a choice of options with descriptions, a choice of several options, or a
// text. A person may also answer in their own words (C1, C2).
func TestFlatFormAsksOneQuestion(t *testing.T) {
	t.Parallel()
	s := newStory(t, "flat.txtar")
	session := s.run("setup", "Set it up.")
	answer := func(answer string) map[string]any {
		t.Helper()
		ask := s.askOf(session)
		s.call(s.user, "POST", "/asks/"+ask["id"].(string)+"/answer", `{"answer": `+answer+`}`, 200)
		s.until("/asks/"+ask["id"].(string), "outcome",
			func(got map[string]any) bool { return got["status"] == "answered" })
		return ask["questions"].([]any)[0].(map[string]any)
	}
	s.requireLike(answer(`"Session"`), "auth.json")
	if q := answer(`"Dark mode, Export"`); q["multiSelect"] != true || len(q["options"].([]any)) != 4 {
		t.Errorf("the question with several choices is %v", q)
	}
	if q := answer(`"MyComponent"`); len(q["options"].([]any)) != 0 {
		t.Errorf("the question for a text is %v", q)
	}
	if q := answer(`"Custom"`); q["default"] != "A" || q["header"] != "A header tha" || q["allow_custom"] != true {
		t.Errorf("the question with a default is %v", q)
	}
	if got := s.ended(session); got["status"] != "completed" {
		t.Errorf("got %v", got)
	}
}

// An input with different numbers of options and descriptions is an error for the model (C2).
func TestMismatchedDescriptionsAreRejected(t *testing.T) {
	t.Parallel()
	s := newStory(t, "flat.txtar")
	if got := s.ended(s.run("lengths", "Ask.")); got["status"] != "completed" || got["asks_total"] != 0.0 {
		t.Errorf("got %v, want a completed run without asks", got)
	}
}

// Only a person can confirm an action, even if the action has a default (C3).
func TestConfirmActionRequiresAPerson(t *testing.T) {
	t.Parallel()
	s := newStory(t, "flat.txtar")
	session := s.run("review", "Review it.")
	first := s.askOf(session)
	if text := text(first["confirmation"]); !strings.Contains(text, "Apply 8 auto-fixes for linting errors") ||
		!strings.Contains(text, "3 import sorting") {
		t.Errorf("the confirmation is %s", text)
	}
	s.call(s.user, "POST", "/asks/"+first["id"].(string)+"/answer", `{"decision": "approved"}`, 200)
	s.until("/asks?session_id="+session, "second confirmation", func(page map[string]any) bool {
		items := page["items"].([]any)
		return len(items) == 1 && items[0].(map[string]any)["id"] != first["id"]
	})
	s.call(s.user, "POST", "/conversations/"+session+"/respond", `{}`, 404) // a route at the root
	s.call(s.user, "POST", "//conversations/"+session+"/respond",
		`{"answers": {"Confirm: Delete 15 test files": "No, cancel"}}`, 200)
	if got := s.ended(session); got["status"] != "completed" {
		t.Errorf("got %v", got)
	}
}

// A run can ask max_asks times. After that the tool returns an error and people are not asked (C6).
func TestAgentCanAskOnlyMaxAsksTimes(t *testing.T) {
	t.Parallel()
	s := newStory(t, "flat.txtar")
	session := s.run("circles", "Refactor it.")
	for _, question := range []string{"Should I proceed with the refactoring?", "Really?"} {
		ask := s.askOf(session)
		if got := text(ask["questions"]); !strings.Contains(got, question) {
			t.Errorf("got the question %s, want %s", got, question)
		}
		s.call(s.user, "POST", "/asks/"+ask["id"].(string)+"/answer", `{"answer": "Yes"}`, 200)
		s.until("/asks/"+ask["id"].(string), "ack", func(got map[string]any) bool { return got["acked_at"] != nil })
	}
	if got := s.ended(session); got["status"] != "completed" || got["asks_total"] != 2.0 {
		t.Errorf("got %v, want a completed run with two asks", got)
	}
}
