package terminal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// hold makes the engine hold answers for half a minute, so that people can undo them.
func (f *inboxFixture) hold() { f.engine.Set(engine.Settings{Undo: 30 * time.Second}) }

// sendHeld advances the clock past the time for which answers are held. It requires that the answer to an ask
// is then sent, and reads the list.
func (f *inboxFixture) sendHeld(id string) {
	f.t.Helper()
	f.pass(31 * time.Second)
	if _, err := f.ben.Claim(f.t.Context(), id); !errors.Is(err, askback.ErrSettled) {
		f.t.Fatalf("the answer was not sent: %v", err)
	}
	f.Load()
}

// A decision can be undone with u, wherever the person is in the list. The entries are still there, and can
// be sent again.
func TestInboxUndoesADecision(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.hold()
		id, other := f.ask("a", callRequest("drop", `{}`, false)), f.ask("a", callRequest("keep", `{}`, false))
		f.open(f.ana, width)
		f.press("enter", "a")
		f.shows(width, `Approved drop, sent in \d+ s · u undoes`)
		if got := f.outcome(id); got != "open" {
			t.Fatalf("%d columns: got %s, want open", width, got)
		}
		f.press("u")
		f.shows(width, `Undone: nothing was sent`)
		f.press("enter", "d")
		f.shows(width, `Denied drop, sent in \d+ s`)
		f.press("enter", "a")
		f.sendHeld(id)
		f.sendHeld(other)
		if a, b := f.outcome(id), f.outcome(other); a != "denied" || b != "approved" {
			t.Errorf("%d columns: got %q and %q, want the second decision, and that on the next call", width, a, b)
		}
		if held := f.screen(width); matches(`u undoes`, held) {
			t.Errorf("%d columns: it can still be undone:\n%s", width, held)
		}
	}
}

// The text of an answer is in its field again after u, in the list and in the ask.
func TestUndoRestoresTypedText(t *testing.T) {
	f := newInboxFixture(t)
	f.hold()
	id := f.ask("a", questionRequest("Which name?"))
	f.open(f.ana, 80)
	f.press("enter")
	f.Paste("orders")
	f.press("enter")
	f.shows(80, `Answered orders, sent in`)
	f.press("u")
	f.shows(80, `Undone: nothing was sent`)
	if screen := f.screen(80); matches(`sent in`, screen) {
		t.Errorf("it is still to be sent:\n%s", screen)
	}
	f.press("enter")
	f.shows(80, `(?m)^ *you │ orders`)
	f.pass(31 * time.Second)
	f.Load()
	if got := f.outcome(id); got != "open" {
		t.Errorf("got %s, want open", got)
	}
	f.press("enter")
	f.shows(80, `Answered orders, sent in`)
	f.press("enter", "u") // in the ask, whose field takes no more text
	f.shows(80, `Undone: nothing was sent`)
}

// A text that is being typed when its ask is withdrawn undoes nothing.
func TestLetterOfATextUndoesNothing(t *testing.T) {
	f := newInboxFixture(t)
	f.hold()
	id, other := f.ask("a", callRequest("drop", `{}`, false)), f.ask("a", questionRequest("Which name?"))
	f.open(f.ana, 80)
	f.press("enter", "d")
	f.shows(80, `Denied drop, sent in`)
	f.press("enter")
	f.Paste("bl")
	f.shows(80, `(?m)^ *you │ bl`)
	if _, err := f.engine.As(askback.Principal{Kind: askback.Agent, Name: "a"}).Cancel(t.Context(), other,
		""); err != nil {
		t.Fatal(err)
	}
	f.Load()
	f.press("u", "e")
	if screen := f.screen(80); matches(`Undone`, screen) {
		t.Errorf("a letter of the text undid the decision:\n%s", screen)
	}
	f.sendHeld(id)
	if got := f.outcome(id); got != "denied" {
		t.Errorf("got %s, want denied", got)
	}
}

// The inbox names another person who answered first. It also names another window of the same person in which
// the answer was undone.
func TestInboxNamesThePersonWhoAnsweredFirst(t *testing.T) {
	f := newInboxFixture(t)
	f.hold()
	lost, undone := f.ask("a", callRequest("drop", `{}`, false)), f.ask("a", callRequest("keep", `{}`, false))
	f.open(f.ana, 80)
	f.press("enter", "a")
	if _, err := f.ben.Answer(t.Context(), lost, askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	f.Load()
	f.shows(80, `denied by ben`)
	f.press("enter", "a")
	f.shows(80, `Approved keep, sent in`)
	if _, err := f.ana.Undo(t.Context(), undone); err != nil {
		t.Fatal(err)
	}
	f.Load()
	if screen := f.screen(80); matches(`sent in \d+ s`, screen) {
		t.Errorf("it is still shown:\n%s", screen)
	}
	if _, err := f.ben.Hold(t.Context(), undone, askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	f.Load()
	f.press("esc", "esc")
	f.shows(80, `ben has answered, and can still undo it`)
}
