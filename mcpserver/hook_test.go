package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
)

// hookEvent returns the event of a hook for the same tool as a prompt.
func hookEvent(t *testing.T, tool, input string) claudecode.Event {
	t.Helper()
	ev, err := claudecode.Read(fmt.Appendf(nil, `{"session_id": "s1", "prompt_id": "p1", "hook_event_name": "PermissionRequest", "tool_name": %q, "tool_input": %s}`, tool, input), "")
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func promptInput(tool, input string) string {
	return fmt.Sprintf(`{"tool_name": %q, "input": %s, "tool_use_id": "toolu_1"}`, tool, input)
}

// promptCases are calls of Claude Code that come through a hook, or through
// permission_prompt.
var promptCases = []struct{ name, tool, input string }{
	{"a command", "Bash", `{"command": "rm -rf build", "description": "Clean up", "timeout": 1.50}`},
	{"another server's tool", "mcp__github__create_issue", `{"title": "x <b>", "description": "why & how"}`},
	{"a tool with a name of two parts", "mcp__a__b__c", `{}`},
	{"questions", "AskUserQuestion", `{"questions": [{"question": " Which DB? ", "header": "DB", "options": [{"label": "a, b", "description": "", "preview": "<p>"}, {"label": "c", "description": ""}], "multiSelect": true}]}`},
	{"fields of a newer release", "AskUserQuestion", `{"questions": [{"question": "Which DB?", "header": "DB", "hint": "x", "options": [{"label": "a, b", "description": "", "icon": "y"}, {"label": "c", "description": ""}], "multiSelect": true}], "metadata": {"source": "plan"}}`},
	{"one choice with a preview", "AskUserQuestion", `{"questions": [{"question": "Which DB?", "header": "DB", "options": [{"label": "a, b", "description": "", "preview": "p"}, {"label": "c", "description": ""}], "multiSelect": false}]}`},
}

// A prompt and a hook for the same call make the same ask. The ask has the same questions, or the same
// confirmation with the same digest (C2, F7, F15).
func TestPromptAndHookMakeSameAsk(t *testing.T) {
	for _, test := range promptCases {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				ev := hookEvent(t, test.tool, test.input)
				call, ok := claudecode.Call(ev)
				if !ok {
					t.Fatal("the hook asks nothing")
				}
				want, err := f.engine.As(bot).Ask(t.Context(), call.Request)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.engine.As(bot).Cancel(t.Context(), want.ID, ""); err != nil {
					t.Fatal(err)
				}
				done := startCall(t.Context(), f.connectStdio("claude-code", withSessions, nil), "permission_prompt",
					promptInput(test.tool, test.input))
				got := f.pendingAsk()
				if diff := cmp.Diff(want.Questions, got.Questions); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(want.Confirmation, got.Confirmation); diff != "" {
					t.Error(diff)
				}
				if got.Agent != want.Agent {
					t.Errorf("asked by %q, want %q", got.Agent, want.Agent)
				}
				answer := askback.Answer{
					Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"a, b"}, Notes: "n"}},
					Comment: "thanks",
				}
				if got.Kind == askback.Confirm {
					answer = askback.Decide(askback.Approve, "")
				} else if got.Questions[0].MultiSelect {
					answer.Answers[0].Selected = []string{"a, b", "c"}
				}
				settled := f.answer(got.ID, answer)
				if got.Kind == askback.Questions {
					checkDecision(t, ev, settled, permissionReply(t, <-done))
				} else {
					<-done
				}
			})
		})
	}
}

// checkDecision checks that the arguments in the reply equal the arguments that the hook returns.
func checkDecision(t *testing.T, ev claudecode.Event, ask askback.Ask, got map[string]any) {
	t.Helper()
	call, ok := claudecode.Call(ev)
	if !ok {
		t.Fatal("the hook asks nothing")
	}
	out, ok := call.Decide(ask)
	var want struct {
		Output struct {
			Decision map[string]any `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &want); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(want.Output.Decision, got); diff != "" {
		t.Error(diff)
	}
}

// A standing approval that was made by a prompt covers calls through a hook, and vice versa (F8).
func TestGrantCoversPromptsAndHooks(t *testing.T) {
	const tool, input = "mcp__github__create_issue", `{"title": "x"}`
	anyInput := askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		cs := f.connectStdio("claude-code", withSessions, nil)
		done := startCall(t.Context(), cs, "permission_prompt", promptInput(tool, input))
		f.answer(f.pendingAsk().ID, anyInput)
		if got := permissionReply(t, <-done); got["behavior"] != "allow" {
			t.Fatalf("got %v", got)
		}
		call, _ := claudecode.Call(hookEvent(t, tool, `{"title": "y"}`))
		if ask, err := f.engine.As(bot).Ask(t.Context(), call.Request); err != nil || !ask.Outcome.Approved() {
			t.Errorf("from the prompt to the hook: got %+v, %v", ask.Outcome, err)
		}
		call, _ = claudecode.Call(hookEvent(t, "Bash", `{"command": "ls"}`))
		ask, err := f.engine.As(bot).Ask(t.Context(), call.Request)
		if err != nil {
			t.Fatal(err)
		}
		f.answer(ask.ID, anyInput)
		if got := permissionReply(
			t, callTool(t.Context(), cs, "permission_prompt", promptInput("Bash", `{"command": "pwd"}`)),
		); got["behavior"] != "allow" {
			t.Errorf("from the hook to the prompt: got %v", got)
		}
	})
}

// Questions whose options are missing are not asked, because they would be different
// questions. The model gets the reason (F3).
func TestQuestionsWithoutOptionsAreNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		const bare = `{"questions": [{"question": "Which DB?", "header": "DB", "alternatives": ["a", "b"]}]}`
		got := permissionReply(t, callTool(t.Context(), f.connectStdio("claude-code", withSessions, nil),
			"permission_prompt", promptInput("AskUserQuestion", bare)))
		if message, _ := got["message"].(string); got["behavior"] != "deny" ||
			!strings.Contains(message, "/questions/0/options") {
			t.Errorf("got %v", got)
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked %v", asks)
		}
	})
}

// A prompt may ask whether confirm_action of this server may be called. Only the prompt consumes this
// approval, even if other tools have returned the approval before.
func TestPromptForConfirmActionConsumesItsOwnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		cs := f.connectStdio("program", withSessions, nil)
		prompt := promptInput("mcp__askback__confirm_action", pay)
		callTool(t.Context(), cs, "permission_prompt", prompt)
		id := f.pendingAsk().ID
		f.answer(id, askback.Decide(askback.Approve, ""))
		callTool(t.Context(), cs, "wait_for_answer", `{"question_id": "`+id+`"}`)
		done := startCall(t.Context(), cs, "permission_prompt", prompt)
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := permissionReply(t, <-done); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
	})
}

// The hooks of a session withdraw the asks of its prompts once the tool has run or the turn is over. Hooks of
// other sessions do not withdraw the asks (F9).
func TestHookWithdrawsAskOfPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.options.ClaudeSession = "s1"
		f.restart()
		cs := f.connectStdio("claude-code", stateless, nil)
		const ls, rm = `{"command": "ls"}`, `{"command": "rm -rf build"}`
		startCall(t.Context(), cs, "permission_prompt", promptInput("Bash", ls))
		startCall(t.Context(), cs, "permission_prompt", promptInput("Bash", rm))
		for _, step := range []struct {
			name, session, input string
			left                 int
		}{
			{"PostToolUse", "s2", ls, 2},
			{"PostToolUse", "s1", `{"command": "other"}`, 2},
			{"PostToolUse", "s1", ls, 1},
			{"Stop", "s2", rm, 1},
			{"Stop", "s1", rm, 0},
		} {
			ev := hookEvent(t, "Bash", step.input)
			ev.Name, ev.SessionID, ev.ToolUseID = step.name, step.session, "toolu_1"
			job, err := claudecode.Handle(ev)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := new(hook.Runner).Do(t.Context(), "", f.engine.As(bot), job); err != nil {
				t.Fatal(err)
			}
			if got := len(f.pendingAsks()); got != step.left {
				t.Errorf("after %+v: %d are open", step, got)
			}
		}
	})
}
