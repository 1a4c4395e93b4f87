package mcpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
)

// An answer that was not given is in the list, however many came after it (F6).
func TestALateAnswerIsListedBehindManyOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		seat := d.engine.As(bot)
		ask := func() string {
			a, err := seat.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which name?"}}})
			if err != nil {
				t.Fatal(err)
			}
			d.answer(a.ID, askback.Choose("neither"))
			return a.ID
		}
		late := ask()
		for range 120 {
			if _, err := seat.Receive(t.Context(), ask()); err != nil {
				t.Fatal(err)
			}
		}
		got := call(t.Context(), d.http("bot", "program", modern, nil), "list_open_questions", "{}")
		if settled, _ := got.structured(t)["settled"].([]any); len(settled) != 1 || !strings.Contains(got.text(t), late) {
			t.Errorf("got %v, %q; want %s", settled, got.text(t), late)
		}
	})
}
