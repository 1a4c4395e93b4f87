package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/conversation"
)

// A performer performs the effects of runs. A person approves every call and answers every question with B.
type performer struct {
	t        *testing.T
	runner   *agent.Runner
	asked    []askback.Request
	approved []string
}

// perform returns the messages of a whole run, and its state.
func (p *performer) perform(run conversation.Run, prompt string) ([]conversation.Message, conversation.State) {
	var messages []conversation.Message
	var state conversation.State
	var effects []conversation.Effect
	limits, err := p.runner.Limits(run.Agent)
	if err != nil {
		p.t.Fatal(err)
	}
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	step := func(in conversation.Input) {
		result, err := state.Step(in)
		if err != nil {
			p.t.Fatal(err)
		}
		state, messages, effects = result.State, append(messages,
			conversation.Messages(result.History)...), append(effects, result.Effects...)
	}
	call := func(n int) conversation.Call {
		for _, m := range messages {
			for _, c := range m.Calls {
				if c.N == n {
					c.Plan = state.Open[0].Plan
					return c
				}
			}
		}
		p.t.Fatalf("there is no call %d", n)
		return conversation.Call{}
	}
	step(conversation.Started{
		Prompt: conversation.Message{Role: conversation.RoleUser, Text: prompt}, Limits: limits, At: now,
	})
	for len(effects) > 0 {
		effect := effects[0]
		effects = effects[1:]
		switch e := effect.(type) {
		case conversation.RequestModel:
			step(p.runner.Reply(p.t.Context(), run, e, messages, nil))
		case conversation.ExecuteTool:
			c := call(e.Call)
			if c.Confirm != slices.Contains(p.approved, e.AskID) {
				p.t.Errorf("%s runs with the approval %q", c.Tool, e.AskID)
			}
			if len(e.Input) > 0 {
				c.Input = e.Input
			}
			step(conversation.ToolStarted{Call: e.Call, At: now})
			done := p.runner.Execute(p.t.Context(), run, c)
			step(conversation.ToolFinished{Call: e.Call, Text: done.Text, IsError: done.IsError, At: now})
		case conversation.OpenAsk:
			settled := p.answer(run, call(e.Call))
			settled.Call, settled.At = e.Call, now
			step(settled)
		case conversation.StartChild:
			name, task := p.runner.Task(run, call(e.Call), e.Child)
			of := conversation.Run{
				ID: "ses_child", Agent: name, Path: append(slices.Clone(run.Path), run.Agent),
				Unattended: run.Unattended,
			}
			all, s := p.perform(of, task)
			step(conversation.ChildFinished{
				Call: e.Call, Child: e.Child, Text: all[len(all)-1].Text, IsError: s.Phase != conversation.Idle,
				At: now,
			})
		}
	}
	return messages, state
}

// answer asks the question of a call and returns its outcome. If the call has no valid question, the outcome
// is an error.
func (p *performer) answer(run conversation.Run, c conversation.Call) conversation.AskSettled {
	q, err := p.runner.Question(run, c)
	if err != nil {
		return conversation.AskSettled{Text: err.Error(), IsError: true}
	}
	p.asked = append(p.asked, q)
	ask := settled(askback.Questions, askback.Outcome{Status: askback.Answered})
	if q.Confirmation != nil {
		ask = settled(askback.Confirm, askback.Outcome{Status: askback.Answered, Decision: askback.Approve})
		p.approved = append(p.approved, ask.ID)
	}
	ask.Questions, ask.Confirmation = q.Questions, q.Confirmation
	for _, question := range q.Questions {
		ask.Outcome.Answers = append(ask.Outcome.Answers,
			askback.QuestionAnswer{ID: question.ID, Selected: []string{"B"}})
	}
	return p.runner.Outcome(run, c, ask)
}

func script(t *testing.T, text string) agent.Model {
	t.Helper()
	m, err := scripted.Parse("script.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestScriptedRunUsesEveryKindOfTool(t *testing.T) {
	d, _ := support()
	d.Model = script(t, `
- tools:
    - {name: todo_write, input: {todos: [{content: Ask, status: in_progress}]}}
    - {name: AskUserQuestion, input: {question: Which?, options: [A, B]}}
    - {name: tickets__search, input: {q: open}}
    - {name: tickets__close, input: {id: 7}}
    - {name: tickets__nothing}
- expect: 'There is no tool "tickets__nothing"'
  tools:
    - {name: spawn_agents, input: {tasks: [{prompt: Look, agent: helper}, {prompt: Look again, agent: helper}]}}
- expect: '{"task":2,"result":"It is closed."}'
  reply: Done.
`)
	helper := agent.Definition{
		Name:  "helper",
		Tools: []string{"ask_user_question", "tickets"}, Toolsets: []agent.Toolset{tickets()}, Model: script(t, `
- tools:
    - {name: ask_user_question, input: {question: May I?}}
- expect: Sub-agents cannot ask people.
  tools:
    - {name: tickets__close, input: {id: 8}}
- expect: needs the approval of a person
  tools:
    - {name: tickets__search, input: {q: x}}
- expect: did
  reply: It is closed.
`),
	}
	p := &performer{t: t, runner: newRunner(t, d, helper)}
	messages, state := p.perform(attended, "Close the ticket.")
	if state.Phase != conversation.Idle || messages[len(messages)-1].Text != "Done." {
		t.Errorf("got %s, %+v", state.Phase, messages[len(messages)-1])
	}
	var results []string
	for _, m := range messages {
		if m.Result != nil {
			results = append(results, m.Result.Text)
		}
	}
	for i, want := range []string{
		"The list is stored.", `"Which?" = "B"`, `did {"q":"open"}`, `did {"id":7}`, "There is no tool",
		`{"task":1,"result":"It is closed."}`,
	} {
		if i >= len(results) || !strings.Contains(results[i], want) {
			t.Errorf("result %d: got %q, want %q", i, results, want)
		}
	}
	if len(p.asked) != 2 || p.asked[0].Questions[0].Text != "Which?" || p.asked[1].Confirmation.ToolName != "close" {
		t.Errorf("asked %+v", p.asked)
	}
}

func Example() {
	type note struct {
		Text string `json:"text"`
	}
	notes := agent.Functions("notes", agent.Func("add", "Adds a note.",
		func(_ context.Context, n note) (string, error) { return "added " + n.Text, nil }))
	runner, err := agent.NewRunner(agent.Definition{
		Name: "secretary", Prompt: "You keep notes.", Model: yourModel{},
		Tools: []string{agent.AskUserQuestion, "notes"}, Toolsets: []agent.Toolset{notes},
	})
	if err != nil {
		panic(err)
	}
	run := conversation.Run{ID: "ses_1", Agent: "secretary"}
	in := runner.Reply(context.Background(), run, conversation.RequestModel{Request: 1, Attempt: 1}, nil, nil)
	call := in.(conversation.ModelReplied).Calls[0]
	fmt.Println(call.Kind, call.Confirm)
	// Output: tool true
}

// A yourModel always adds a note.
type yourModel struct{}

func (yourModel) Reply(context.Context, agent.ModelRequest, func(string)) (agent.ModelReply, error) {
	return agent.ModelReply{Calls: []conversation.Call{agent.NewCall("1", "notes__add", `{"text":"milk"}`, false)}}, nil
}
