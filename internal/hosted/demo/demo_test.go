package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/server/config"
)

// The definition is valid, and has the tools that the model calls.
func TestDefinitionIsValid(t *testing.T) {
	a, err := config.LoadAgent("demo.md", strings.NewReader(demo.Definition()),
		func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != demo.Name || a.Model != demo.Name || !slices.Contains(a.Tools, "confirm_action") || !a.AsyncQuestions {
		t.Errorf("got %+v", a)
	}
}

// A run is a list of the messages between the agent and the model.
type run struct {
	t        *testing.T
	messages []conversation.Message
}

// reply returns the next reply of the model, and settles the asks of the calls in it with settle.
func (r *run) reply(settle func(*askback.Ask)) agent.ModelReply {
	r.t.Helper()
	var pieces strings.Builder
	reply, err := demo.Model{}.Reply(r.t.Context(), agent.ModelRequest{Messages: r.messages},
		func(s string) { pieces.WriteString(s) })
	if err != nil || pieces.String() != reply.Text {
		r.t.Fatalf("got %+v in the pieces %q, %v", reply, pieces.String(), err)
	}
	r.messages = append(r.messages,
		conversation.Message{Role: conversation.RoleAssistant, Text: reply.Text, Calls: reply.Calls})
	for _, c := range reply.Calls {
		r.messages = append(r.messages, conversation.Message{Role: conversation.RoleTool, Result: r.result(c, settle)})
	}
	return reply
}

// result returns the result of a call in the form that the tools for models use.
func (r *run) result(c conversation.Call, settle func(*askback.Ask)) *conversation.ToolResult {
	r.t.Helper()
	read := asktool.Questions
	switch c.Tool {
	case "todo_write":
		return &conversation.ToolResult{ID: c.ID, Text: "Saved."}
	case "confirm_action":
		read = asktool.Confirmation
	}
	req, err := read(c.Input)
	if err != nil {
		r.t.Fatalf("%s: %v", c.Tool, err)
	}
	kind := askback.Questions
	if req.Confirmation != nil {
		kind = askback.Confirm
	}
	ask := askback.Ask{Kind: kind, Questions: req.Questions, Confirmation: req.Confirmation, Outcome: &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
	}}
	for i := range ask.Questions {
		ask.Questions[i].ID = fmt.Sprintf("q%d", i+1)
	}
	settle(&ask)
	ask.Status = ask.Outcome.Status
	text, _, isError := asktool.Result(ask)
	return &conversation.ToolResult{ID: c.ID, Text: text, IsError: isError}
}

// The poem has the form that the person chose, and the next steps depend on the decision.
func TestRunDependsOnAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		form     func(*askback.Ask)
		decision askback.Decision
		poem     string
		end      string
	}{
		"haiku, approved":     {choose("haiku"), askback.Approve, "brings one word", "You approved it."},
		"limerick, denied":    {choose("limerick"), askback.Deny, "oh no", "it was not approved"},
		"another form":        {other("sestina"), askback.Approve, "I could have guessed", "You approved it."},
		"declined":            {decline, askback.Deny, "brings one word", "it was not approved"},
		"the form in a text":  {other(`not = "haiku"`), askback.Deny, "I could have guessed", "it was not approved"},
		"free verse and text": {choose("free verse"), askback.Approve, "until you came", "You approved it."},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{t: t, messages: []conversation.Message{{Role: conversation.RoleUser, Text: "Write a poem."}}}
			r.reply(c.form)
			if got := r.reply(func(a *askback.Ask) { a.Outcome.Decision = c.decision }).Text; !strings.Contains(got,
				c.poem) {
				t.Errorf("got %q, want %q in it", got, c.poem)
			}
			r.reply(nil)
			if got := r.reply(nil); !strings.Contains(got.Text, c.end) || len(got.Calls) > 0 {
				t.Errorf("got %+v, want %q in it", got, c.end)
			}
			r.messages = append(r.messages, conversation.Message{Role: conversation.RoleUser, Text: "Another one!"})
			if got := r.reply(nil); !strings.Contains(got.Text, "over") || len(got.Calls) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func choose(label string) func(*askback.Ask) {
	return func(a *askback.Ask) {
		a.Outcome.Answers = []askback.QuestionAnswer{{ID: "q1", Selected: []string{label}}}
	}
}

func other(text string) func(*askback.Ask) {
	return func(a *askback.Ask) {
		a.Outcome.Answers = []askback.QuestionAnswer{{ID: "q1", Other: text}}
	}
}

func decline(a *askback.Ask) { a.Outcome.Status = askback.Declined }

// The todos are the steps of the plan. At the end, the last todo is completed.
func TestPlanIsCompleted(t *testing.T) {
	r := &run{t: t, messages: []conversation.Message{{Role: conversation.RoleUser, Text: "Write a poem."}}}
	var last struct {
		Todos []askback.Todo `json:"todos"`
	}
	for range 4 {
		for _, c := range r.reply(decline).Calls {
			if c.Tool != "todo_write" {
				continue
			}
			if err := json.Unmarshal(c.Input, &last); err != nil || len(last.Todos) != 3 {
				t.Fatalf("got %s, %v", c.Input, err)
			}
		}
	}
	for _, todo := range last.Todos {
		if todo.Status != askback.TodoCompleted {
			t.Errorf("got %+v", todo)
		}
	}
}

// The text arrives word by word, and a cancelled request ends immediately.
func TestTextStreamsUntilTheRequestIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := demo.Model{Pause: time.Second}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		pieces := 0
		_, err := m.Reply(ctx, agent.ModelRequest{}, func(string) { pieces++ })
		if err == nil || pieces != 2 {
			t.Errorf("got %d words and %v, want 2 and an error", pieces, err)
		}
	})
}
