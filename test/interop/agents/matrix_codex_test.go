package agents_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// codexLanes returns the rows of the table for the hooks of Codex.
func codexLanes() []lane {
	hooked := codexWithHooks("codex", "--user")
	guarded := codexWithHooks("codex", "--user", "--gate")
	impatient, limited := hooked, guarded
	impatient.configured = func(f *fixture) { f.change(".codex/config.toml", "timeout = 86400", "timeout = 4") }
	limited.configured = func(f *fixture) { f.change(".codex/config.toml", "--limit 23h", "--limit 4s") }
	q, p, g := codexQuestion, codexPermission, codexGuarded
	return []lane{
		{agent: "Codex", kind: question, by: "request_user_input", cells: map[situation]func(*testing.T){
			inTime:   func(t *testing.T) { q.inTime(t, hooked) },
			late:     func(t *testing.T) { q.withdrawn(t, impatient) },
			restart:  func(t *testing.T) { q.restart(t, hooked) },
			away:     func(t *testing.T) { q.awayAtTerminal(t, hooked) },
			headless: func(t *testing.T) { q.away(t, hooked) },
			twice:    func(t *testing.T) { q.twice(t, hooked) },
		}, not: map[situation]string{dialog: noDialogDuringHook}},
		{agent: "Codex", kind: permission, by: "hook", cells: map[situation]func(*testing.T){
			inTime:   func(t *testing.T) { p.inTime(t, hooked) },
			late:     func(t *testing.T) { p.withdrawn(t, impatient) },
			restart:  func(t *testing.T) { p.restart(t, hooked) },
			away:     func(t *testing.T) { p.awayAtTerminal(t, hooked) },
			headless: func(t *testing.T) { p.away(t, hooked) },
			twice:    func(t *testing.T) { p.twice(t, hooked) },
		}, not: map[situation]string{dialog: noDialogDuringHook}},
		{agent: "Codex", kind: permission, by: "guard", cells: map[situation]func(*testing.T){
			inTime:   func(t *testing.T) { g.inTime(t, guarded) },
			late:     func(t *testing.T) { g.withdrawn(t, limited) },
			restart:  func(t *testing.T) { g.restart(t, guarded) },
			headless: func(t *testing.T) { g.away(t, guarded) },
			twice:    func(t *testing.T) { g.twice(t, guarded) },
		}, not: map[situation]string{
			dialog: noDialogDuringHook, away: "Without Askback, a guard blocks the call at the terminal too.",
		}},
	}
}

const noDialogDuringHook = "Codex shows its own dialog only after the hook has ended without a decision."

var (
	codexQuestion = request{
		kind: question, tool: "request_user_input", args: map[string]any{"questions": []any{map[string]any{
			"id": "colour", "question": "Which colour now?", "header": "Colour", "options": []any{
				map[string]any{"label": "red", "description": "As a rose"},
				map[string]any{"label": "green", "description": "As grass"},
				map[string]any{"label": "blue", "description": "As the sky"},
			},
		}}},
		yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`,
		headless: []string{"Do it."},
		// In its default mode, Codex has no dialog for questions without the feature.
		terminal: append(codexAtTerminal("--enable", "default_mode_request_user_input"), "Do it."),
		dialog:   []string{"Which colour now?", "› 1. red"},
		accept:   func(_ *fixture, s *clienttest.Screen) { s.PressUntil("Enter", clienttest.Lacks("› 1. red")) },
	}
	codexPermission = request{
		kind: permission, tool: "write", args: map[string]any{"x": "one"},
		yes: askback.Answer{Decision: askback.Approve}, saysYes: "wrote",
		no: askback.Answer{Decision: askback.Deny, Reason: "not today"}, saysNo: "not today",
		headless: []string{"Do it."}, terminal: append(codexAtTerminal(), "Do it."),
		dialog: []string{"probe", "› 1. Allow"},
		accept: func(_ *fixture, s *clienttest.Screen) { s.PressUntil("Enter", clienttest.Lacks("› 1. Allow")) },
	}
	codexGuarded = request{
		kind: permission, tool: "exec_command", args: map[string]any{"cmd": makeLine},
		yes: askback.Answer{Decision: askback.Approve}, saysYes: ran,
		no: askback.Answer{Decision: askback.Deny, Reason: "not today"}, saysNo: "not today",
		headless: []string{"--sandbox", "danger-full-access", "Do it."},
	}
)

// codexAtTerminal returns the arguments of Codex at the terminal.
func codexAtTerminal(more ...string) []string {
	return append([]string{trustHooks, "--no-daemon"}, more...)
}
