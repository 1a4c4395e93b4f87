package terminal_test

import (
	"fmt"
	"testing"

	"github.com/askback/askback"
)

// Ten asks of all kinds are cleared with at most 30 keys, including typed text (B6). Each key is named on the
// screen.
func TestThirtyKeysAnswerTenAsks(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		multi := questionRequest("Which regions?", "eu", "us", "ap")
		multi.Questions[0].MultiSelect = true
		answers := map[string][]string{}
		for n := range 3 {
			answers[f.ask(
				"planner", questionRequest(fmt.Sprintf("Which database for %d?", n), "PostgreSQL", "SQLite"),
			)] = []string{"2", "enter"}
			answers[f.ask("support", callRequest("label", fmt.Sprintf(`{"ticket":%d}`, n), false))] = []string{"a"}
		}
		answers[f.ask("planner", multi)] = []string{"1", "3", "enter"}
		answers[f.ask("support", callRequest("mail.send", `{"to":"kim@example.com"}`, false))] = []string{"d"}
		answers[f.ask("deploy-bot", callRequest("rm", `{"path":"/srv"}`, true))] = []string{"d"}
		text := f.ask("writer", questionRequest("What is the version?"))
		answers[text] = []string{"enter", "v", "2", "enter"}
		f.open(f.ana, width)
		keys := 0
		press := func(key string) {
			keys++
			f.press(key)
		}
		if width < 90 {
			press("enter") // opens the first ask; the next asks open without a key
			answers[text] = answers[text][1:]
		}
		for range answers {
			id := f.Current()
			for _, key := range answers[id] {
				press(key)
			}
			if got := f.outcome(id); got == "open" {
				t.Fatalf("%d columns: an ask is open after %v:\n%s", width, answers[id], f.screen(width))
			}
		}
		f.shows(width, `(?s)0 open`)
		for id := range answers {
			a, err := f.ana.Get(t.Context(), id)
			if err != nil || a.Status != askback.Answered {
				t.Errorf("%d columns: %s is %s, %v", width, id, a.Status, err)
			}
		}
		if keys > 30 {
			t.Errorf("%d columns: %d keys for ten asks, want at most 30", width, keys)
		}
		t.Logf("%d columns: %d keys", width, keys)
	}
}
