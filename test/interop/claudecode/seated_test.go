package claudecode_test

import (
	"testing"

	"github.com/askback/askback"
)

// The picker of the terminal and Askback show the same question, and the first
// answer counts: the picker closes, or the card is withdrawn (A1, D2, F9).
func TestTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]way{"by hook": here, "by the hook of an address": byAddress} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, calls("toolu_1", "AskUserQuestion", database()), calls("toolu_2", "AskUserQuestion", database()), says("Thank you."))
			s := d.sit("Ask me twice.")

			ask := d.Open(1)[0]
			s.shows("Which database?", "❯ 1. PostgreSQL", "Enter to select")
			d.Answer(ask.ID, askback.Choose("My own"))
			d.told("toolu_1", `"Which database?"="My own"`)
			s.shows("Which database? → My own")

			ask = d.Open(1)[0]
			s.picks("SQLite")
			d.told("toolu_2", `"Which database?"="SQLite"`)
			d.withdrawn(ask)
			s.shows("Thank you.")
		})
	}
}

// picks chooses the second option at the terminal.
func (s *screen) picks(label string) {
	s.t.Helper()
	s.shows("Which database?", "❯ 1. PostgreSQL", "Enter to select")
	s.pressUntil("Down", with("❯ 2. "+label))
	s.pressUntil("Enter", without("❯ 2. "+label))
}

func (d *desk) withdrawn(ask askback.Ask) {
	d.t.Helper()
	if got := d.settled(ask.ID); got.Status != askback.Cancelled || got.Outcome.Actor.Kind != askback.ActorAgent {
		d.t.Errorf("the card is %s by %+v, want it withdrawn", got.Status, got.Outcome.Actor)
	}
}

// The same of permissions: what was denied does not run, here or there (D1, D2, F9).
func TestTheFirstDecisionCounts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]way{"by hook": here, "by the hook of an address": byAddress} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, bash("toolu_1", "touch approved"), bash("toolu_2", "touch denied"), bash("toolu_3", "touch seated"), bash("toolu_4", "touch escaped"))
			s := d.sit("--permission-mode", "default", "Do it.")

			ask := d.Open(1)[0]
			s.shows("touch approved", "Do you want to proceed?")
			d.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			d.told("toolu_1", "")
			if !d.made("approved") {
				t.Error("what was approved did not run")
			}

			ask = d.Open(1)[0]
			s.shows("touch denied", "Do you want to proceed?")
			d.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
			d.refused("toolu_2", "not on a Friday")

			ask = d.Open(1)[0]
			s.permits("touch seated")
			d.told("toolu_3", "")
			if !d.made("seated") {
				t.Error("what was approved at the desk did not run")
			}
			d.withdrawn(ask)

			s.shows("touch escaped", "❯ 1. Yes")
			ask = d.Open(1)[0]
			s.pressUntil("Escape", without("❯ 1. Yes"))
			d.withdrawn(ask)
			if d.made("denied") || d.made("escaped") {
				t.Error("what was denied ran")
			}
		})
	}
}

// permits says yes at the terminal.
func (s *screen) permits(command string) {
	s.t.Helper()
	s.shows(command, "❯ 1. Yes")
	s.pressUntil("Enter", without("❯ 1. Yes"))
}

// A question by MCP is answered in the call: its result is the tool's, which the
// model takes for what it is, also when the server died meanwhile. Whoever uses a
// project's server for the first time says so to Claude Code (B7, F9).
func TestAQuestionByMCPAtTheTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, here, calls("toolu_1", "mcp__askback__ask_user_question", database()), says("I see."))
	d.profile()
	s := d.sit("Ask me.")
	s.shows("New MCP server found in this project: askback")
	s.pressUntil("Up", with("❯ Use this MCP server"))
	s.pressUntil("Enter", without("❯ Use this MCP server"))

	d.Open(1)
	d.Kill()
	d.Answer(d.Open(1)[0].ID, askback.Choose("SQLite"))
	d.told("toolu_1", `{"Which database?":"SQLite"}`)
	s.shows("I see.")
}
