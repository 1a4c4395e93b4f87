package claudecode_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// installPlugin installs the plugin in this repository, as a user installs it from a clone.
func (f *fixture) installPlugin() {
	f.t.Helper()
	f.in(f.claude, "plugin", "marketplace", "add", f.root())
	f.in(f.claude, "plugin", "install", "askback@askback")
}

// root returns the folder of this repository.
func (f *fixture) root() string {
	root, err := filepath.Abs("../../..")
	if err != nil {
		f.t.Fatal(err)
	}
	return root
}

const pluginTool = "mcp__plugin_askback_askback__ask_user_question"

// The plugin has the effect of askback init. People answer a question over MCP, for which Claude Code shows
// no dialog, a question of Claude Code and a permission (F9).
func TestPluginAsksPeople(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{plugin: true},
		calls("toolu_1", pluginTool, database()), calls("toolu_2", "AskUserQuestion", database()),
		bash("toolu_3", "touch approved"), bash("toolu_4", "touch denied"), text("Thank you."))
	s := f.startTerminal("--permission-mode", "default", "Ask me.")
	f.Answer(f.Open(1)[0].ID, askback.Choose("SQLite"))
	f.wantResult("toolu_1", `{"Which database?":"SQLite"}`)
	f.Answer(f.Open(1)[0].ID, askback.Choose("PostgreSQL"))
	f.wantResult("toolu_2", `"Which database?"="PostgreSQL"`)
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	f.wantResult("toolu_3", "")
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	f.wantErrorResult("toolu_4", "not on a Friday")
	s.waitFor("Thank you.")
	if !f.fileExists("approved") || f.fileExists("denied") {
		t.Error("the approved tool did not run, or the denied one did")
	}
	if out := string(
		f.in(f.claude, "plugin", "validate", filepath.Join(f.root(), "plugin", "claude-code")),
	); !strings.Contains(out, "commands: askback:askback") || !strings.Contains(out, "skills: askback:ask-people") {
		t.Errorf("got %s", out)
	}
}

// With the plugin and the hooks of askback init, people are asked once, and one decision is
// enough (F9).
func TestPluginAndInitTogetherAskOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{plugin: true}, bash("toolu_1", "touch approved"),
		calls("toolu_2", "AskUserQuestion", database()), bash("toolu_3", "touch denied"), text("Thank you."))
	f.in(f.Program, "init", "claude-code")
	s := f.startTerminal("--permission-mode", "default", "Do it.")
	s.startWith("touch approved")
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	f.wantResult("toolu_1", "")
	if !f.fileExists("approved") {
		t.Error("the approved tool did not run")
	}
	f.Answer(f.Open(1)[0].ID, askback.Choose("SQLite"))
	f.wantResult("toolu_2", `"Which database?"="SQLite"`)
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	f.wantErrorResult("toolu_3", "not on a Friday")
	s.waitFor("Thank you.")
	page, err := f.Person.List(bounded(t), askback.Query{Status: askback.AnyStatus})
	if err != nil || len(page.Items) != 3 {
		t.Errorf("got %d asks, %v", len(page.Items), err)
	}
}
