package agents_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
)

// The same question asked three times on purpose is asked three times, and each
// call gets its own answer.
func TestSameQuestionIsAskedEachTime(t *testing.T) {
	t.Parallel()
	answers := []string{"red", "green", "blue"}
	question := map[string]any{"questions": []any{map[string]any{
		"question": "Which colour now?", "header": "Colour",
		"options": []any{map[string]any{"label": "red"}, map[string]any{"label": "green"}, map[string]any{"label": "blue"}},
	}}}
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c,
				call{"call_1", "ask_user_question", question},
				call{"call_2", "ask_user_question", question},
				call{"call_3", "ask_user_question", question},
			)
			r := b.start("Ask three times.")
			asked := map[string]bool{}
			for i, id := range []string{"call_1", "call_2", "call_3"} {
				ask := b.Open(1)[0]
				asked[ask.ID] = true
				b.Answer(ask.ID, askback.Choose(answers[i]))
				told := b.model.result(id)
				for j, label := range answers {
					if strings.Contains(told, `"`+label+`"`) != (i == j) {
						t.Errorf("%s: the model was told %q, want the answer %s alone", id, told, answers[i])
					}
				}
			}
			if len(asked) != 3 {
				t.Errorf("a person was asked %d times, want 3", len(asked))
			}
			r.end()
		})
	}
}
