package agents_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
)

var (
	colour = map[string]any{"questions": []any{map[string]any{
		"question": "Which colour now?", "header": "Colour",
		"options": []any{
			map[string]any{"label": "red"}, map[string]any{"label": "green"}, map[string]any{"label": "blue"},
		},
	}}}
	wire = map[string]any{"action": "Wire 1000 EUR to account 7"}
)

const approval = `"decision":"approved"`

// A repeated call is asked again, and each call gets a separate answer: the same
// question three times, and a denied confirmation.
func TestRepeatedCallIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c,
				call{"call_1", "ask_user_question", colour},
				call{"call_2", "ask_user_question", colour},
				call{"call_3", "ask_user_question", colour},
				call{"call_4", "confirm_action", wire},
				call{"call_5", "confirm_action", wire},
			)
			r := f.start("Do it.")
			asked := map[string]bool{}
			for _, c := range []struct {
				id, want string
				answer   askback.Answer
			}{
				{"call_1", `"red"`, askback.Choose("red")},
				{"call_2", `"green"`, askback.Choose("green")},
				{"call_3", `"blue"`, askback.Choose("blue")},
				{"call_4", "not today", askback.Answer{Decision: askback.Deny, Reason: "not today"}},
				{"call_5", approval, askback.Answer{Decision: askback.Approve}},
			} {
				ask := f.Open(1)[0]
				asked[ask.ID] = true
				f.Answer(ask.ID, c.answer)
				// Codex reads the structured content of a result, OpenCode the text, Copilot both.
				result := strings.ReplaceAll(f.model.result(c.id), "Approved by ", approval)
				for _, answer := range []string{`"red"`, `"green"`, `"blue"`, "not today", approval} {
					if strings.Contains(result, answer) != (answer == c.want) {
						t.Errorf("%s: the model got %q, want only the answer %s", c.id, result, c.want)
					}
				}
			}
			if len(asked) != 5 {
				t.Errorf("got %d asks, want 5", len(asked))
			}
			r.end()
			f.wantAllAcked()
		})
	}
}

// wantAllAcked requires that all answers are acked.
func (f *fixture) wantAllAcked() {
	f.t.Helper()
	page, err := f.Person.List(bounded(f.t), askback.Query{Status: askback.AnyStatus, Unacked: true})
	if err != nil || len(page.Items) > 0 {
		f.t.Errorf("got %d unacked answers, %v", len(page.Items), err)
	}
}
