package agents_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// guardPolicy is the policy of docs/agents.md that leaves the decision to the guard.
const guardPolicy = `[[rule]]
toolName = ["run_shell_command", "write_file", "replace"]
decision = "allow"
priority = 100
allowRedirection = true
`

// guardedGemini returns Gemini CLI with a guard, in a folder with a policy that leaves decisions to the
// guard.
func guardedGemini() client {
	c := gemini
	c.init = []string{"gemini", "--gate"}
	prepare := gemini.prepare
	c.prepare = func(f *fixture) {
		prepare(f)
		f.write(".gemini/policies/guard.toml", []byte(guardPolicy))
	}
	return c
}

// geminiGuard is the guard that askback init gemini --gate writes.
var geminiGuard = hookLane{
	agent: "gemini · project", client: guardedGemini(),
	// The limit of the hook is shorter than the timeout of the client, which would run the tool.
	impatient: func(f *fixture) { f.change("project/.gemini/settings.json", "23h59m", "3s") },
	shell: func(id, command string) call {
		return call{id, "run_shell_command", map[string]any{"command": command, "description": "Make a file"}}
	},
}

// geminiQuestions is the hook that askback init gemini writes.
var geminiQuestions = hookLane{
	agent: "gemini · project", client: gemini,
	impatient: func(f *fixture) { f.change("project/.gemini/settings.json", "86400000", "3000") },
	ask: func(id string) call {
		return call{id, "ask_user", map[string]any{"questions": []any{map[string]any{
			"question": "Which colour now?", "header": "Colour", "type": "choice",
			"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{
				"label": "green", "description": "fresh",
			}},
		}}}}
	},
	terminal: []string{"--model", "gemini-2.5-pro", "--prompt-interactive"},
	pick:     []string{"Down", "Enter"},
}

const geminiWaits = "Gemini CLI shows no dialog while its hook waits."

func geminiLanes() []lane {
	questions := geminiQuestions.questionCells()
	permissions := geminiGuard.permissionCells()
	maps.Copy(permissions, map[situation]func(*testing.T){inTime: decidedAndEditedInGemini})
	return []lane{
		{agent: "Gemini CLI", kind: permission, by: "guard (--gate)", cells: permissions, not: map[situation]string{
			dialog: geminiWaits, away: "Without Askback, a guard blocks the call at the terminal too.",
		}},
		{agent: "Gemini CLI", kind: question, by: "hook of ask_user", cells: questions, not: map[situation]string{
			dialog: geminiWaits, headless: "gemini -p does not offer the tool ask_user.",
		}},
	}
}

// decidedAndEditedInGemini approves a call, approves another with edited arguments, and denies a third.
func decidedAndEditedInGemini(t *testing.T) {
	geminiGuard.decided(t)
	f := newFixture(t, geminiGuard.client, geminiGuard.touch("call_1", "one"))
	r := f.start("Do it.")
	f.Answer(f.Open(1)[0].ID, askback.Answer{
		Decision: askback.Approve,
		Input:    json.RawMessage(`{"command":"touch edited && touch second","description":"Make two files"}`),
	})
	f.wantTouched("call_1", "one", false)
	if !f.touched("edited") || !f.touched("second") {
		t.Error("the edited command did not run")
	}
	r.end()
}

// If the guard of Gemini CLI fails in any way, the call is blocked.
func TestFailedGeminiGuardBlocks(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture){
		"the program is missing": func(f *fixture) {
			f.change("project/.gemini/settings.json", "askback hook gemini --gate",
				"askback-is-missing hook gemini --gate")
		},
		"an unknown flag": func(f *fixture) { f.change("project/.gemini/settings.json", "--gate", "--gate --unknown") },
		"the program is killed": func(f *fixture) {
			f.change("project/.gemini/settings.json", "askback hook gemini --gate",
				"sh -c 'kill -9 $$' hook gemini --gate")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := geminiGuard.client
			c.configured = change
			f := newFixture(t, c, geminiGuard.touch("call_1", "one"))
			r := f.start("Do it.")
			if result := f.wantTouched("call_1", "one", false); !strings.Contains(result, "blocked") {
				t.Errorf("the model got %q, want it blocked", result)
			}
			r.end()
		})
	}
}

// askback init changes no policy. Without a policy, gemini -p does not even offer the guarded tools.
func TestInitAllowsNoToolOfGemini(t *testing.T) {
	t.Parallel()
	c := gemini
	c.init = []string{"gemini", "--gate"}
	f := newFixture(t, c, geminiGuard.touch("call_1", "one"))
	f.start("Do it.").end()
	f.model.mu.Lock()
	defer f.model.mu.Unlock()
	if got := f.model.unexpected; len(got) == 0 || !strings.Contains(got[0], "run_shell_command is not offered") ||
		f.touched("one") {
		t.Errorf("got the requests %v, want none with the tool", got)
	}
	f.model.unexpected = nil
}

// The guard of Gemini CLI asks about each tool except tools that only read (T48).
func TestGeminiGuardDoesNotAskAboutReading(t *testing.T) {
	t.Parallel()
	c := geminiGuard.client
	prepare := c.prepare
	c.prepare = func(f *fixture) {
		prepare(f)
		f.write("project/note.txt", []byte("the colour is red\n"))
		f.write(".gemini/policies/guard.toml",
			[]byte(strings.Replace(guardPolicy, `"replace"`, `"replace", "invoke_agent"`, 1)))
	}
	f := newFixture(t, c,
		call{"call_1", "read_file", map[string]any{"file_path": "note.txt"}},
		call{"call_2", "invoke_agent", map[string]any{"agent_name": "codebase_investigator", "prompt": "Look around."}},
	)
	r := f.start("Do it.")
	if result := f.model.result("call_1"); !strings.Contains(result, "the colour is red") {
		t.Errorf("the model got %q, want the file", result)
	}
	ask := f.Open(1)[0]
	if ask.Confirmation == nil || ask.Confirmation.ToolName != "invoke_agent" {
		t.Errorf("got the ask %+v", ask)
	}
	f.Answer(ask.ID, refuse)
	if result := f.model.result("call_2"); !strings.Contains(result, "blocked") {
		t.Errorf("the model got %q, want it blocked", result)
	}
	r.end()
}

// The guard of Gemini CLI does not ask about the tools of Askback (T47).
func TestGeminiGuardAllowsQuestions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, geminiGuard.client, call{"call_1", "ask_user_question", colour})
	r := f.start("Do it.")
	ask := f.Open(1)[0]
	if ask.Confirmation != nil {
		t.Fatalf("got %+v, want a question", ask.Confirmation)
	}
	f.Answer(ask.ID, askback.Choose("red"))
	if got := f.model.result("call_1"); !strings.Contains(got, "red") {
		t.Errorf("the model got %q", got)
	}
	r.end()
}
