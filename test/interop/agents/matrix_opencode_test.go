package agents_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

var (
	openCodeTerminal = []string{"--model", "scripted/model", "--prompt", "Do it."}

	// OpenCode rejects options without a description.
	describedColour = map[string]any{"questions": []any{map[string]any{
		"question": "Which colour now?", "header": "Colour",
		"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{
			"label": "green", "description": "calm",
		}},
	}}}

	openCodeQuestion = request{
		kind: question, tool: "question", args: describedColour,
		yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`,
		terminal: openCodeTerminal, dialog: []string{"Which colour now?", "esc dismiss"},
		accept: func(f *fixture, s *clienttest.Screen) { f.press(s, "esc dismiss", "Enter") },
	}
	openCodePermission = request{
		kind: permission, tool: "bash", args: map[string]any{"command": makeLine, "description": "Add a line"},
		yes: approve, saysYes: ran, no: refuse, saysNo: refuse.Reason,
		headless: []string{"Do it."},
		terminal: openCodeTerminal, dialog: []string{makeLine, "Allow once"},
		accept: func(f *fixture, s *clienttest.Screen) { f.press(s, "Allow once", "Enter") },
	}
)

// openCodeLanes returns the rows of the table for the plugin for OpenCode, for its gate, and for askback
// attach opencode.
func openCodeLanes() (all []lane) {
	noRun := map[string]string{
		question:   "`opencode run` does not offer the tool question.",
		permission: "`opencode run` rejects permissions itself, unless the gate asks.",
	}
	for _, m := range []request{openCodeQuestion, openCodePermission} {
		remote := opencode
		remote.remote = true
		all = append(all, lane{agent: "OpenCode", kind: m.kind, by: "plugin", cells: map[situation]func(*testing.T){
			inTime:  m.besidesInTime,
			dialog:  func(t *testing.T) { m.ownDialog(t, opencode) },
			restart: m.besidesRestart,
			away:    func(t *testing.T) { m.awayAtTerminal(t, remote) },
			twice:   m.besidesTwice,
		}, not: map[situation]string{late: "The dialog of OpenCode has no time-out.", headless: noRun[m.kind]}})
	}
	for _, m := range []request{openCodeQuestion, openCodePermission} {
		all = append(all, lane{agent: "OpenCode", kind: m.kind, by: "attach", cells: map[situation]func(*testing.T){
			inTime:  m.servedInTime,
			dialog:  m.servedDialog,
			restart: m.servedRestart,
			away:    m.servedAway,
			twice:   m.servedTwice,
		}, not: map[situation]string{late: "The dialog of OpenCode has no time-out.", headless: noRun[m.kind]}})
	}
	m := openCodePermission
	remote := gated()
	remote.remote = true
	return append(all, lane{agent: "OpenCode", kind: m.kind, by: "gate", cells: map[situation]func(*testing.T){
		inTime:   func(t *testing.T) { m.inTime(t, gated()) },
		restart:  func(t *testing.T) { m.restart(t, gated()) },
		headless: func(t *testing.T) { m.away(t, remote) },
		twice:    func(t *testing.T) { m.twice(t, gated()) },
	}, not: map[situation]string{
		late: "The gate of OpenCode has no time-out.", dialog: "`opencode run` has no dialog.",
		away: "`opencode run` has no dialog.",
	}})
}

// besidesInTime answers in Askback while the dialog is open at the terminal.
func (m request) besidesInTime(t *testing.T) {
	f := newFixture(t, opencode, m.call("call_1"))
	s := f.startTerminal(m.terminal...)
	ask := f.Open(1)[0]
	s.WaitFor(m.dialog...)
	f.wantMade()
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
}

func (m request) besidesRestart(t *testing.T) {
	f := newFixture(t, opencode, m.call("call_1"))
	f.startTerminal(m.terminal...)
	ask := f.Open(1)[0]
	f.Restart()
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
}

func (m request) besidesTwice(t *testing.T) {
	f := newFixture(t, opencode, m.call("call_1"), m.call("call_2"))
	f.startTerminal(m.terminal...)
	ask := f.Open(1)[0]
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Answer(f.openAfter(ask).ID, m.no)
	m.want(f, "call_2", m.saysNo)
}

// served starts opencode serve and askback attach with a session, and returns its ask.
func (m request) served(t *testing.T, script ...call) (*openCodeServer, askback.Ask) {
	s := serveOpenCode(t, script...)
	s.attach()
	s.prompt()
	return s, s.Open(1)[0]
}

func (m request) servedInTime(t *testing.T) {
	s, ask := m.served(t, m.call("call_1"))
	s.wantMade()
	s.Answer(ask.ID, m.yes)
	m.want(s.fixture, "call_1", m.saysYes)
}

func (m request) servedTwice(t *testing.T) {
	s, ask := m.served(t, m.call("call_1"), m.call("call_2"))
	s.Answer(ask.ID, m.yes)
	m.want(s.fixture, "call_1", m.saysYes)
	s.Answer(s.openAfter(ask).ID, m.no)
	m.want(s.fixture, "call_2", m.saysNo)
}

func (m request) servedRestart(t *testing.T) {
	s, ask := m.served(t, m.call("call_1"))
	s.Restart()
	s.wantMade()
	s.Answer(ask.ID, m.yes)
	m.want(s.fixture, "call_1", m.saysYes)
}

// acceptOnPage answers yes as the page of OpenCode does.
func (m request) acceptOnPage(s *openCodeServer) {
	if m.kind == question {
		s.decide("question", map[string]any{"answers": [][]string{{"red"}}})
		return
	}
	s.decide("permission", map[string]any{"reply": "once"})
}

func (m request) servedDialog(t *testing.T) {
	s, ask := m.served(t, m.call("call_1"))
	s.wantMade()
	m.acceptOnPage(s)
	m.want(s.fixture, "call_1", m.saysYes)
	s.wantCancelled(ask)
}

// servedAway answers on the page after Askback has ended.
func (m request) servedAway(t *testing.T) {
	s, _ := m.served(t, m.call("call_1"))
	s.Kill()
	s.wantMade()
	m.acceptOnPage(s)
	m.want(s.fixture, "call_1", m.saysYes)
}
