package terminal_test

import (
	"slices"
	"strings"
	"testing"
)

// claimers waits until all claims were made, and returns the people who have claimed an ask.
func (f *inboxFixture) claimers(id string) (names []string) {
	f.t.Helper()
	f.WaitClaims()
	a, err := f.ana.Get(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range a.Claims {
		names = append(names, c.Name)
	}
	return names
}

// The list and the ask show which other people are looking at the ask, as soon as they begin (F8). The
// selected ask stays where it is.
func TestInboxShowsClaimsOfOthers(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		first, second := f.ask("a", questionRequest("First?")), f.ask("a", callRequest("two", `{}`, false))
		f.open(f.ana, width)
		f.press("j", "enter")
		for _, id := range []string{first, second} {
			if _, err := f.ben.Claim(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		f.Load()
		f.shows(width, `(?s)tool │ two.*ben is looking at it`)
		f.press("esc")
		f.shows(width, `(?s)First\?.*│ a.*ben is looking at it.*two.*│ a.*ben is looking at it`)
		if strings.Contains(f.screen(width), "ana") {
			t.Errorf("%d columns: the person's own claim is shown:\n%s", width, f.screen(width))
		}
		if _, err := f.ben.Decline(t.Context(), first, ""); err != nil {
			t.Fatal(err)
		}
		f.Load()
		f.shows(width, `(?s)First\?.*eclined by ben`)
		if got := strings.Count(f.screen(width), "looking"); got != 1 && width < 90 {
			t.Errorf("%d columns: %d rows say who is looking, want 1:\n%s", width, got, f.screen(width))
		}
	}
}

// A claim moves no row above the selected ask.
func TestClaimsDoNotMoveTheSelectedAsk(t *testing.T) {
	f := newInboxFixture(t)
	f.height = 12
	var ids []string
	for _, text := range []string{"A?", "B?", "C?", "D?", "E?", "F?"} {
		ids = append(ids, f.ask("a", questionRequest(text)))
	}
	f.open(f.ana, 80)
	f.press("end", "k", "k", "k")
	before := strings.Split(f.screen(80), "\n")
	at := slices.IndexFunc(before, func(row string) bool { return strings.Contains(row, "> ") })
	for _, id := range ids[:2] {
		if _, err := f.ben.Claim(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	f.Load()
	if rows := strings.Split(f.screen(80), "\n"); !strings.Contains(rows[at], "> ") ||
		!strings.Contains(rows[at], "C?") {
		t.Errorf("the selected ask moved from row %d:\n%s", at, f.screen(80))
	}
}

// A person who opens an ask claims it. Moving through the list claims nothing (F8).
func TestReadingAnAskInTheInboxClaimsIt(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		ids := []string{
			f.ask("a", questionRequest("First?", "x", "y")), f.ask("a", callRequest("two", `{}`, false)),
			f.ask("a", questionRequest("Third?")),
		}
		f.open(f.ana, width)
		f.press("j", "j", "k", "k", "x", "x")
		for _, id := range ids {
			if got := f.claimers(id); len(got) != 0 {
				t.Errorf("%d columns: moving in the list claimed for %v", width, got)
			}
		}
		f.press("j", "enter")
		if got := f.claimers(ids[1]); !slices.Equal(got, []string{"ana"}) {
			t.Errorf("%d columns: claimed by %v, want ana", width, got)
		}
		if got := f.claimers(ids[2]); len(got) != 0 {
			t.Errorf("%d columns: another ask is claimed by %v", width, got)
		}
	}
}
