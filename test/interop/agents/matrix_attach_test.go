package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// attachLanes returns the rows of the table for askback attach codex.
func attachLanes() []lane {
	var all []lane
	for _, m := range []request{attachedQuestion, attachedPermission} {
		all = append(all, lane{agent: "Codex", kind: m.kind, by: "attach", cells: map[situation]func(*testing.T){
			inTime:  m.attachedInTime,
			dialog:  m.attachedDialog,
			restart: m.attachedRestart,
			away:    m.attachedAway,
			twice:   m.attachedTwice,
		}, not: map[situation]string{
			late:     "The dialog of Codex has no time-out.",
			headless: "`codex exec` has no daemon, which `askback attach` needs. There, Askback asks by MCP and hooks.",
		}})
	}
	return all
}

var (
	attachedQuestion = request{
		kind: question, tool: codexQuestion.tool, args: codexQuestion.args,
		yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`,
		dialog: codexQuestion.dialog, accept: codexQuestion.accept,
	}
	attachedPermission = request{
		kind: permission, tool: "exec_command", args: command("", makeLine).args,
		yes: askback.Answer{Decision: askback.Approve}, saysYes: ran,
		no: askback.Answer{Decision: askback.Deny}, saysNo: "rejected by user",
		dialog: []string{"$ " + makeLine, "› 1. Yes"},
		accept: func(_ *fixture, s *clienttest.Screen) { s.PressUntil("y", clienttest.Lacks("› 1. Yes")) },
	}
)

// attached starts Codex at a terminal, and askback attach with it. It returns the fixture and the terminal.
func (m request) attached(t *testing.T, script ...call) (*fixture, *clienttest.Screen) {
	c := attachedCodex(t)
	prepare := c.prepare
	c.prepare = func(f *fixture) {
		prepare(f)
		if raw, err := os.ReadFile(filepath.Join(f.Home, ".codex", "config.toml")); err != nil ||
			!strings.Contains(string(raw), "hooks = false") {
			f.change(".codex/config.toml", "[features]\n", "[features]\nhooks = false\n")
		}
	}
	f := newFixture(t, c, slices.Clone(script)...)
	s := f.terminal("Do it.")
	f.attach()
	return f, s
}

func (m request) attachedInTime(t *testing.T) {
	f, s := m.attached(t, m.call("call_1"))
	ask := f.Open(1)[0]
	s.WaitFor(m.dialog...)
	f.wantMade()
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
}

func (m request) attachedTwice(t *testing.T) {
	f, _ := m.attached(t, m.call("call_1"), m.call("call_2"))
	ask := f.Open(1)[0]
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Answer(f.openAfter(ask).ID, m.no)
	m.want(f, "call_2", m.saysNo)
}

func (m request) attachedRestart(t *testing.T) {
	f, _ := m.attached(t, m.call("call_1"))
	ask := f.Open(1)[0]
	f.Kill()
	f.Start()
	if got := f.Open(1)[0]; got.ID != ask.ID {
		t.Errorf("after the restart %s is open, want %s", got.ID, ask.ID)
	}
	f.wantMade()
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
}

func (m request) attachedDialog(t *testing.T) {
	f, s := m.attached(t, m.call("call_1"))
	ask := f.Open(1)[0]
	s.WaitFor(m.dialog...)
	m.accept(f, s)
	m.want(f, "call_1", m.saysYes)
	f.wantCancelled(ask)
}

// attachedAway answers in the dialog after Askback has ended.
func (m request) attachedAway(t *testing.T) {
	f, s := m.attached(t, m.call("call_1"))
	f.Open(1)
	f.Kill()
	s.WaitFor(m.dialog...)
	f.wantMade()
	m.accept(f, s)
	m.want(f, "call_1", m.saysYes)
}
