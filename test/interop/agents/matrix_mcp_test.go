package agents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// mcpLanes returns the lanes of the tools ask_user_question and confirm_action, which are the
// same in each client.
func mcpLanes() []lane {
	var all []lane
	for _, c := range []struct {
		agent  string
		client client
		// impatient replaces the timeout of the client by a short one, in a file of the
		// home folder.
		file, before, after string
	}{
		{"Claude Code", claude, "project/.mcp.json", "86400000", "4000"},
		{"Codex", codex, ".codex/config.toml", "86400", "4"},
		{"GitHub Copilot CLI", copilot, "project/.mcp.json", "86400000", "4000"},
		{"Gemini CLI", gemini, "project/.gemini/settings.json", "86400000", "4000"},
		{"OpenCode", opencode, "project/opencode.json", `"enabled": true`, `"enabled": true, "timeout": 4000`},
	} {
		impatient := c.client
		impatient.configured = func(f *fixture) { f.change(c.file, c.before, c.after) }
		remote := c.client
		remote.remote = true
		for _, m := range []mcpRequest{mcpQuestion, mcpPermission} {
			l := lane{agent: c.agent, kind: m.kind, by: "MCP", cells: map[situation]func(*testing.T){
				inTime:   func(t *testing.T) { m.inTime(t, c.client) },
				late:     func(t *testing.T) { m.late(t, impatient) },
				restart:  func(t *testing.T) { m.restart(t, c.client) },
				headless: func(t *testing.T) { m.away(t, remote) },
				twice:    func(t *testing.T) { m.twice(t, c.client) },
			}, not: map[situation]string{dialog: noDialog, away: noDialog}}
			all = append(all, l)
		}
	}
	return all
}

const noDialog = "The client has no dialog for a question over MCP: only Askback asks it."

// An mcpRequest is a request by a tool over MCP.
type mcpRequest struct {
	kind string
	tool string
	args any
	// yes and no are answers, and saysYes and saysNo are in their results. never is in none.
	yes, no                askback.Answer
	saysYes, saysNo, never string
}

var (
	mcpQuestion = mcpRequest{
		kind: question, tool: "ask_user_question", args: colour,
		yes: askback.Choose("red"), saysYes: `"red"`, no: askback.Choose("green"), saysNo: `"green"`, never: `"blue"`,
	}
	mcpPermission = mcpRequest{
		kind: permission, tool: "confirm_action", args: wire,
		yes: askback.Answer{Decision: askback.Approve}, saysYes: approval,
		no: askback.Answer{Decision: askback.Deny, Reason: "not today"}, saysNo: "not today", never: "wired",
	}
)

// option matches an option of a question in JSON.
var option = regexp.MustCompile(`{"label":"\w+"}`)

func (m mcpRequest) call(id string) call { return call{id, m.tool, m.args} }

// want requires that the result of a call has only the wanted answer, or none.
func (m mcpRequest) want(f *fixture, id, want string) {
	f.t.Helper()
	// Codex reads the structured content of a result, OpenCode the text, Copilot both.
	result := strings.ReplaceAll(f.model.result(id), "Approved by ", approval)
	result = option.ReplaceAllString(result, "") // Gemini CLI repeats the call in an error
	only(f.t, result, want, m.saysYes, m.saysNo, m.never)
}

func (m mcpRequest) inTime(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	r := f.start("Do it.")
	f.Answer(f.Open(1)[0].ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	r.end()
}

// twice asks the same two times, on purpose, with different answers.
func (m mcpRequest) twice(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Answer(f.openAfter(ask).ID, m.no)
	m.want(f, "call_2", m.saysNo)
	r.end()
	f.wantAllAcked()
	r = f.start("Do it again.")
	f.Answer(f.openAfter(ask).ID, m.no)
	f.Answer(f.openAfter(ask).ID, m.no)
	r.end()
	m.want(f, "call_1", m.saysNo)
}

// late answers after the client has ended the call. The same call returns the answer.
func (m mcpRequest) late(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	release := f.model.hold("call_2")
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	m.want(f, "call_1", "")
	f.Answer(ask.ID, m.yes)
	release()
	m.want(f, "call_2", m.saysYes)
	r.end()
	f.wantAllAcked()
}

func (m mcpRequest) restart(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"))
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	f.Restart()
	if got := f.Open(1)[0]; got.ID != ask.ID {
		t.Errorf("after the restart %s is open, want %s", got.ID, ask.ID)
	}
	f.Answer(ask.ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	r.end()
}

// away kills Askback before the second call.
func (m mcpRequest) away(t *testing.T, c client) {
	f := newFixture(t, c, m.call("call_1"), m.call("call_2"))
	release := f.model.hold("call_2")
	r := f.start("Do it.")
	f.Answer(f.Open(1)[0].ID, m.yes)
	m.want(f, "call_1", m.saysYes)
	f.Kill()
	release()
	m.want(f, "call_2", "")
	r.end()
}

// change replaces a string, which must occur, in a file of the home folder.
func (f *fixture) change(name, before, after string) {
	f.t.Helper()
	path := filepath.Join(f.Home, filepath.FromSlash(name))
	raw, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(raw), before) {
		f.t.Fatalf("%s has no %s:\n%s", name, before, raw)
	}
	f.write(name, []byte(strings.ReplaceAll(string(raw), before, after)))
}
