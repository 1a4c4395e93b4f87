package scripted_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/conversation"
)

// A run executes the state machine of a run, and stores the state after each step.
type run struct {
	t        *testing.T
	stored   []byte
	messages []conversation.Message
	effects  []conversation.Effect
	now      time.Time
}

func (r *run) state() conversation.State {
	if r.stored == nil {
		return conversation.State{}
	}
	s, err := conversation.Decode(r.stored)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *run) step(in conversation.Input) {
	r.t.Helper()
	result, err := r.state().Step(in)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.stored, err = result.State.Encode(); err != nil {
		r.t.Fatal(err)
	}
	r.messages = append(r.messages, conversation.Messages(result.History)...)
	r.effects = append(r.effects, result.Effects...)
}

// request sends a request to the model twice, as after a crash before the commit. Both replies must have the
// same text.
func (r *run) request(model func() *scripted.Model, e conversation.RequestModel) {
	q := agent.ModelRequest{Messages: r.messages, Attempt: e.Attempt}
	first, _ := model().Reply(r.t.Context(), q, nil)
	reply, err := model().Reply(r.t.Context(), q, nil)
	if first.Text != reply.Text {
		r.t.Fatalf("got %q, then %q", first.Text, reply.Text)
	}
	if failed, ok := errors.AsType[*agent.ModelError](err); ok {
		r.step(conversation.ModelFailed{
			Request: e.Request, Attempt: e.Attempt, Error: err.Error(), Retry: failed.Retry, After: failed.After,
			At: r.now,
		})
		return
	}
	for i := range reply.Calls {
		reply.Calls[i].Plan = conversation.Plan{Kind: conversation.KindAsk}
	}
	r.step(conversation.ModelReplied{
		Request: e.Request, Text: reply.Text, Calls: reply.Calls, Provider: reply.Provider, Usage: reply.Usage,
		At: r.now,
	})
}

func TestRunFollowsItsScript(t *testing.T) {
	model := func() *scripted.Model { return parse(t, poem) } // a new model for each request, as after a restart
	r := &run{t: t, now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)}
	r.step(conversation.Started{Prompt: prompt, At: r.now})
	requests := 0
	for {
		if len(r.effects) == 0 {
			due := r.state().Due()
			if due.IsZero() {
				break
			}
			r.now = due
			r.step(conversation.Due{At: due})
			continue
		}
		effect := r.effects[0]
		r.effects = r.effects[1:]
		switch e := effect.(type) {
		case conversation.RequestModel:
			requests++
			r.request(model, e)
		case conversation.OpenAsk:
			r.step(conversation.AskSettled{Call: e.Call, Text: "a haiku", At: r.now})
		}
	}
	if s := r.state(); s.Phase != conversation.Idle || requests != 4 || s.Request != 2 {
		t.Errorf("got %s after %d attempts of %d requests", s.Phase, requests, s.Request)
	}
	var got []string
	for _, m := range r.messages {
		got = append(got, string(m.Role)+": "+content(m))
	}
	want := "user: Write a poem.\nassistant: I need to know the style.\ntool: a haiku\nassistant: Old pond. A " +
		"frog leaps in."
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// content returns the text of a message.
func content(m conversation.Message) string {
	if m.Result != nil {
		return m.Result.Text
	}
	return m.Text
}
