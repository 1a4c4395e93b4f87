package claudecode_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

var remotes = map[string]setup{"by commands": remoteCommands, "by address": remoteHTTP}

// If a remote Askback does not run, claude -p runs no call that needs a permission, and the terminal shows
// its own dialog (F4, F9).
func TestNothingRunsUnapprovedWithoutServer(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run("headless "+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, bash("toolu_1", "touch made"), text("Done."))
			f.Kill()
			e := f.start("Do it.").end()
			f.wantErrorResult("toolu_1", "")
			if e.Result != "Done." || !strings.Contains(string(e.Denials), `"toolu_1"`) || f.fileExists("made") {
				t.Errorf("got %+v, made: %t", e, f.fileExists("made"))
			}
		})
		t.Run("terminal "+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, calls("toolu_1", "AskUserQuestion", database()), bash("toolu_2", "touch made"),
				text("Done."))
			f.Kill()
			s := f.startTerminal("--permission-mode", "default", "Do it.")
			s.chooseSecond("SQLite")
			f.wantResult("toolu_1", `"Which database?"="SQLite"`)
			s.waitFor("touch made")
			if f.fileExists("made") {
				t.Error("the tool ran without a permission")
			}
			f.approve(s, "touch made", "toolu_2")
			f.wantResult("toolu_2", "")
			if !f.fileExists("made") {
				t.Error("the approved tool did not run")
			}
		})
	}
}

// If the server is killed while the terminal shows a dialog, the dialog
// decides. The ask is cancelled when the session ends (F4, F9).
func TestDialogDecidesWhenServerIsKilled(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, calls("toolu_1", "AskUserQuestion", database()), text("Done."))
			s := f.startTerminal("Ask me.")
			ask := f.Open(1)[0]
			s.waitFor("Which database?", "❯ 1. PostgreSQL")
			f.Kill()
			s.chooseSecond("SQLite")
			f.wantResult("toolu_1", `"Which database?"="SQLite"`)
			s.waitFor("Done.")
			f.Start()
			s.press("/exit")
			s.pressUntil("Enter", func(string) error { return s.Gone() })
			f.wantCancelled(ask)
		})
	}
}

// If the server is killed while claude -p waits, a command hook waits for its restart, and an HTTP hook
// fails. Nothing runs before a person approves (F2, F4, F9).
func TestNothingRunsUnapprovedWhenServerIsKilled(t *testing.T) {
	t.Parallel()
	for name, w := range remotes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, bash("toolu_1", "touch made"), text("Done."))
			r := f.start("Do it.")
			ask := f.Open(1)[0]
			f.Kill()
			if len(w.args) == 0 {
				f.wantErrorResult("toolu_1", "")
				r.end()
				if f.fileExists("made") {
					t.Error("the tool ran without a permission")
				}
				f.Start()
				return
			}
			f.Start()
			if got := f.Open(1)[0]; got.ID != ask.ID || f.fileExists("made") {
				t.Errorf("got %s, made: %t; want %s still open", got.ID, f.fileExists("made"), ask.ID)
			}
			f.approveUntil("toolu_1")
			if !f.fileExists("made") {
				t.Error("the approved tool did not run")
			}
			r.end()
		})
	}
}

// If the server is killed while a question is open, the run ends. It continues once there is an answer (F2,
// F4, F9).
func TestQuestionIsDeferredWhenServerIsKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, remoteCommands, calls("toolu_1", "AskUserQuestion", database()), text("Done."))
	f.deferSoon()
	r := f.start(append(withPermissionTool, "Ask me.")...)
	ask := f.Open(1)[0]
	f.Kill()
	e := r.end()
	if e.StopReason != "tool_deferred" || !strings.Contains(string(e.Deferred), `"toolu_1"`) {
		t.Fatalf("got %+v, want it deferred", e)
	}
	f.Start()
	f.Answer(ask.ID, askback.Choose("SQLite"))
	f.start(append(withPermissionTool, "--resume", e.SessionID)...).end()
	f.wantResult("toolu_1", `"Which database?"="SQLite"`)
}

// approveUntil approves open asks until a call has its result. A hook whose ask was lost with the server may
// ask again, and then it cancels the first ask.
func (f *fixture) approveUntil(id string) {
	f.t.Helper()
	ctx := bounded(f.t)
	for !f.model.hasResult(id) {
		page, err := f.Person.List(ctx, askback.Query{})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, ask := range page.Items {
			_, err := f.Person.Answer(ctx, ask.ID, askback.Answer{Decision: askback.Approve})
			if err != nil && !errors.Is(err, askback.ErrSettled) {
				f.t.Fatal(err)
			}
		}
		select {
		case <-ctx.Done():
			f.t.Fatalf("%s has no result", id)
		case <-time.After(50 * time.Millisecond):
		}
	}
	f.wantResult(id, "")
}
