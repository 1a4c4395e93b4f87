package terminal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// The key r gives the selected ask to others. The inbox explains the effect before and after. An ask that the
// person may no longer answer leaves the list (F12).
func TestInboxReassignsTheSelectedAsk(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.engine.Set(engine.Settings{
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}, {Name: "cem"}},
			Groups: map[string][]string{"oncall": {"cem"}},
		})
		id := f.ask("planner", questionRequest("Which database?", "PostgreSQL", "SQLite"))
		other := f.ask("planner", questionRequest("Which region?", "eu", "us"))
		f.open(f.ana, width)
		f.press("r")
		f.shows(width, `(?s)To stay one of.+them`)
		f.press("tab")
		f.shows(width, `You cannot give only your part`)
		f.press("enter")
		f.shows(width, `Name at least one person`)
		f.press("@none", "enter")
		f.shows(width, `Not reassigned: there is no group`)
		f.press("ctrl+u", "ben, @oncall", "enter")
		f.shows(width, `Reassigned to ben, @oncall.`)
		f.shows(width, `1 open`)
		if _, err := f.ana.Get(context.Background(), id); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("%d columns: got %v for the ask that was given away", width, err)
		}
		f.press("enter", "1", "enter")
		if got := f.outcome(other); got != "eu" {
			t.Errorf("%d columns: the next ask ended as %q", width, got)
		}
	}
}

// With Tab, a person gives others only their own part, and the ask stays with the other people.
func TestTabReassignsOnlyTheOwnPart(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		r := questionRequest("Which database?", "PostgreSQL", "SQLite")
		r.To = []string{"ana", "ben"}
		id := f.ask("planner", r)
		f.open(f.ana, width)
		f.press("enter", "r", "cem")
		f.shows(width, `not you,\s+and not ben`)
		f.press("tab")
		f.shows(width, `in your place. ben\s+can still\s+answer it`)
		f.press("enter")
		f.shows(width, `(?s)Reassigned to ben, cem`)
		a, err := f.ben.Get(context.Background(), id)
		if err != nil || !a.Addressed("cem") || a.Addressed("ana") {
			t.Errorf("%d columns: got %v for %q", width, err, a.To)
		}
		f.press("?")
		f.shows(width, `reassign it`)
	}
}

// Esc leaves the names without a change. An ask that was settled in the meantime is not reassigned.
func TestInboxReassignsOnlyOpenAsks(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		id := f.ask("planner", questionRequest("Which database?", "PostgreSQL", "SQLite"))
		f.open(f.ana, width)
		f.press("r", "ben", "esc")
		if a, err := f.ana.Get(context.Background(), id); err != nil || len(a.To) > 0 {
			t.Errorf("%d columns: got %v for %q after Esc", width, err, a.To)
		}
		f.press("r", "ben")
		if _, err := f.ben.Decline(context.Background(), id, ""); err != nil {
			t.Fatal(err)
		}
		f.press("enter")
		f.shows(width, `It is settled, so it was not\s+reassigned`)
	}
}
