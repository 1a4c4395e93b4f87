package notice_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A message has the number of questions of the same agent that get no separate message (T18).
func TestMessageCountsOtherQuestions(t *testing.T) {
	for others, want := range map[int]string{
		0: "", 1: "One more question of this agent waits in the inbox",
		7: "7 more questions of this agent wait in the inbox",
	} {
		a := askback.Ask{
			ID: "ask_1", Agent: "bot", Kind: askback.Questions,
			Questions: []askback.Question{{ID: "q1", Text: "Why?"}}, OthersWaiting: others,
		}
		for name, m := range map[string]notice.Message{
			"whole": notice.Pending(a, nil), "short": notice.Short(a, true), "without names": notice.Short(a, false),
		} {
			if got := m.Text(notice.Plain); !strings.Contains(got, want) ||
				want == "" && strings.Contains(got, "more question") {
				t.Errorf("%s, %d others: got %q", name, others, got)
			}
		}
	}
}

// A message lists the names that are not asked, but not as a repair of the agent's call.
func TestMessageListsNamesThatAreNotAsked(t *testing.T) {
	a := askback.Ask{
		ID: "ask_1", Agent: "bot",
		Kind: askback.Questions, Questions: []askback.Question{{ID: "q1", Text: "Why?"}}, Warnings: []askback.Problem{
			{Pointer: "/to", Detail: `"eve" is not known here and cannot answer`},
			{Pointer: "/questions/0/header", Detail: "cut to 12 characters"},
		},
	}
	got := notice.Pending(a, nil).Text(notice.Plain)
	for _, want := range []string{
		`Not asked: "eve" is not known here and cannot answer`, "Repaired: The call was repaired: cut to 12",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not once in:\n%s", want, got)
		}
	}
}
