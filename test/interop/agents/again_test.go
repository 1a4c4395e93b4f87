package agents_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
)

var (
	colour = map[string]any{"questions": []any{map[string]any{
		"question": "Which colour now?", "header": "Colour",
		"options": []any{map[string]any{"label": "red"}, map[string]any{"label": "green"}, map[string]any{"label": "blue"}},
	}}}
	wire = map[string]any{"action": "Wire 1000 EUR to account 7"}
)

const approval = `"decision":"approved"`

// The same call made again on purpose is asked again, and each call gets its own
// answer: the same question three times, and a confirmation that was denied.
func TestSameCallIsAskedEachTime(t *testing.T) {
	t.Parallel()
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c,
				call{"call_1", "ask_user_question", colour},
				call{"call_2", "ask_user_question", colour},
				call{"call_3", "ask_user_question", colour},
				call{"call_4", "confirm_action", wire},
				call{"call_5", "confirm_action", wire},
			)
			r := b.start("Do it.")
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
				ask := b.Open(1)[0]
				asked[ask.ID] = true
				b.Answer(ask.ID, c.answer)
				// Codex gets the structured part of a result, OpenCode the text, Copilot both.
				told := strings.ReplaceAll(b.model.result(c.id), "Approved by ", approval)
				for _, answer := range []string{`"red"`, `"green"`, `"blue"`, "not today", approval} {
					if strings.Contains(told, answer) != (answer == c.want) {
						t.Errorf("%s: the model was told %q, want the answer %s alone", c.id, told, c.want)
					}
				}
			}
			if len(asked) != 5 {
				t.Errorf("people were asked %d times, want 5", len(asked))
			}
			r.end()
			b.allAcknowledged()
		})
	}
}

// allAcknowledged checks that every answer is known to have arrived.
func (b *bench) allAcknowledged() {
	b.t.Helper()
	page, err := b.Person.List(bounded(b.t), askback.Query{Status: askback.AnyStatus, Unacked: true})
	if err != nil || len(page.Items) > 0 {
		b.t.Errorf("got %d answers without a receipt, %v", len(page.Items), err)
	}
}
