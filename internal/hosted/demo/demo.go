// Package demo has an agent for a first look at hosted runs, with a model that needs no
// provider and no key. The agent plans, asks a person how to write a poem, asks for the
// confirmation to publish it, and ends.
package demo

import (
	"context"
	_ "embed" // for the definition
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/pause"
)

// Name is the name of the agent, and of its model in the definition.
const Name = "demo"

// Prompt is the task of the agent, whatever its first message.
const Prompt = "Write a poem about waiting for people."

//go:embed demo.md
var definition string

// Definition returns the definition of the agent, as in agents/demo.md.
func Definition() string { return definition }

// A Model is the model of the agent. Its reply depends on the number of its earlier replies and on the
// answers of people. So a repeated request has the same reply.
type Model struct {
	// Pause is the time between two words; 0 for no pause.
	Pause time.Duration
}

var _ agent.Model = Model{}

// Reply implements [agent.Model].
func (m Model) Reply(ctx context.Context, r agent.ModelRequest, text func(piece string)) (agent.ModelReply, error) {
	reply := next(r.Messages)
	for word := range strings.SplitAfterSeq(reply.Text, " ") {
		if pause.For(ctx, m.Pause) != nil {
			return agent.ModelReply{}, &agent.ModelError{Err: errors.New("the request was cancelled"), Retry: true}
		}
		if text != nil {
			text(word)
		}
	}
	return reply, nil
}

// The ids of the calls that ask a person.
const (
	callForm    = "form"
	callPublish = "publish"
)

// next returns the reply of the model after messages.
func next(messages []conversation.Message) agent.ModelReply {
	replies := 0
	for _, m := range messages {
		if m.Role == conversation.RoleAssistant {
			replies++
		}
	}
	switch replies {
	case 0:
		return agent.ModelReply{Calls: []conversation.Call{
			plan(0), call(callForm, "ask_user_question", question),
		}, Text: "I am going to write a poem about waiting for people. I plan it first. Then I ask you which form " +
			"it should have, " +
			"and this run stops until you answer, even if the server is restarted."}
	case 1:
		poem, remark := chosen(result(messages, callForm))
		return agent.ModelReply{Text: remark + "\n\n" + poem, Calls: []conversation.Call{
			plan(2), call(callPublish, "confirm_action", map[string]any{"action": "Publish the poem", "details": poem}),
		}}
	case 2:
		return agent.ModelReply{Calls: []conversation.Call{plan(3)}}
	case 3:
		end := "I keep the poem to myself, because it was not approved."
		if approved(result(messages, callPublish)) {
			end = "You approved it. This demonstration publishes nothing, so the poem stays here."
		}
		return agent.ModelReply{Text: end + " That was a whole run: a model, a plan, a question and a confirmation."}
	}
	return agent.ModelReply{Text: "This demonstration is over; start it again to see another poem."}
}

// question is the input of the first call to ask_user_question.
var question = map[string]any{"questions": []any{map[string]any{
	"question": "Which form should the poem have?", "header": "Form",
	"options": []any{
		map[string]any{"label": "haiku", "description": "Three short lines"},
		map[string]any{"label": "limerick", "description": "Five lines, and not quite serious"},
		map[string]any{"label": "free verse", "description": "No rhyme, no meter"},
	},
}}}

// poems has a poem for each form, in the order in which chosen tries the forms.
var poems = []struct{ form, text string }{
	{"haiku", "A question goes out.\nThe night passes, and the morning\nbrings one word: go on."},
	{"limerick", "An agent who wanted to know\nif a table might possibly go\nasked a person instead\nof just going " +
		"ahead,\nand was told, very clearly: oh no."},
	{"free verse", "I could have guessed.\nI wrote the question down instead,\nput it where you would find it,\nand " +
		"used nothing at all\nuntil you came."},
}

// chosen returns the poem for r, which is the result of the question. It also returns a remark on the choice.
func chosen(r conversation.ToolResult) (poem, remark string) {
	for _, p := range poems {
		if !r.IsError && strings.Contains(strings.ToLower(r.Text), `= "`+p.form) {
			return p.text, "You chose: " + p.form + "."
		}
	}
	if r.IsError {
		return poems[0].text, "I have no answer, so I use my own judgement: haiku."
	}
	return poems[2].text, "I have not learned that form yet, so the lines are free."
}

// approved reports whether the result of a confirmation is an approval.
func approved(r conversation.ToolResult) bool {
	return !r.IsError && strings.HasPrefix(r.Text, "Approved ")
}

// result returns the newest result of the call with this id. If the call has no result, it returns a result
// with IsError set.
func result(messages []conversation.Message, id string) conversation.ToolResult {
	found := conversation.ToolResult{IsError: true}
	for _, m := range messages {
		if m.Result != nil && m.Result.ID == id {
			found = *m.Result
		}
	}
	return found
}

// plan returns a call that marks the first done steps as completed, and the next step as in progress.
func plan(done int) conversation.Call {
	var todos []any
	for i, content := range []string{"Ask which form", "Write the poem", "Ask whether to publish it"} {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		todos = append(todos, map[string]any{"content": content, "status": status})
	}
	return call("plan", "todo_write", map[string]any{"todos": todos})
}

func call(id, tool string, input any) conversation.Call {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err) // texts can always be marshaled
	}
	return conversation.Call{ID: id, Tool: tool, Input: b}
}
