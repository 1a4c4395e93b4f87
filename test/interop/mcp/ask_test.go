package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// toolNames lists the tools that every client is offered, sorted.
var toolNames = []string{
	"ask_user_question", "confirm_action", "get_answer", "list_open_questions", "wait_for_answer", "withdraw_question",
}

// A client lists the tools and asks, and gets the answer as text and JSON (B7).
func TestQuestionIsAnswered(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		a := newAgent(t, w.script, w.in(p))
		var listed []struct {
			Name string `json:"name"`
		}
		read(t, a.run("tools", nil), &listed)
		var names []string
		for _, tool := range listed {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(toolNames, names); diff != "" {
			t.Error(diff)
		}
		about := a.about()
		if !strings.Contains(about.Instructions, "never consent") {
			t.Errorf("instructions: %q", about.Instructions)
		}
		if stateless := about.Protocol == "2026-07-28"; stateless != (w.script == modern) {
			t.Errorf("protocol %q with %s", about.Protocol, w.script)
		}
		done := a.start("call", ask("Which database?", "PostgreSQL", "SQLite"))
		p.Answer(p.Open(1)[0].ID, askback.Choose("SQLite"))
		a.wantAnswer(a.result(done), "Which database?", "SQLite")
	})
}

// Each of twenty concurrent questions of one client gets its answer, in any order (F9).
func TestConcurrentQuestionsGetTheirAnswers(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		a := newAgent(t, w.script, w.in(p))
		const many = 20
		calls := map[string]<-chan reply{}
		for i := range many {
			question := fmt.Sprintf("Number %d?", i)
			calls[question] = a.start("call", ask(question))
		}
		asks := p.Open(many)
		rand.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
		for _, k := range asks {
			p.Answer(k.ID, askback.Choose("the answer to "+k.Questions[0].Text))
		}
		for question, done := range calls {
			a.wantAnswer(a.result(done), question, "the answer to "+question)
		}
		if left := a.openQuestions(); len(left) != 0 {
			t.Errorf("still open: %v", left)
		}
	})
}

// A call of confirm_action is approved, approved with edited arguments, or denied,
// which is a normal result (C3, F4, F7).
func TestConfirmationReturnsTheDecision(t *testing.T) {
	edited := json.RawMessage(`{"action":"Delete the copies of 2025"}`)
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		a := newAgent(t, w.script, w.in(p))
		for name, test := range map[string]struct {
			answer    askback.Answer
			confirmed bool
			input     json.RawMessage
		}{
			"approved": {askback.Decide(askback.Approve, ""), true, nil},
			"denied":   {askback.Decide(askback.Deny, "not on a Friday"), false, nil},
			"edited":   {askback.Answer{Decision: askback.Approve, Input: edited}, true, edited},
		} {
			action := jsonText(map[string]string{"action": "Delete the copies (" + name + ")"})
			done := a.start("call", call{Tool: "confirm_action", Input: action, Timeout: patience.Milliseconds()})
			p.Answer(p.Open(1)[0].ID, test.answer)
			r := a.result(done)
			if r.IsError || r.Structured.Confirmed == nil || *r.Structured.Confirmed != test.confirmed ||
				r.Structured.Outcome == nil {
				t.Errorf("%s: got %+v", name, r)
				continue
			}
			if got := r.Structured.Outcome.Input; !sameJSON(t, got, test.input) {
				t.Errorf("%s: the arguments are %s, want %s", name, got, test.input)
			}
			if part := test.answer.Reason + string(test.input); !strings.Contains(r.text(), part) {
				t.Errorf("%s: the text lacks %q: %q", name, part, r.text())
			}
		}
	})
}

// sameJSON reports whether two values are equal. A missing value equals only
// another missing value.
func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var one, two any
	if len(a) > 0 {
		read(t, a, &one)
	}
	if len(b) > 0 {
		read(t, b, &two)
	}
	return cmp.Equal(one, two)
}
