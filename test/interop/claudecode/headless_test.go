package claudecode_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// A run is one claude -p.
type run struct {
	d    *desk
	cmd  *exec.Cmd
	out  bytes.Buffer
	said bytes.Buffer
}

// ended is how a run says it ended.
type ended struct {
	Subtype    string          `json:"subtype"`
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	SessionID  string          `json:"session_id"`
	StopReason string          `json:"stop_reason"`
	Denials    json.RawMessage `json:"permission_denials"`
	Deferred   json.RawMessage `json:"deferred_tool_use"`
}

// start starts claude -p with a prompt.
func (d *desk) start(args ...string) *run {
	d.t.Helper()
	r := &run{d: d}
	r.cmd = exec.CommandContext(bounded(d.t), d.claude, append([]string{"-p", "--output-format", "json"}, args...)...)
	r.cmd.Dir, r.cmd.Env = d.project, d.environ()
	r.cmd.WaitDelay = patience // what it started may hold its output
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.said
	if err := r.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return r
}

// end waits for the end of a run, which is no failure.
func (r *run) end() ended {
	r.d.t.Helper()
	err := r.cmd.Wait()
	var e ended
	if bad := json.Unmarshal(r.out.Bytes(), &e); err != nil || bad != nil {
		r.d.t.Fatalf("claude -p: %v, %v\n%s\n%s", err, bad, r.out.String(), r.said.String())
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

// prompted are the arguments that make the permission tool of Askback the one
// that claude -p asks; without one it has no AskUserQuestion.
var prompted = []string{"--permission-prompt-tool", "mcp__askback__permission_prompt"}

// A question by MCP is answered, and the answer is the result of the call, also
// when the server dies while it is open: the process beside Claude Code takes
// its place (A1, B7, F9).
func TestAQuestionByMCPIsAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, here, calls("toolu_1", "mcp__askback__ask_user_question", database()), calls("toolu_2", "mcp__askback__ask_user_question", database()), says("Thank you."))
	r := d.start("Ask me.")
	d.Answer(d.Open(1)[0].ID, askback.Choose("SQLite"))
	d.told("toolu_1", `{"Which database?":"SQLite"}`)
	if !d.model.knows("mcp__askback__ask_user_question") || d.model.knows("AskUserQuestion") {
		t.Errorf("claude -p without a permission tool has no other question tool, and this has: %v", d.model.tools)
	}
	again := d.Open(1)[0]
	d.Kill()
	d.Answer(d.Open(1)[0].ID, askback.Choose("My own"))
	d.told("toolu_2", `{"Which database?":"My own"}`, `"name":"ana"`)
	if ask := d.settled(again.ID); ask.Status != askback.Answered {
		t.Errorf("got %s of %s", ask.Status, ask.ID)
	}
	if e := r.end(); e.IsError || e.Result != "Thank you." {
		t.Errorf("got %+v", e)
	}
}

// An answer that comes when the call is over is fetched with the next one: here
// the server is stopped in the middle, which ends the wait as its limit does (B7, F9).
func TestAnAnswerAfterTheCallIsFetched(t *testing.T) {
	t.Parallel()
	var d *desk
	open := make(chan string, 1)
	d = newDesk(t, byAddress,
		calls("toolu_1", "mcp__askback__ask_user_question", database()),
		turn{later: func() turn {
			return calls("toolu_2", "mcp__askback__wait_for_answer", map[string]any{"question_id": <-open, "max_wait_s": 60})
		}},
		says("Thank you."),
	)
	r := d.start("Ask me.")
	ask := d.Open(1)[0]
	d.stop()
	d.told("toolu_1", `"status":"pending"`, ask.ID, "wait_for_answer")
	d.Start()
	d.Answer(ask.ID, askback.Choose("SQLite"))
	open <- ask.ID
	d.told("toolu_2", `{"Which database?":"SQLite"}`)
	r.end()
}

// Its own AskUserQuestion is answered through a hook, or through the tool that
// it asks for permissions, where hooks are off (A1, F9).
func TestItsOwnQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, calls("toolu_1", "AskUserQuestion", database()), says("Thank you."))
			r := d.start(append(prompted, "Ask me.")...)
			ask := d.Open(1)[0]
			if got := ask.Questions[0]; got.Text != "Which database?" || len(got.Options) != 2 || got.Options[1].Description != "A file" {
				t.Errorf("a person is asked %+v", got)
			}
			d.Answer(ask.ID, askback.Choose("SQLite"))
			d.told("toolu_1", `"Which database?"="SQLite"`)
			if e := r.end(); e.IsError || e.Result != "Thank you." {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// A question that nobody answers soon ends the run. It outlives Claude Code and
// Askback both; the session that is resumed goes on with the answer (F2, F9).
func TestADeferredQuestionIsAnsweredLater(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]way{"by command": here, "by address": byAddress} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, calls("toolu_1", "AskUserQuestion", database()), says("Thank you."))
			d.deferSoon()
			e := d.start(append(prompted, "Ask me.")...).end()
			if e.StopReason != "tool_deferred" || !strings.Contains(string(e.Deferred), `"toolu_1"`) {
				t.Fatalf("got %+v, want it deferred", e)
			}
			ask := d.Open(1)[0]
			d.Kill()
			d.Start()
			d.Answer(ask.ID, askback.Choose("SQLite"))
			after := d.start(append(prompted, "--resume", e.SessionID)...).end()
			d.told("toolu_1", `"Which database?"="SQLite"`)
			if after.IsError || after.Result != "Thank you." || after.SessionID != e.SessionID {
				t.Errorf("got %+v", after)
			}
		})
	}
}
