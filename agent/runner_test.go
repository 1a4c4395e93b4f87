package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
)

// A model returns the reply and the error of a test, and records the last request.
type model struct {
	reply agent.ModelReply
	err   error
	got   agent.ModelRequest
}

func (m *model) Reply(_ context.Context, r agent.ModelRequest, text func(string)) (agent.ModelReply, error) {
	m.got = r
	if text != nil {
		text(m.reply.Text)
	}
	return m.reply, m.err
}

// function returns a tool with this schema.
func function(
	name, description, schema string, readOnly bool, call func(context.Context, json.RawMessage) (string, error),
) agent.Function {
	f := agent.Func(name, description, call)
	f.Schema, f.ReadOnly, f.Destructive = json.RawMessage(schema), readOnly, !readOnly
	return f
}

// tickets is a toolset with one tool of each kind.
func tickets() agent.Toolset {
	echo := func(_ context.Context, input json.RawMessage) (string, error) { return "did " + string(input), nil }
	list := function("list", "Lists files.", "", false, echo)
	list.Destructive = false
	return agent.Functions("tickets",
		function("search", "Searches tickets.", `{"type":"object","properties":{"q":{"type":"string"}}}`, true, echo),
		function("close", "Closes a ticket.\nIt cannot be opened again.", "", false, echo),
		list,
		function("break", "Fails.", "", true,
			func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such ticket") }),
		function("panic", "Panics.", "", true,
			func(context.Context, json.RawMessage) (string, error) { panic("secret") }),
		function("flood", "Returns much.", "", true,
			func(context.Context, json.RawMessage) (string, error) { return strings.Repeat("ä", 100_001), nil }),
		function("binary", "Returns bytes.", "", true,
			func(context.Context, json.RawMessage) (string, error) { return "a\xff", nil }),
	)
}

// support returns a definition with all tools, and its model.
func support() (agent.Definition, *model) {
	m := &model{}
	return agent.Definition{
		Name: "support", Description: "Answers tickets.", Prompt: "You answer tickets.", Model: m,
		Tools:    []string{"ask_user_question", "confirm_action", "todo_write", "spawn_agents", "tickets"},
		Toolsets: []agent.Toolset{tickets()},
	}, m
}

func newRunner(t *testing.T, definitions ...agent.Definition) *agent.Runner {
	t.Helper()
	r, err := agent.NewRunner(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var request = conversation.RequestModel{Request: 3, Attempt: 2}

// plan makes the model reply with a call, and returns the call with the plan of the runner.
func plan(t *testing.T, r *agent.Runner, m *model, run conversation.Run, c conversation.Call) conversation.Call {
	t.Helper()
	m.reply = agent.ModelReply{Calls: []conversation.Call{c}}
	in := r.Reply(t.Context(), run, request, nil, nil)
	replied, ok := in.(conversation.ModelReplied)
	if !ok || len(replied.Calls) != 1 {
		t.Fatalf("got %+v", in)
	}
	return replied.Calls[0]
}

func call(tool, input string) conversation.Call {
	return conversation.Call{ID: "c1", Tool: tool, Input: json.RawMessage(input)}
}

var (
	attended   = conversation.Run{ID: "ses_1", Agent: "support"}
	unattended = conversation.Run{ID: "ses_1", Agent: "support", Unattended: true}
	child      = conversation.Run{ID: "ses_2", Agent: "support", Path: []string{"support"}}
)

func TestEachCallOfAReplyIsPlanned(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	question := `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`
	for _, c := range []struct {
		call conversation.Call
		tool string
		plan conversation.Plan
	}{
		{call("tickets__search", `{"q":"x"}`), "tickets__search", conversation.Plan{
			Kind: conversation.KindTool, Reads: true,
		}},
		{call("tickets__close", `{"id":7}`), "tickets__close", conversation.Plan{
			Kind: conversation.KindTool, Confirm: true,
		}},
		{call("todo_write", `{"todos":[]}`), "todo_write", conversation.Plan{Kind: conversation.KindTool, Reads: true}},
		{
			call("spawn_agents", `{"tasks":[{"prompt":"a"},{"prompt":"b","agent":"support"}]}`), "spawn_agents",
			conversation.Plan{Kind: conversation.KindDelegate, Tasks: 2},
		},
		{call("confirm_action", `{"action":"Delete it"}`), "confirm_action", conversation.Plan{
			Kind: conversation.KindAsk,
		}},
		{call("ask_user_question", question), "ask_user_question", conversation.Plan{Kind: conversation.KindAsk}},
		{call("AskUserQuestion", question), "ask_user_question", conversation.Plan{Kind: conversation.KindAsk}},
		{call("askUserQuestion", question), "ask_user_question", conversation.Plan{Kind: conversation.KindAsk}},
		{call("ask_user", `{"question":"Which?"}`), "ask_user_question", conversation.Plan{Kind: conversation.KindAsk}},
	} {
		got := plan(t, r, m, attended, c.call)
		if got.Tool != c.tool || got.Plan != c.plan || string(got.Input) != string(c.call.Input) || got.ID != "c1" {
			t.Errorf("%s: got %+v, want %s %+v", c.call.Tool, got, c.tool, c.plan)
		}
	}
}

// An approval is for one call, so an interrupted call is not repeated with it (F7).
func TestApprovedCallIsNotRepeatable(t *testing.T) {
	d, m := support()
	d.Confirm = []string{"tickets.search"}
	got := plan(t, newRunner(t, d), m, attended, call("tickets__search", `{"q":"x"}`))
	if want := (conversation.Plan{Kind: conversation.KindTool, Confirm: true}); got.Plan != want {
		t.Errorf("got %+v, want %+v", got.Plan, want)
	}
}

func TestCallsOfAReplyAreLimited(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	for _, n := range []int{64, 65, 5000} {
		m.reply = agent.ModelReply{Calls: slices.Repeat([]conversation.Call{call("tickets__search", `{"q":"x"}`)}, n)}
		in, ok := r.Reply(t.Context(), attended, request, nil, nil).(conversation.ModelReplied)
		if !ok || len(in.Calls) != min(n, 65) {
			t.Fatalf("got %d calls of %d", len(in.Calls), n)
		}
		for i, c := range in.Calls {
			want := conversation.Plan{Kind: conversation.KindTool, Reads: true}
			if i >= 64 {
				want = conversation.Plan{Kind: conversation.KindRejected, Error: fmt.Sprintf(
					"A reply may have 64 calls. This call and the rest were not made and left out: %d in all. Make "+
						"them again in the next reply, a few at a time.",
					n-64,
				)}
			}
			if c.Plan != want || i >= 64 && string(c.Input) != "{}" {
				t.Fatalf("call %d of %d: got %+v", i, n, c.Plan)
			}
		}
	}
}

func TestWrongCallsAreRejectedWithAdvice(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	for _, c := range []struct{ tool, input, want string }{
		{"serch", `{}`, `There is no tool "serch". The tools are tickets__search, `},
		{"tickets_search", `{}`, `There is no tool "tickets_search". The tools are tickets__search, `},
		{"rm -rf /", `{}`, `There is no tool "rm_-rf__". The tools are `},
		{"ask_user_question", `{"questions":[]}`, "Example: "},
		{
			"ask_user_question", `{"questions":[{"question":"Which?","options":[{"label":"A"}]}]}`,
			"/questions/0/options: a question needs 2 to 4 options",
		},
		{"confirm_action", `{"details":"x"}`, "/action: action is missing"},
		{
			"todo_write", `{"todos":[{"content":"a","status":"done"}]}`,
			"/todos/0/status: must be pending, in_progress or completed",
		},
		{"todo_write", `{}`, `Example: {"todos": [{"content": "Save it", "status": "pending"}]}`},
		{"spawn_agents", `{"tasks":[]}`, "/tasks: a call needs 1 to 8 tasks; this one has 0"},
		{
			"spawn_agents", `{"tasks":[` + strings.Repeat(`{"prompt":"a"},`, 8) + `{"prompt":"a"}]}`,
			"/tasks: a call needs 1 to 8 tasks; this one has 9",
		},
		{
			"spawn_agents", `{"tasks":[{"prompt":"a","agent":"` + strings.Repeat("x", 1000) + `"}]}`,
			"/tasks/0/agent: there is no agent ",
		},
		{"spawn_agents", `{"tasks":[{"prompt":" "}]}`, "/tasks/0: prompt is missing"},
		{
			"spawn_agents", `{"tasks":[{"prompt":"a","agent":"suport"}]}`,
			`/tasks/0/agent: there is no agent "suport". The agents are support.`,
		},
		{"tickets__close", `{"id":12345678901234567890}`, "a person cannot approve this input exactly"},
		{"tickets__close", `{"id":1,"id":2}`, "a person cannot approve this input exactly"},
		{"tickets__search", `[]`, "its input is not a JSON object"},
		{"tickets__search", "{\"q\":\"\xff\"}", "its input is not a JSON object"},
	} {
		got := plan(t, r, m, attended, call(c.tool, c.input))
		if got.Kind != conversation.KindRejected || !strings.Contains(got.Error, c.want) ||
			len([]rune(got.Error)) > 400 {
			t.Errorf("%s %s: got %+v, want %q", c.tool, c.input, got, c.want)
		}
	}
	kept := conversation.Call{Tool: "tickets__close", Input: json.RawMessage(`{}`), Plan: conversation.Plan{
		Kind: conversation.KindRejected, Error: "cut",
	}}
	if got := plan(t, r, m, attended, kept); got.Plan != kept.Plan {
		t.Errorf("got %+v for a call that was rejected before", got)
	}
}

func TestRunWithoutDefinitionFails(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	if err := r.Set(nil); err != nil {
		t.Fatal(err)
	}
	in := r.Reply(t.Context(), attended, request, nil, nil)
	if f, ok := in.(conversation.RunFailed); !ok ||
		f.Error != "the definition of the agent support does not exist any more" {
		t.Errorf("got %+v", in)
	}
	if _, err := r.Limits("support"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if got := r.Execute(t.Context(), attended, call("todo_write", `{"todos":[]}`)); !got.IsError {
		t.Errorf("got %+v", got)
	}
	if _, err := r.Question(attended, call("confirm_action", `{"action":"x"}`)); err == nil {
		t.Error("got a question")
	}
	if m.got.System != "" {
		t.Error("the model was requested")
	}
}

// Malformed input of real models is repaired to the same questions as by package asktool, or rejected with
// the same text (F15).
func TestMalformedQuestionsAreRepairedOrRejected(t *testing.T) {
	paths, err := filepath.Glob("../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	d, m := support()
	r := newRunner(t, d)
	repaired := 0
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		input := strings.TrimSuffix(string(file.Files[0].Data), "\n")
		want, mistake := asktool.Questions([]byte(input))
		c := plan(t, r, m, attended, agent.NewCall("c1", "AskUserQuestion", input, false))
		var object map[string]any
		if err := json.Unmarshal(c.Input, &object); err != nil || c.Tool != "ask_user_question" {
			t.Errorf("%s: got %s %s", path, c.Tool, c.Input)
		}
		if mistake != nil {
			if c.Kind != conversation.KindRejected || c.Error != mistake.Error() {
				t.Errorf("%s: got %+v, want %v", path, c.Plan, mistake)
			}
			continue
		}
		got, err := r.Question(attended, c)
		if c.Kind != conversation.KindAsk || err != nil || !equalJSON(got.Questions, want.Questions) ||
			!slices.Equal(got.Warnings, want.Warnings) {
			t.Errorf("%s: got %+v, %v, want %+v", path, got, err, want)
		}
		repaired++
	}
	if repaired < 20 || len(paths)-repaired < 10 {
		t.Errorf("%d of %d are repaired", repaired, len(paths))
	}
	if c := plan(t, r, m, attended,
		agent.NewCall("c1", "ask_user_question", `{"question": "Which?"`, true)); c.Kind != conversation.KindRejected {
		t.Errorf("got %+v of a reply that was cut", c)
	}
	if c := plan(
		t, r, m, attended, agent.NewCall("c1", "confirm_action", `"{\"action\": \"Delete it\"}"`, false),
	); c.Kind != conversation.KindRejected {
		t.Errorf("got %+v", c)
	}
}
