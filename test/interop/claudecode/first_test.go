package claudecode_test

import (
	"testing"

	"github.com/askback/askback"
)

// The terminal and Askback show the same question, and the first answer counts:
// the dialog closes, or the ask is cancelled (A1, D2, F9).
func TestFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]setup{"by hook": local, "by the hook of an address": remoteHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, calls("toolu_1", "AskUserQuestion", database()),
				calls("toolu_2", "AskUserQuestion", database()), text("Thank you."))
			s := f.startTerminal("Ask me twice.")

			ask := f.Open(1)[0]
			s.waitFor("Which database?", "❯ 1. PostgreSQL", "Enter to select")
			f.Answer(ask.ID, askback.Choose("My own"))
			f.wantResult("toolu_1", `"Which database?"="My own"`)
			s.waitFor("Which database? → My own")

			ask = f.Open(1)[0]
			s.chooseSecond("SQLite")
			f.wantResult("toolu_2", `"Which database?"="SQLite"`)
			f.wantCancelled(ask)
			s.waitFor("Thank you.")
		})
	}
}

// chooseSecond chooses the second option at the terminal.
func (s *screen) chooseSecond(label string) {
	s.t.Helper()
	s.waitFor("Which database?", "❯ 1. PostgreSQL", "Enter to select")
	s.pressUntil("Down", contains("❯ 2. "+label))
	s.pressUntil("Enter", lacks("❯ 2. "+label))
}

func (f *fixture) wantCancelled(ask askback.Ask) {
	f.t.Helper()
	if got := f.settled(ask.ID); got.Status != askback.Cancelled || got.Outcome.Actor.Kind != askback.ActorAgent {
		f.t.Errorf("the ask is %s by %+v, want it cancelled", got.Status, got.Outcome.Actor)
	}
}

// The first decision about a permission counts, and a denied tool does not run
// (D1, D2, F9).
func TestFirstDecisionCounts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]setup{"by hook": local, "by the hook of an address": remoteHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, bash("toolu_1", "touch approved"), bash("toolu_2", "touch denied"),
				bash("toolu_3", "touch terminal"), bash("toolu_4", "touch escaped"))
			s := f.startTerminal("--permission-mode", "default", "Do it.")

			ask := f.Open(1)[0]
			s.waitFor("touch approved", "Do you want to proceed?")
			f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			f.wantResult("toolu_1", "")
			if !f.fileExists("approved") {
				t.Error("the approved tool did not run")
			}

			ask = f.Open(1)[0]
			s.waitFor("touch denied", "Do you want to proceed?")
			f.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
			f.wantErrorResult("toolu_2", "not on a Friday")

			ask = f.Open(1)[0]
			f.approve(s, "touch terminal", "toolu_3")
			f.wantResult("toolu_3", "")
			if !f.fileExists("terminal") {
				t.Error("the approved tool did not run")
			}
			f.wantCancelled(ask)

			s.waitFor("touch escaped", "❯ 1. Yes")
			ask = f.Open(1)[0]
			s.pressUntil("Escape", lacks("❯ 1. Yes"))
			f.wantCancelled(ask)
			if f.fileExists("denied") || f.fileExists("escaped") {
				t.Error("the denied tool ran")
			}
		})
	}
}

// approve approves a call at the terminal. The dialog of the next call may look the same and follow
// immediately, so approve also ends when this call has a result.
func (f *fixture) approve(s *screen, command, call string) {
	f.t.Helper()
	s.waitFor(command, "❯ 1. Yes")
	closed := lacks("❯ 1. Yes")
	s.pressUntil("Enter", func(text string) error {
		if f.model.hasResult(call) {
			return nil
		}
		return closed(text)
	})
}

// In an interactive session, a question over MCP is answered in the call, even if
// the server is killed. A person must first approve the MCP server of the project
// (B7, F9).
func TestQuestionByMCPIsAnsweredInInteractiveSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, local, calls("toolu_1", "mcp__askback__ask_user_question", database()), text("I see."))
	f.profile()
	s := f.startTerminal("Ask me.")
	s.waitFor("New MCP server found in this project: askback")
	s.pressUntil("Up", contains("❯ Use this MCP server"))
	s.pressUntil("Enter", lacks("❯ Use this MCP server"))

	f.Open(1)
	f.Kill()
	f.Answer(f.Open(1)[0].ID, askback.Choose("SQLite"))
	f.wantResult("toolu_1", `{"Which database?":"SQLite"}`)
	s.waitFor("I see.")
}
