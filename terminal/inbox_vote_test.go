package terminal_test

import "testing"

// An approval of one of two people settles nothing: the inbox says so, and shows the ask as
// open (F12).
func TestInboxShowsApprovalsOfSeveral(t *testing.T) {
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
