package claudecode_test

import (
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

var remotes = map[string]way{"by commands": byCommands, "by address": byAddress}

// Where Askback is elsewhere and does not run, claude -p runs nothing that needs
// a permission, and the terminal asks by itself (F4, F9).
func TestWithoutAskbackNothingIsAllowed(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run("headless "+name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, bash("toolu_1", "touch made"), says("Done."))
			d.Kill()
			e := d.start("Do it.").end()
			d.refused("toolu_1", "")
			if e.Result != "Done." || !strings.Contains(string(e.Denials), `"toolu_1"`) || d.made("made") {
				t.Errorf("got %+v, made: %t", e, d.made("made"))
			}
		})
		t.Run("seated "+name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, calls("toolu_1", "AskUserQuestion", database()), bash("toolu_2", "touch made"), says("Done."))
			d.Kill()
			s := d.sit("--permission-mode", "default", "Do it.")
			s.picks("SQLite")
			d.told("toolu_1", `"Which database?"="SQLite"`)
			s.shows("touch made")
			if d.made("made") {
				t.Error("it ran before anybody allowed it")
			}
			s.permits("touch made")
			d.told("toolu_2", "")
			if !d.made("made") {
				t.Error("what was approved at the desk did not run")
			}
		})
	}
}

// Askback dies while somebody at the terminal is asked: its own dialog decides.
// The card is withdrawn when the session ends (F4, F9).
func TestAskbackDiesBesideTheDialog(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, calls("toolu_1", "AskUserQuestion", database()), says("Done."))
			s := d.sit("Ask me.")
			ask := d.Open(1)[0]
			s.shows("Which database?", "❯ 1. PostgreSQL")
			d.Kill()
			s.picks("SQLite")
			d.told("toolu_1", `"Which database?"="SQLite"`)
			s.shows("Done.")
			d.Start()
			s.press("/exit")
			s.pressUntil("Enter", func(string) error { return s.gone() })
			d.withdrawn(ask)
		})
	}
}

// Askback dies while claude -p waits. A command waits for it to come back; of an
// address Claude Code hears that the connection broke. Nothing is allowed
// before a person did (F2, F4, F9).
func TestAskbackDiesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, bash("toolu_1", "touch made"), says("Done."))
			r := d.start("Do it.")
			ask := d.Open(1)[0]
			d.Kill()
			if len(w.args) == 0 {
				d.refused("toolu_1", "")
				r.end()
				if d.made("made") {
					t.Error("it ran, and nobody allowed it")
				}
				d.Start()
				return
			}
			d.Start()
			if got := d.Open(1)[0]; got.ID != ask.ID || d.made("made") {
				t.Errorf("got %s, made: %t; want %s still open", got.ID, d.made("made"), ask.ID)
			}
			d.approveUntil("toolu_1")
			if !d.made("made") {
				t.Error("what was approved did not run")
			}
			r.end()
		})
	}
}

// A question for which Askback died is never answered with nothing: the run ends
// and goes on when there is an answer (F2, F4, F9).
func TestAQuestionIsDeferredWhereAskbackDies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, byCommands, calls("toolu_1", "AskUserQuestion", database()), says("Done."))
	d.deferSoon()
	r := d.start(append(prompted, "Ask me.")...)
	ask := d.Open(1)[0]
	d.Kill()
	e := r.end()
	if e.StopReason != "tool_deferred" || !strings.Contains(string(e.Deferred), `"toolu_1"`) {
		t.Fatalf("got %+v, want it deferred", e)
	}
	d.Start()
	d.Answer(ask.ID, askback.Choose("SQLite"))
	d.start(append(prompted, "--resume", e.SessionID)...).end()
	d.told("toolu_1", `"Which database?"="SQLite"`)
}

// approveUntil approves whatever is open until a call has its result: who did not
// even hear that it asked when the server died may ask once more.
func (d *desk) approveUntil(id string) {
	d.t.Helper()
	ctx := bounded(d.t)
	for !d.model.knowsResult(id) {
		page, err := d.Person.List(ctx, askback.Query{})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, ask := range page.Items {
			d.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
		}
		select {
		case <-ctx.Done():
			d.t.Fatalf("%s has no result", id)
		case <-time.After(50 * time.Millisecond):
		}
	}
	d.told(id, "")
}
