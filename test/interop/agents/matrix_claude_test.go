package agents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// claudeLanes returns the rows of the table for the hooks of Claude Code.
func claudeLanes() []lane {
	remote, impatient := claude, claude
	remote.remote = true // with http hooks
	commands := remote
	commands.init = append(slices.Clone(claude.init), "--no-http")
	impatient.configured = func(f *fixture) {
		f.change("project/.claude/settings.local.json", `"timeout": 86400`, `"timeout": 4`)
	}
	q, p := claudeQuestion, claudePermission
	return []lane{
		{agent: "Claude Code", kind: question, by: "AskUserQuestion", cells: map[situation]func(*testing.T){
			inTime:   func(t *testing.T) { q.inTime(t, claude) },
			late:     func(t *testing.T) { q.deferred(t, claude) },
			dialog:   func(t *testing.T) { q.ownDialog(t, claude) },
			restart:  func(t *testing.T) { q.restart(t, claude) },
			away:     func(t *testing.T) { q.awayAtTerminal(t, remote) },
			headless: func(t *testing.T) { q.lost(t, remote) },
			twice:    func(t *testing.T) { q.twice(t, claude) },
		}},
		{agent: "Claude Code", kind: permission, by: "hook", cells: map[situation]func(*testing.T){
			inTime:   func(t *testing.T) { p.inTime(t, claude) },
			late:     func(t *testing.T) { p.withdrawn(t, impatient) },
			dialog:   func(t *testing.T) { p.ownDialog(t, claude) },
			restart:  func(t *testing.T) { p.restart(t, claude) },
			away:     func(t *testing.T) { p.awayAtTerminal(t, commands) },
			headless: func(t *testing.T) { p.away(t, commands) },
			twice:    func(t *testing.T) { p.twice(t, claude) },
		}},
	}
}

// withPermissionTool contains the arguments that select the permission tool of Askback. Without such a tool,
// claude -p has no AskUserQuestion.
var withPermissionTool = []string{"--permission-prompt-tool", "mcp__askback__permission_prompt"}

var claudeQuestion = request{
	kind: question, tool: "AskUserQuestion", args: map[string]any{"questions": []any{map[string]any{
		"question": "Which colour now?", "header": "Colour", "multiSelect": false,
		"options": []any{
			map[string]any{"label": "red", "description": "As a rose"},
			map[string]any{"label": "green", "description": "As grass"},
			map[string]any{"label": "blue", "description": "As the sky"},
		},
	}}},
	yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`,
	headless: append(slices.Clone(withPermissionTool), "Do it."), terminal: []string{"Do it."},
	dialog: []string{"Which colour now?", "❯ 1. red", "Enter to select"},
	accept: func(_ *fixture, s *clienttest.Screen) { s.PressUntil("Enter", clienttest.Lacks("❯ 1. red")) },
}

var claudePermission = request{
	kind: permission, tool: "Bash", args: map[string]any{"command": makeLine, "description": "Add a line"},
	yes: askback.Answer{Decision: askback.Approve}, saysYes: ran,
	no: askback.Answer{Decision: askback.Deny, Reason: "not today"}, saysNo: "not today", headless: []string{"Do it."},
	terminal: []string{"--permission-mode", "default", "Do it."},
	dialog:   []string{makeLine, "❯ 1. Yes"},
	accept:   func(_ *fixture, s *clienttest.Screen) { s.PressUntil("Enter", clienttest.Lacks("❯ 1. Yes")) },
}

// deferred answers after the run has ended. The run is then resumed.
func (m request) deferred(t *testing.T, c client) {
	const session = "6f2b1a34-7f0c-4c6e-9c53-0d7d6a5b8a11"
	f := newFixture(t, c, m.call("call_1"))
	f.start(append([]string{"--session-id", session}, m.headless...)...).end()
	f.Answer(f.Open(1)[0].ID, m.yes)
	r := f.start(append(slices.Clone(withPermissionTool), "--resume", session)...)
	m.want(f, "call_1", m.saysYes)
	r.end()
	if out := r.out.String(); !strings.Contains(out, "Done.") {
		t.Errorf("the resumed run wrote %s", out)
	}
}
