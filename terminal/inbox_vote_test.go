package terminal_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// An approval of one of two people settles nothing. The inbox explains this, and shows the ask as open (F12).
func TestApprovalOfOneOfTwoKeepsTheAskOpen(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		r := callRequest("drop", `{}`, false)
		r.Quorum = 2
		id := f.ask("a", r)
		f.open(f.ana, width)
		f.press("enter", "a")
		f.shows(width, `Recorded: waiting for approval; 1 of 2`)
		if got := f.outcome(id); got != "open" {
			t.Errorf("%d columns: got %s after one approval", width, got)
		}
		f.press("enter")
		f.shows(width, `(?s)who │ 1 of 2 approved: ana`)
	}
}

// A person who may not decide a call can read it. No key decides it, not even together with others, and the
// inbox names the people who may decide (F12).
func TestNoKeyDecidesForAPersonWhoMayNotDecide(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.engine.Set(engine.Settings{
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
			Routes: []askback.Route{{Match: askback.Match{Kind: askback.Confirm}, Approvers: []string{"ben"}}},
		})
		r := callRequest("drop", `{}`, false)
		r.To = []string{"ana", "ben"}
		id := f.ask("a", r)
		f.open(f.ana, width)
		f.press("enter")
		for _, key := range []string{"a", "y", "d", "A", "D", "n", "e", "enter"} {
			f.press(key)
			f.shows(width, `(?s)decide\s+this\.\s+You\s+can\s+read\s+it`)
		}
		f.press("esc", "x", "a", "a", "y")
		if a, err := f.ben.Get(t.Context(), id); err != nil || a.Settled() || len(a.Claims) > 0 {
			t.Errorf("%d columns: got %s, claims %v, %v", width, a.Status, a.Claims, err)
		}
	}
}
