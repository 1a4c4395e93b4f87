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

// decided reads a reply as Claude Code does.
func decided(t *testing.T, r reply) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(r.text(t)), &m); err != nil {
		t.Fatalf("%s: %v", r.text(t), err)
	}
	return m
}

// Claude Code may run a tool with exactly the arguments that a person approved,
// or changed them to, once (D1, F7).
func TestAToolMayRunAsApproved(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, test := range []struct {
			answer askback.Answer
			want   map[string]any
		}{
			{askback.Decide(askback.Approve, ""), map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "rm -rf build", "n": 1.0}}},
			{
				askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command": "ls build", "n": 2}`)},
				map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "ls build", "n": 2.0}},
			},
			{askback.Decide(askback.Deny, "keep it"), map[string]any{"behavior": "deny", "message": `Denied by "ana": do not do this. Reason: "keep it".`}},
		} {
			done := start(t.Context(), cs, "permission_prompt", bash)
			ask := d.only()
			if c := ask.Confirmation; c == nil || c.ToolName != "Bash" || string(c.Input) != `{"command":"rm -rf build","n":1}` {
				t.Errorf("asked %+v", c)
			}
			settled := d.answer(ask.ID, test.answer)
			if diff := cmp.Diff(test.want, decided(t, <-done)); diff != "" {
				t.Error(diff)
			}
			if settled.Outcome.Approved() {
				if _, err := d.engine.As(bot).Consume(t.Context(), ask.ID, settled.Outcome.Digest); err == nil {
					t.Error("the approval was not consumed")
				}
			}
		}
	})
}

// Two prompts for the same thing at a time need two approvals: each is consumed
// once.
func TestOneApprovalLetsAToolRunOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		first := start(t.Context(), cs, "permission_prompt", bash)
		second := start(t.Context(), cs, "permission_prompt", strings.Replace(bash, "toolu_1", "toolu_2", 1))
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		d.answer(d.only().ID, askback.Decide(askback.Deny, "once is enough"))
		a, b := decided(t, <-first)["behavior"], decided(t, <-second)["behavior"]
		if a == b {
			t.Errorf("both were told %v", a)
		}
	})
}

// Nobody is there: the tool may not run, and what is decided later counts for the
// same tool and arguments, whatever the model read meanwhile.
func TestAPromptThatNobodyDecidesDenies(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		got := decided(t, call(t.Context(), cs, "permission_prompt", bash))
		ask := d.only()
		if message, _ := got["message"].(string); got["behavior"] != "deny" || !strings.Contains(message, ask.ID) || !strings.Contains(message, "wait_for_answer") {
			t.Errorf("got %v", got)
		}
		d.answer(ask.ID, askback.Decide(askback.Approve, ""))
		call(t.Context(), cs, "wait_for_answer", `{"question_id": "`+ask.ID+`"}`)
		if got := decided(t, call(t.Context(), cs, "permission_prompt", strings.Replace(bash, "toolu_1", "toolu_9", 1))); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
		done := start(t.Context(), cs, "permission_prompt", bash)
		if again := d.only().ID; again == ask.ID {
			t.Error("one approval twice")
		}
		d.answer(d.only().ID, askback.Decide(askback.Deny, ""))
		<-done
	})
}

// A key of the client's own does not make one approval many.
func TestAPromptHasNoKeyOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
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
			seen[d.only().ID] = true
			d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
			if got := decided(t, <-done); got["behavior"] != "allow" {
				t.Errorf("got %v", got)
			}
		}
		if len(seen) != 2 {
			t.Errorf("%d approvals for two runs", len(seen))
		}
	})
}

// A denial, or answers, that come just when Claude Code gives up are given again.
func TestADecisionForNobodyIsGivenAgain(t *testing.T) {
	for args, test := range map[string]struct {
		answer askback.Answer
		want   string
	}{
		bash:   {askback.Decide(askback.Deny, "no"), "deny"},
		claude: {askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "x"}, {ID: "q2", Other: "y"}}}, "allow"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return slow{s} }
			cs := d.stdio("claude-code", legacy, nil)
			ctx, giveUp := context.WithCancel(t.Context())
			done := start(ctx, cs, "permission_prompt", args)
			giveUp()
			<-done
			synctest.Wait()
			d.answer(d.only().ID, test.answer)
			synctest.Wait()
			again := start(t.Context(), cs, "permission_prompt", args)
			if asks := d.open(); len(asks) != 0 {
				t.Fatalf("asked again: %v", asks)
			}
			if got := decided(t, <-again); got["behavior"] != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A standing approval answers at once, for its tool (F8).
func TestAGrantAnswersAPrompt(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		done := start(t.Context(), cs, "permission_prompt", bash)
		d.answer(d.only().ID, askback.Decide(askback.ApproveAll, ""))
		if got := decided(t, <-done); got["behavior"] != "allow" {
			t.Fatalf("got %v", got)
		}
		for range 3 {
			if got := decided(t, call(t.Context(), cs, "permission_prompt", bash)); got["behavior"] != "allow" {
				t.Errorf("got %v", got)
			}
		}
		done = start(t.Context(), cs, "permission_prompt", strings.Replace(bash, "Bash", "Write", 1))
		d.answer(d.only().ID, askback.Decide(askback.Deny, ""))
		if got := decided(t, <-done); got["behavior"] != "deny" {
			t.Errorf("another tool: got %v", got)
		}
	})
}

const claude = `{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "input": {"questions": [
	{"question": "Which database?", "header": "Database", "multiSelect": false, "options": [{"label": "PostgreSQL", "description": "a server"}, {"label": "SQLite", "description": "a file"}]},
	{"question": "Which parts?", "header": "Parts", "multiSelect": true, "options": [{"label": "web", "description": ""}, {"label": "cli", "description": ""}]}
], "metadata": {"source": "plan"}}}`

// Claude Code's own question tool becomes questions, and its input comes back
// with the answers in it; nothing that was said is lost.
func TestClaudesOwnQuestionsAreAsked(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		done := start(t.Context(), connect(), "permission_prompt", claude)
		ask := d.only()
		if ask.Kind != askback.Questions || len(ask.Questions) != 2 {
			t.Fatalf("asked %+v", ask)
		}
		d.answer(ask.ID, askback.Answer{Comment: "thanks", Answers: []askback.QuestionAnswer{
			{ID: "q1", Other: "DuckDB", Notes: "columns"}, {ID: "q2", Selected: []string{"web", "cli"}},
		}})
		got := decided(t, <-done)
		input, _ := got["updatedInput"].(map[string]any)
		if got["behavior"] != "allow" || len(input["questions"].([]any)) != 2 || input["metadata"] == nil {
			t.Fatalf("got %v", got)
		}
		if diff := cmp.Diff(map[string]any{"Which database?": "DuckDB", "Which parts?": "web, cli"}, input["answers"]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{
			"Which database?": map[string]any{"notes": "columns"}, "Which parts?": map[string]any{"notes": "comment: thanks"},
		}, input["annotations"]); diff != "" {
			t.Error(diff)
		}
	})
}

// Nothing lets a tool run but a decision: not a refusal, not a mistake, not
// arguments that nobody could be shown exactly.
func TestNothingElseLetsAToolRun(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, args := range []string{
			`{}`, `{"tool_name": "Bash"}`, `{"tool_name": "", "input": {}}`, `{"tool_name": "Bash", "input": "ls"}`,
			`{"tool_name": "Bash", "input": {"n": 12345678901234567890}}`, `{"tool_name": "Bash", "input": {"a": 1, "a": 2}}`,
		} {
			if got := call(t.Context(), cs, "permission_prompt", args); !got.IsError || strings.Contains(got.text(t), "allow\"") {
				t.Errorf("%s: got %s", args, got.text(t))
			}
		}
		if got := decided(t, call(t.Context(), cs, "permission_prompt", `{"tool_name": "AskUserQuestion", "input": {"questions": []}}`)); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Fatalf("somebody was asked: %v", asks)
		}
		done := start(t.Context(), cs, "permission_prompt", claude)
		if _, err := d.engine.As(ana).Decline(t.Context(), d.only().ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := decided(t, <-done); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
	})
}

// An approval that comes just when Claude Code gives up is not spent.
func TestAnApprovalForNobodyIsNotSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.seat = func(s askback.Client) askback.Client { return slow{s} }
		cs := d.stdio("claude-code", legacy, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		done := start(ctx, cs, "permission_prompt", bash)
		giveUp()
		<-done
		synctest.Wait()
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		again := start(t.Context(), cs, "permission_prompt", bash)
		if asks := d.open(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := decided(t, <-again); got["behavior"] != "allow" {
			t.Errorf("got %v", got)
		}
	})
}
