package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
)

// event is a call of a hook for the same tool as a prompt.
func event(t *testing.T, tool, input string) claudehook.Event {
	t.Helper()
	ev, err := claudehook.Read(fmt.Appendf(nil, `{"session_id": "s1", "prompt_id": "p1", "hook_event_name": "PermissionRequest", "tool_name": %q, "tool_input": %s}`, tool, input), "")
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func promptOf(tool, input string) string {
	return fmt.Sprintf(`{"tool_name": %q, "input": %s, "tool_use_id": "toolu_1"}`, tool, input)
}

// calls are calls of Claude Code that come through a hook, or through
// permission_prompt where nobody sits: by name, the tool, and its arguments.
var calls = []struct{ name, tool, input string }{
	{"a command", "Bash", `{"command": "rm -rf build", "description": "Clean up", "timeout": 1.50}`},
	{"another server's tool", "mcp__github__create_issue", `{"title": "x <b>", "description": "why & how"}`},
	{"a tool with a name of two parts", "mcp__a__b__c", `{}`},
	{"questions", "AskUserQuestion", `{"questions": [{"question": " Which DB? ", "header": "DB", "options": [{"label": "a, b", "description": "", "preview": "<p>"}, {"label": "c", "description": ""}], "multiSelect": true}]}`},
	{"fields of a newer release", "AskUserQuestion", `{"questions": [{"question": "Which DB?", "header": "DB", "hint": "x", "options": [{"label": "a, b", "description": "", "icon": "y"}, {"label": "c", "description": ""}], "multiSelect": true}], "metadata": {"source": "plan"}}`},
	{"one choice with a preview", "AskUserQuestion", `{"questions": [{"question": "Which DB?", "header": "DB", "options": [{"label": "a, b", "description": "", "preview": "p"}, {"label": "c", "description": ""}], "multiSelect": false}]}`},
}

// The same call is the same ask at both doors: the same questions, or the same
// confirmation with the same digest (C2, F7, F15).
func TestAPromptAsksAsTheHookDoes(t *testing.T) {
	for _, test := range calls {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				ev := event(t, test.tool, test.input)
				r, ok := claudehook.Request(ev)
				if !ok {
					t.Fatal("the hook asks nothing")
				}
				want, err := d.engine.As(bot).Ask(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.engine.As(bot).Cancel(t.Context(), want.ID, ""); err != nil {
					t.Fatal(err)
				}
				done := start(t.Context(), d.stdio("claude-code", legacy, nil), "permission_prompt", promptOf(test.tool, test.input))
				got := d.only()
				if diff := cmp.Diff(want.Questions, got.Questions); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(want.Confirmation, got.Confirmation); diff != "" {
					t.Error(diff)
				}
				if got.Agent != want.Agent {
					t.Errorf("asked by %q, want %q", got.Agent, want.Agent)
				}
				answer := askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"a, b"}, Notes: "n"}}, Comment: "thanks"}
				if got.Kind == askback.Confirm {
					answer = askback.Decide(askback.Approve, "")
				} else if got.Questions[0].MultiSelect {
					answer.Answers[0].Selected = []string{"a, b", "c"}
				}
				settled := d.answer(got.ID, answer)
				if got.Kind == askback.Questions {
					said(t, ev, settled, decided(t, <-done))
				} else {
					<-done
				}
			})
		})
	}
}

// said checks that the arguments that come back are those of the hook.
func said(t *testing.T, ev claudehook.Event, ask askback.Ask, got map[string]any) {
	t.Helper()
	out, ok := claudehook.Decision(ev, ask)
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

// A standing approval that was made at one door holds at the other (F8).
func TestAGrantHoldsAtBothDoors(t *testing.T) {
	const tool, input = "mcp__github__create_issue", `{"title": "x"}`
	anyInput := askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		cs := d.stdio("claude-code", legacy, nil)
		done := start(t.Context(), cs, "permission_prompt", promptOf(tool, input))
		d.answer(d.only().ID, anyInput)
		if got := decided(t, <-done); got["behavior"] != "allow" {
			t.Fatalf("got %v", got)
		}
		r, _ := claudehook.Request(event(t, tool, `{"title": "y"}`))
		if ask, err := d.engine.As(bot).Ask(t.Context(), r); err != nil || !ask.Outcome.Approved() {
			t.Errorf("from the prompt to the hook: got %+v, %v", ask.Outcome, err)
		}
		r, _ = claudehook.Request(event(t, "Bash", `{"command": "ls"}`))
		ask, err := d.engine.As(bot).Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		d.answer(ask.ID, anyInput)
		if got := decided(t, call(t.Context(), cs, "permission_prompt", promptOf("Bash", `{"command": "pwd"}`))); got["behavior"] != "allow" {
			t.Errorf("from the hook to the prompt: got %v", got)
		}
	})
}

// Questions whose options are not understood are other questions: nobody is asked
// them, and the model is told why (F3).
func TestQuestionsWithoutTheirOptionsAreNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		const bare = `{"questions": [{"question": "Which DB?", "header": "DB", "alternatives": ["a", "b"]}]}`
		got := decided(t, call(t.Context(), d.stdio("claude-code", legacy, nil), "permission_prompt", promptOf("AskUserQuestion", bare)))
		if message, _ := got["message"].(string); got["behavior"] != "deny" || !strings.Contains(message, "/questions/0/options") {
			t.Errorf("got %v", got)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("asked %v", asks)
		}
	})
}

// The permission to call our own confirm_action, from whatever server, is used up by
// its prompt alone, whatever the model reads before.
func TestAPromptForConfirmActionIsAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		cs := d.stdio("program", legacy, nil)
		prompt := promptOf("mcp__askback__confirm_action", pay)
		call(t.Context(), cs, "permission_prompt", prompt)
		id := d.only().ID
		d.answer(id, askback.Decide(askback.Approve, ""))
		call(t.Context(), cs, "wait_for_answer", `{"question_id": "`+id+`"}`)
		done := start(t.Context(), cs, "permission_prompt", prompt)
		if asks := d.open(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := decided(t, <-done); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
	})
}

// What a prompt asked is withdrawn by the hooks of its session once its tool ran by
// somebody else's word, or the turn is over; not by those of another (F9).
func TestAHookRetiresWhatAPromptAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.options.ClaudeSession = "s1"
		d.restart()
		cs := d.stdio("claude-code", modern, nil)
		const ls, rm = `{"command": "ls"}`, `{"command": "rm -rf build"}`
		start(t.Context(), cs, "permission_prompt", promptOf("Bash", ls))
		start(t.Context(), cs, "permission_prompt", promptOf("Bash", rm))
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
			ev := event(t, "Bash", step.input)
			ev.Name, ev.SessionID, ev.ToolUseID = step.name, step.session, "toolu_1"
			if _, err := claudehook.Run(t.Context(), d.engine.As(bot), ev); err != nil {
				t.Fatal(err)
			}
			if got := len(d.open()); got != step.left {
				t.Errorf("after %+v: %d are open", step, got)
			}
		}
	})
}
