package agents_test

import (
	"testing"

	"github.com/askback/askback"
)

// mcpLanes returns the rows of the table for the tools ask_user_question and confirm_action, which are the
// same in each client.
func mcpLanes() []lane {
	var all []lane
	for _, c := range []struct {
		agent  string
		client client
		// impatient replaces the timeout of the client with a short timeout, in a file of the home folder.
		file, before, after string
	}{
		{"Claude Code", claude, "project/.mcp.json", "86400000", "4000"},
		{"Codex", codex, ".codex/config.toml", "86400", "4"},
		{"GitHub Copilot CLI", copilot, "project/.github/mcp.json", "86400000", "4000"},
		{"Gemini CLI", gemini, "project/.gemini/settings.json", "86400000", "4000"},
		{"OpenCode", opencode, "project/opencode.json", `"enabled": true`, `"enabled": true, "timeout": 4000`},
	} {
		impatient := c.client
		impatient.configured = func(f *fixture) { f.change(c.file, c.before, c.after) }
		remote := c.client
		remote.remote = true
		for _, m := range []request{mcpQuestion, mcpPermission} {
			m.headless = []string{"Do it."}
			l := lane{agent: c.agent, kind: m.kind, by: "MCP", cells: map[situation]func(*testing.T){
				inTime:   func(t *testing.T) { m.inTime(t, c.client) },
				late:     func(t *testing.T) { m.attachedAgain(t, impatient) },
				restart:  func(t *testing.T) { m.restart(t, c.client) },
				headless: func(t *testing.T) { m.lost(t, remote) },
				twice:    func(t *testing.T) { m.twice(t, c.client) },
			}, not: map[situation]string{dialog: noDialog, away: noDialog}}
			all = append(all, l)
		}
	}
	return all
}

const noDialog = "The client has no dialog for a question over MCP: only Askback asks it."

var (
	mcpQuestion = request{
		kind: question, tool: "ask_user_question", args: colour,
		yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`,
	}
	mcpPermission = request{
		kind: permission, tool: "confirm_action", args: wire,
		yes: askback.Answer{Decision: askback.Approve}, saysYes: approval,
		no: askback.Answer{Decision: askback.Deny, Reason: "not today"}, saysNo: "not today",
	}
)

// attachedAgain answers after the client has ended the call. The same call returns the answer.
func (m request) attachedAgain(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	release := f.model.hold("call_2")
	r := f.start(m.headless...)
	ask := f.Open(1)[0]
	m.want(f, "call_1", "")
	f.Idle()
	f.Answer(ask.ID, m.yes)
	release()
	m.want(f, "call_2", m.saysYes)
	r.end()
	f.wantAllAcked()
}

// lost kills Askback before the second call. This call then returns no answer.
func (m request) lost(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	release := f.model.hold("call_2")
	r := f.start(m.headless...)
	f.Answer(f.Open(1)[0].ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Kill()
	release()
	m.want(f, "call_2", "")
	r.end()
}
