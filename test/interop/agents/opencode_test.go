package agents_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/freeport"
)

const opencodeVersion = "1.18.33"

var opencode = client{
	program: "opencode-" + platform() + "/bin/opencode",
	init:    []string{"opencode"},
	args:    []string{"run", "--model", "scripted/model"},
	prepare: func(f *fixture) {
		// With this setting alone, opencode run rejects every tool call. The settings
		// of askback init must permit the tools of Askback.
		f.writeJSON("project/opencode.json", map[string]any{"permission": map[string]any{"*": "ask"}})
		f.writeJSON(".config/opencode/opencode.json", map[string]any{
			"provider": map[string]any{"scripted": map[string]any{
				"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
				"options": map[string]any{"baseURL": f.model.url, "apiKey": "x"},
				"models":  map[string]any{"model": map[string]any{"name": "Model"}},
			}},
		})
		// With a plugin, OpenCode waits until it has installed this package.
		installed := map[string]any{"dependencies": map[string]any{"@opencode-ai/plugin": opencodeVersion}}
		f.writeJSON(".config/opencode/package.json", installed)
		f.writeJSON(".config/opencode/package-lock.json",
			map[string]any{"lockfileVersion": 3, "packages": map[string]any{"": installed}})
		f.write(".config/opencode/node_modules/.keep", nil)
	},
	unless: []string{"registry.npmjs.org"}, // contains the types of plugins
	environ: func(*fixture) []string {
		return []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_CLAUDE_CODE=1",
		}
	},
}

// database is a question of OpenCode's own tool.
var database = map[string]any{"questions": []any{map[string]any{
	"question": "Which database?", "header": "DB",
	"options": []any{map[string]any{"label": "PostgreSQL", "description": "server"}, map[string]any{
		"label": "SQLite", "description": "file",
	}},
}}}

// touch is a call that makes a file.
func touch(id, name string) call {
	return call{id, "bash", map[string]any{"command": "touch " + name, "description": "Make a file"}}
}

// At the terminal, the questions and permissions of OpenCode are asked in Askback as well, and the first
// reply counts. The same question is asked twice, and Askback may be killed in between.
func TestOpenCodeAsksAtTheTerminalAndInAskback(t *testing.T) {
	t.Parallel()
	f := newFixture(t, opencode,
		call{"call_1", "question", database}, call{"call_2", "question", database},
		call{"call_3", "question", database})
	s := f.startTerminal("--model", "scripted/model", "--prompt", "Do it.")
	result := func(id, want string) {
		t.Helper()
		if got := f.model.result(id); !strings.Contains(got, want) {
			t.Errorf("%s: the model got %q, want %q", id, got, want)
		}
	}
	first := f.Open(1)[0]
	if first.Agent != "opencode · project" || first.Questions[0].Text != "Which database?" ||
		!strings.Contains(string(first.Context), f.project) {
		t.Errorf("got %+v", first)
	}
	f.Answer(first.ID, askback.Choose("SQLite"))
	result("call_1", "SQLite")

	second := f.Open(1)[0]
	f.decides(s, "esc dismiss", "Enter", second.ID) // the first option
	result("call_2", "PostgreSQL")

	third := f.Open(1)[0]
	if _, err := f.Person.Decline(bounded(t), third.ID, ""); err != nil {
		t.Fatal(err)
	}
	// OpenCode then ends the turn without another request to the model.
	f.eventually("the dialog is closed", func() error {
		if strings.Contains(s.Text(), "esc dismiss") {
			return errors.New("it is open")
		}
		return nil
	})
}

// Permissions of OpenCode at the terminal are approved and denied in Askback, decided first in the dialog,
// and decided after Askback was killed in between.
func TestPermissionsOfOpenCodeAreDecidedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, opencode, touch("call_1", "one"), touch("call_2", "two"), touch("call_3", "three"),
		touch("call_4", "four"))
	s := f.startTerminal("--model", "scripted/model", "--prompt", "Do it.")
	first := f.Open(1)[0]
	if c := first.Confirmation; c == nil || c.ToolName != "bash" || !c.NoEdit ||
		!strings.Contains(string(c.Input), "touch one") {
		t.Errorf("got %+v", c)
	}
	f.Answer(first.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_1")

	second := f.Open(1)[0]
	f.decides(s, "Allow once", "Enter", second.ID)
	f.model.result("call_2")

	third := f.Open(1)[0]
	f.Restart()
	f.Answer(third.ID, askback.Answer{Decision: askback.Approve})
	f.model.result("call_3")

	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not in this folder"})
	if got := f.model.result("call_4"); !strings.Contains(got, "not in this folder") {
		t.Errorf("denied: the model got %q", got)
	}
	for name, want := range map[string]bool{"one": true, "two": true, "three": true, "four": false} {
		if f.exists("project/"+name) != want {
			t.Errorf("%s exists: %v, want %v", name, !want, want)
		}
	}
}

// gated is OpenCode with the gate for opencode run, and with rules that ask about all tools.
func gated(environ ...string) client {
	c := opencode
	c.prepare = func(f *fixture) {
		opencode.prepare(f)
		f.writeJSON("project/opencode.json", map[string]any{
			"permission": map[string]any{"*": "ask"},
			"plugin":     []any{[]any{"./.askback/opencode.js", map[string]any{"gate": true}}},
		})
	}
	c.environ = func(f *fixture) []string { return append(opencode.environ(f), environ...) }
	return c
}

// In opencode run, each call waits for its approval, even if Askback is killed in between.
func TestGateOfOpenCodeRunsOnlyApprovedCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gated(), touch("call_1", "one"), touch("call_2", "two"), touch("call_3", "three"),
		touch("call_4", "four"))
	r := f.start("Do it.")
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	f.Answer(f.Open(1)[0].ID, askback.Answer{
		Decision: askback.Approve, Input: []byte(`{"command":"touch edited","description":"Make a file"}`),
	})
	third := f.Open(1)[0]
	if f.exists("project/three") {
		t.Error("the call ran without an approval")
	}
	f.Restart()
	f.Answer(third.ID, askback.Answer{Decision: askback.Approve})
	f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
	if got := f.model.result("call_4"); !strings.Contains(got, "not on a Friday") {
		t.Errorf("denied: the model got %q", got)
	}
	r.end()
	for name, want := range map[string]bool{"one": true, "two": false, "edited": true, "three": true, "four": false} {
		if f.exists("project/"+name) != want {
			t.Errorf("%s exists: %v, want %v", name, !want, want)
		}
	}
}

// While Askback does not run, the gate blocks every call.
func TestGateOfOpenCodeBlocksWithoutAskback(t *testing.T) {
	t.Parallel()
	away := fmt.Sprintf("ASKBACK_URL=http://127.0.0.1:%d", freeport.Pick(t))
	f := newFixture(t, gated(away, "ASKBACK_TOKEN=x"), touch("call_1", "one"))
	r := f.start("Do it.")
	if got := f.model.result("call_1"); !strings.Contains(got, "This call was not run") {
		t.Errorf("the model got %q", got)
	}
	r.end()
	if f.exists("project/one") {
		t.Error("the call ran without an approval")
	}
}
