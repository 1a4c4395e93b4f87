package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

const bash = `{"tool_name": "Bash", "input": {"command": "rm -rf build", "n": 1}, "tool_use_id": "toolu_1"}`

// permissionReply parses a reply as Claude Code does.
func permissionReply(t *testing.T, r reply) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.text(t)), &m); err != nil {
		t.Fatalf("%s: %v", r.text(t), err)
	}
	return m
}

// A tool may run once, with the original arguments or with arguments that the approving person edited (D1,
// F7).
func TestToolRunsWithApprovedArguments(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, test := range []struct {
			answer askback.Answer
			want   map[string]any
		}{
			{askback.Decide(askback.Approve, ""), map[string]any{
				"behavior": "allow", "updatedInput": map[string]any{"command": "rm -rf build", "n": 1.0},
			}},
			{
				askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command": "ls build", "n": 2}`)},
				map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "ls build", "n": 2.0}},
			},
			{askback.Decide(askback.Deny, "keep it"), map[string]any{
				"behavior": "deny", "message": `Denied by "ana": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: "keep it".`,
			}},
		} {
			done := startCall(t.Context(), cs, "permission_prompt", bash)
			ask := f.pendingAsk()
			if c := ask.Confirmation; c == nil || c.ToolName != "Bash" ||
				string(c.Input) != `{"command":"rm -rf build","n":1}` {
				t.Errorf("asked %+v", c)
			}
			settled := f.answer(ask.ID, test.answer)
			if diff := cmp.Diff(test.want, permissionReply(t, <-done)); diff != "" {
				t.Error(diff)
			}
			if settled.Outcome.Approved() {
				if _, err := f.engine.As(bot).Consume(t.Context(), ask.ID, settled.Outcome.Digest); err == nil {
					t.Error("the approval was not consumed")
				}
			}
		}
	})
}

// Two concurrent prompts for the same call need two approvals: each is consumed once.
func TestConcurrentPromptsDoNotShareAnApproval(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		first := startCall(t.Context(), cs, "permission_prompt", bash)
		second := startCall(t.Context(), cs, "permission_prompt", strings.Replace(bash, "toolu_1", "toolu_2", 1))
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Deny, "once is enough"))
		a, b := permissionReply(t, <-first)["behavior"], permissionReply(t, <-second)["behavior"]
		if a == b {
			t.Errorf("both got %v", a)
		}
	})
}

// Without a decision, the tool may not run. A later decision is used for the same tool and
// arguments, whatever other tools returned meanwhile.
func TestPromptWithoutDecisionDenies(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		got := permissionReply(t, callTool(t.Context(), cs, "permission_prompt", bash))
		ask := f.pendingAsk()
		if message, _ := got["message"].(string); got["behavior"] != "deny" || !strings.Contains(message, ask.ID) ||
			!strings.Contains(message, "wait_for_answer") {
			t.Errorf("got %v", got)
		}
		f.answer(ask.ID, askback.Decide(askback.Approve, ""))
		callTool(t.Context(), cs, "wait_for_answer", `{"question_id": "`+ask.ID+`"}`)
		if got := permissionReply(
			t, callTool(t.Context(), cs, "permission_prompt", strings.Replace(bash, "toolu_1", "toolu_9", 1)),
		); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
		done := startCall(t.Context(), cs, "permission_prompt", bash)
		if again := f.pendingAsk().ID; again == ask.ID {
			t.Error("one approval twice")
		}
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Deny, ""))
		<-done
	})
}

// With an idempotency key of the client, each run still needs its own approval.
func TestPromptIgnoresClientKey(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		seen := map[string]bool{}
		for range 2 {
			done := make(chan reply, 1)
			go func() {
				p := &mcp.CallToolParams{Name: "permission_prompt", Arguments: json.RawMessage(bash)}
				p.Meta = mcp.Meta{"askback/idempotency-key": "k"}
				r, err := cs.CallTool(t.Context(), p)
				done <- reply{r, err}
			}()
			synctest.Wait()
			seen[f.pendingAsk().ID] = true
			f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
			if got := permissionReply(t, <-done); got["behavior"] != "allow" {
				t.Errorf("got %v", got)
			}
		}
		if len(seen) != 2 {
			t.Errorf("%d approvals for two runs", len(seen))
		}
	})
}

// A denial or answers that arrive when Claude Code gives up are delivered to the next call.
func TestUndeliveredDecisionIsUsedByTheNextPrompt(t *testing.T) {
	for args, test := range map[string]struct {
		answer askback.Answer
		want   string
	}{
		bash: {askback.Decide(askback.Deny, "no"), "deny"},
		claude: {
			askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "x"}, {ID: "q2", Other: "y"}}}, "allow",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.wrap = func(s askback.Client) askback.Client { return ignoresCancel{s} }
			cs := f.connectStdio("claude-code", withSessions, nil)
			ctx, giveUp := context.WithCancel(t.Context())
			done := startCall(ctx, cs, "permission_prompt", args)
			giveUp()
			<-done
			synctest.Wait()
			f.answer(f.pendingAsk().ID, test.answer)
			synctest.Wait()
			again := startCall(t.Context(), cs, "permission_prompt", args)
			if asks := f.pendingAsks(); len(asks) != 0 {
				t.Fatalf("asked again: %v", asks)
			}
			if got := permissionReply(t, <-again); got["behavior"] != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A standing approval answers later prompts for its tool immediately, but no prompts for other tools (F8).
func TestGrantAnswersAPrompt(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		done := startCall(t.Context(), cs, "permission_prompt", bash)
		f.answer(f.pendingAsk().ID, askback.Decide(askback.ApproveAll, ""))
		if got := permissionReply(t, <-done); got["behavior"] != "allow" {
			t.Fatalf("got %v", got)
		}
		for range 3 {
			if got := permissionReply(t,
				callTool(t.Context(), cs, "permission_prompt", bash)); got["behavior"] != "allow" {
				t.Errorf("got %v", got)
			}
		}
		done = startCall(t.Context(), cs, "permission_prompt", strings.Replace(bash, "Bash", "Write", 1))
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Deny, ""))
		if got := permissionReply(t, <-done); got["behavior"] != "deny" {
			t.Errorf("another tool: got %v", got)
		}
	})
}

const claude = `{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "input": {"questions": [
	{"question": "Which database?", "header": "Database", "multiSelect": false, "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]},
	{"question": "Which parts?", "header": "Parts", "multiSelect": true, "options": [{"label": "web", "description": ""}, {"label": "cli", "description": ""}]}
], "metadata": {"source": "plan"}}}`

// The questions of Claude Code's own tool are asked. The reply has the input of the tool, with all answers
// and notes.
func TestQuestionsOfClaudeCodeAreAsked(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		done := startCall(t.Context(), connect(), "permission_prompt", claude)
		ask := f.pendingAsk()
		if ask.Kind != askback.Questions || len(ask.Questions) != 2 {
			t.Fatalf("asked %+v", ask)
		}
		f.answer(ask.ID, askback.Answer{Comment: "thanks", Answers: []askback.QuestionAnswer{
			{ID: "q1", Other: "DuckDB", Notes: "columns"}, {ID: "q2", Selected: []string{"web", "cli"}},
		}})
		got := permissionReply(t, <-done)
		input, _ := got["updatedInput"].(map[string]any)
		if got["behavior"] != "allow" || len(input["questions"].([]any)) != 2 || input["metadata"] == nil {
			t.Fatalf("got %v", got)
		}
		if diff := cmp.Diff(map[string]any{"Which database?": "DuckDB", "Which parts?": "web, cli"},
			input["answers"]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{
			"Which database?": map[string]any{"notes": "columns"},
			"Which parts?":    map[string]any{"notes": "comment: thanks"},
		}, input["annotations"]); diff != "" {
			t.Error(diff)
		}
	})
}

// A prompt that is malformed, that cannot be shown, or that a person declines does not let a
// tool run.
func TestInvalidOrDeclinedPromptIsNotAllowed(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, args := range []string{
			`{}`, `{"tool_name": "Bash"}`, `{"tool_name": "", "input": {}}`, `{"tool_name": "Bash", "input": "ls"}`,
			`{"tool_name": "Bash", "input": {"n": 12345678901234567890}}`,
			`{"tool_name": "Bash", "input": {"a": 1, "a": 2}}`,
		} {
			if got := callTool(t.Context(), cs, "permission_prompt", args); !got.IsError ||
				strings.Contains(got.text(t), "allow\"") {
				t.Errorf("%s: got %s", args, got.text(t))
			}
		}
		if got := permissionReply(t, callTool(t.Context(), cs, "permission_prompt",
			`{"tool_name": "AskUserQuestion", "input": {"questions": []}}`)); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Fatalf("asked: %v", asks)
		}
		done := startCall(t.Context(), cs, "permission_prompt", claude)
		if _, err := f.engine.As(ana).Decline(t.Context(), f.pendingAsk().ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := permissionReply(t, <-done); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
	})
}

func TestUndeliveredApprovalIsNotConsumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.wrap = func(s askback.Client) askback.Client { return ignoresCancel{s} }
		cs := f.connectStdio("claude-code", withSessions, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		done := startCall(ctx, cs, "permission_prompt", bash)
		giveUp()
		<-done
		synctest.Wait()
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		again := startCall(t.Context(), cs, "permission_prompt", bash)
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := permissionReply(t, <-again); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
	})
}
