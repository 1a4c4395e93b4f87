package notice_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/notice"
)

// A message counts the questions of the same agent that get none of their own (T18).
func TestMessageCountsOtherQuestions(t *testing.T) {
	for others, want := range map[int]string{0: "", 1: "One more question of this agent waits in the inbox", 7: "7 more questions of this agent wait in the inbox"} {
		a := askback.Ask{ID: "ask_1", Agent: "bot", Kind: askback.Questions, Questions: []askback.Question{{ID: "q1", Text: "Why?"}}, OthersWaiting: others}
		for name, m := range map[string]notice.Message{"whole": notice.Pending(a, nil), "short": notice.Short(a, true), "without names": notice.Short(a, false)} {
			if got := m.Text(notice.Plain); !strings.Contains(got, want) || want == "" && strings.Contains(got, "more question") {
				t.Errorf("%s, %d others: got %q", name, others, got)
			}
		}
	}
}
