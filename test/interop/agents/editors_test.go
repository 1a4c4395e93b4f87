package agents_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// zed is the Claude agent of Zed. It runs Claude Code, whose pinned version is used.
var zed = client{
	packages: "editors",
	program:  "@agentclientprotocol/claude-agent-acp/dist/index.js",
	prepare: func(f *fixture) {
		claude.prepare(f)
		f.writeJSON(".claude/settings.json",
			map[string]any{"permissions": map[string]any{"defaultMode": "default", "ask": []string{"Bash"}}})
	},
	environ: func(f *fixture) []string {
		return append(claude.environ(f), "CLAUDE_CODE_EXECUTABLE="+
			filepath.Join(clienttest.Packages(f.t), "node_modules", filepath.FromSlash(claude.program)))
	},
}

var qwen = client{
	packages: "editors",
	program:  "@qwen-code/qwen-code/cli-entry.js",
	prepare:  func(f *fixture) { f.configureQwen(map[string]any{}) },
	environ: func(f *fixture) []string {
		return []string{
			"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + f.model.url, "OPENAI_MODEL=scripted", "QWEN_CODE_NO_RELAUNCH=true",
		}
	},
}

// configureQwen writes the settings of Qwen Code, with MCP servers.
func (f *fixture) configureQwen(servers map[string]any) {
	f.t.Helper()
	f.writeJSON(".qwen/settings.json", map[string]any{
		"security":   map[string]any{"auth": map[string]any{"selectedType": "openai"}},
		"general":    map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":    map[string]any{"usageStatisticsEnabled": false},
		"telemetry":  map[string]any{"enabled": false},
		"tools":      map[string]any{"approvalMode": "default"},
		"mcpServers": servers,
	})
}

// Qwen Code calls the tools of Askback without a terminal if it trusts the server. Otherwise it declines the
// calls, and no one is asked.
func TestQwenAsksOverMCPIfItTrustsTheServer(t *testing.T) {
	t.Parallel()
	for name, trust := range map[string]bool{"trusted": true, "untrusted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := qwen
			c.args = []string{"--prompt"}
			c.prepare = func(f *fixture) {
				f.configureQwen(map[string]any{"askback": map[string]any{
					"command": "askback", "args": []string{"mcp"}, "trust": trust, "alwaysLoadTools": true,
				}})
			}
			f := newFixture(t, c, call{"call_1", "confirm_action", wire})
			r := f.start("Do it.")
			if trust {
				ask := f.Open(1)[0]
				if ask.Agent != "qwen · project" {
					t.Errorf("the agent is %q", ask.Agent)
				}
				f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			}
			got := f.model.result("call_1")
			if strings.Contains(got, "Approved by ") != trust {
				t.Errorf("the model read %q", got)
			}
			r.end()
			page, err := f.Person.List(bounded(t), askback.Query{Status: askback.AnyStatus})
			if err != nil || (len(page.Items) == 1) != trust {
				t.Errorf("got %d asks, %v", len(page.Items), err)
			}
		})
	}
}

// The agents that editors run ask their questions as one ask, with descriptions, and get the answers, also in
// own words. Their permissions are approvals.
func TestAgentsInEditorsAskQuestions(t *testing.T) {
	t.Parallel()
	option := func(label string) map[string]any {
		return map[string]any{"label": label, "description": "this is " + label}
	}
	question := func(text string, multi bool, labels ...string) map[string]any {
		options := []any{}
		for _, label := range labels {
			options = append(options, option(label))
		}
		return map[string]any{"question": text, "header": "Topic", "options": options, "multiSelect": multi}
	}
	questions := map[string]any{"questions": []any{
		question("Which database?", false, "SQLite", "PostgreSQL"), question("Which regions?", true, "eu", "us"),
		question("Which name?", false, "orders", "sales"),
	}}
	makeFile := map[string]any{"command": "touch one", "description": "Make a file"}
	makeFileOfQwen := map[string]any{"command": "touch one", "description": "Make a file", "is_background": false}
	for name, c := range map[string]struct {
		client     client
		label      string
		args       []string
		ask, shell call
	}{
		"zed": {
			zed, "claude-code", nil, call{"call_1", "AskUserQuestion", questions}, call{"call_2", "Bash", makeFile},
		},
		"qwen": {
			qwen, "qwen-code",
			[]string{"--acp"},
			call{"call_1", "ask_user_question", questions},
			call{"call_2", "run_shell_command", makeFileOfQwen},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.client, c.ask, c.shell)
			e := f.edit(c.args...)
			e.prompt("Do it.")
			ask := f.Open(1)[0]
			if q := ask.Questions; ask.Agent != c.label+" · project" || len(q) != 3 || q[1].Text != "Which regions?" ||
				!q[1].MultiSelect || q[0].Options[0].Description != "this is SQLite" {
				t.Fatalf("got the ask %+v of %s", ask, ask.Agent)
			}
			f.Answer(ask.ID, askback.Answer{Answers: []askback.QuestionAnswer{
				{ID: "q1", Selected: []string{"SQLite"}},
				{ID: "q2", Selected: []string{"eu", "us"}},
				{ID: "q3", Other: "purchases, all"},
			}})
			got := f.model.result("call_1")
			for _, want := range []string{"SQLite", "eu, us", "purchases, all"} {
				if !strings.Contains(got, want) {
					t.Errorf("the model read %q, want %q in it", got, want)
				}
			}
			e.received("the end of the dialog", func(m editorMessage) bool { return m.Method == "$/cancel_request" })

			ask = f.Open(1)[0]
			if k := ask.Confirmation; k == nil || !strings.Contains(string(k.Input), "touch one") {
				t.Fatalf("got the ask %+v", ask)
			}
			f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			f.model.result("call_2")
			if !f.exists("project/one") {
				t.Error("approved in Askback: the command did not run")
			}
			if err := e.in.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
