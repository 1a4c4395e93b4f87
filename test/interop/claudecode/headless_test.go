package claudecode_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/proctest"
)

// A run is a running claude -p.
type run struct {
	f    *fixture
	cmd  *exec.Cmd
	out  bytes.Buffer
	said bytes.Buffer
}

// A runResult is the JSON that claude -p prints at its end.
type runResult struct {
	Subtype    string          `json:"subtype"`
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	SessionID  string          `json:"session_id"`
	StopReason string          `json:"stop_reason"`
	Denials    json.RawMessage `json:"permission_denials"`
	Deferred   json.RawMessage `json:"deferred_tool_use"`
}

// start starts claude -p with a prompt, and returns the run.
func (f *fixture) start(args ...string) *run {
	f.t.Helper()
	r := &run{f: f}
	r.cmd = exec.CommandContext(bounded(f.t), f.claude, append([]string{"-p", "--output-format", "json"}, args...)...)
	r.cmd.Dir, r.cmd.Env = f.project, f.environ()
	proctest.Bind(r.cmd)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.said
	if err := r.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return r
}

// end waits for the end of a run, requires success, and returns the result.
func (r *run) end() runResult {
	r.f.t.Helper()
	err := r.cmd.Wait()
	var e runResult
	if bad := json.Unmarshal(r.out.Bytes(), &e); err != nil || bad != nil {
		r.f.t.Fatalf("claude -p: %v, %v\n%s\n%s", err, bad, r.out.String(), r.said.String())
	}
	return e
}

func database() map[string]any {
	return map[string]any{"questions": []any{map[string]any{
		"question": "Which database?", "header": "Database", "multiSelect": false,
		"options": []any{
			map[string]any{"label": "PostgreSQL", "description": "A server"},
			map[string]any{"label": "SQLite", "description": "A file"},
		},
	}}}
}

// withPermissionTool contains the arguments that select the permission tool of Askback. Without such a tool,
// claude -p has no AskUserQuestion.
var withPermissionTool = []string{"--permission-prompt-tool", "mcp__askback__permission_prompt"}

// A question over MCP is answered in the call, even if the server is killed. The MCP server that Claude Code
// runs then replaces the killed server (A1, B7, F9).
func TestQuestionByMCPIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, local, calls("toolu_1", "mcp__askback__ask_user_question", database()),
		calls("toolu_2", "mcp__askback__ask_user_question", database()), text("Thank you."))
	r := f.start("Ask me.")
	f.Answer(f.Open(1)[0].ID, askback.Choose("SQLite"))
	f.wantResult("toolu_1", `{"Which database?":"SQLite"}`)
	if !f.model.offered("mcp__askback__ask_user_question") || f.model.offered("AskUserQuestion") {
		t.Errorf("claude -p without a permission tool has no other question tool, and this has: %v", f.model.tools)
	}
	again := f.Open(1)[0]
	f.Kill()
	f.Answer(f.Open(1)[0].ID, askback.Choose("My own"))
	f.wantResult("toolu_2", `{"Which database?":"My own"}`, `"name":"ana"`)
	if ask := f.settled(again.ID); ask.Status != askback.Answered {
		t.Errorf("got %s of %s", ask.Status, ask.ID)
	}
	if e := r.end(); e.IsError || e.Result != "Thank you." {
		t.Errorf("got %+v", e)
	}
}

// An answer that comes after the end of a call is returned by the next call. The server is stopped to end the
// first wait (B7, F9).
func TestAnswerAfterTheCallIsReturnedByTheNext(t *testing.T) {
	t.Parallel()
	var f *fixture
	open := make(chan string, 1)
	f = newFixture(t, remoteHTTP,
		calls("toolu_1", "mcp__askback__ask_user_question", database()),
		turn{later: func() turn {
			return calls("toolu_2", "mcp__askback__wait_for_answer",
				map[string]any{"question_id": <-open, "max_wait_s": 60})
		}},
		text("Thank you."),
	)
	r := f.start("Ask me.")
	ask := f.Open(1)[0]
	f.stop()
	f.wantResult("toolu_1", `"status":"pending"`, ask.ID, "wait_for_answer")
	f.Start()
	f.Answer(ask.ID, askback.Choose("SQLite"))
	open <- ask.ID
	f.wantResult("toolu_2", `{"Which database?":"SQLite"}`)
	r.end()
}

// AskUserQuestion is answered by a hook, or by the permission tool if hooks are
// disabled (A1, F9).
func TestAskUserQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	for name, w := range permissionSetups() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, calls("toolu_1", "AskUserQuestion", database()), text("Thank you."))
			r := f.start(append(withPermissionTool, "Ask me.")...)
			ask := f.Open(1)[0]
			if got := ask.Questions[0]; got.Text != "Which database?" || len(got.Options) != 2 ||
				got.Options[1].Description != "A file" {
				t.Errorf("a person is asked %+v", got)
			}
			f.Answer(ask.ID, askback.Choose("SQLite"))
			f.wantResult("toolu_1", `"Which database?"="SQLite"`)
			if e := r.end(); e.IsError || e.Result != "Thank you." {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// A question that is not answered in time ends the run. The question survives restarts of Claude Code and
// Askback, and the resumed session continues with the answer (F2, F9).
func TestDeferredQuestionIsAnsweredLater(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]setup{"by command": local, "by address": remoteHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w, calls("toolu_1", "AskUserQuestion", database()), text("Thank you."))
			f.deferSoon()
			e := f.start(append(withPermissionTool, "Ask me.")...).end()
			if e.StopReason != "tool_deferred" || !strings.Contains(string(e.Deferred), `"toolu_1"`) {
				t.Fatalf("got %+v, want it deferred", e)
			}
			ask := f.Open(1)[0]
			f.Kill()
			f.Start()
			f.Answer(ask.ID, askback.Choose("SQLite"))
			after := f.start(append(withPermissionTool, "--resume", e.SessionID)...).end()
			f.wantResult("toolu_1", `"Which database?"="SQLite"`)
			if after.IsError || after.Result != "Thank you." || after.SessionID != e.SessionID {
				t.Errorf("got %+v", after)
			}
		})
	}
}
