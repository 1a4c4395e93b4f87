package web_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// A scriptedHost is a server whose agents "poem" and "helper" follow the steps of a test. Each request to a
// model and each tool takes its result from a channel.
type scriptedHost struct {
	steps chan modelStep
	tools chan conversation.Executed
	over  chan struct{} // closed at the end of the test
}

// A modelStep is a piece of a reply. If calls or end is set, the reply ends with this step.
type modelStep struct {
	piece string
	calls []conversation.Call
	end   bool
}

// newHost returns a server with hosted agents, and the steps of its models.
func newHost(t *testing.T) (*server, *scriptedHost) {
	h := &server{t: t, now: evening}
	return h, h.host()
}

// host replaces the engine by an engine with hosted agents.
func (h *server) host() *scriptedHost {
	host := &scriptedHost{make(chan modelStep), make(chan conversation.Executed), make(chan struct{})}
	h.engine = engine.New(memstore.New(), &engine.Options{Runner: host})
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{Zone: time.UTC})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.engine.Run(ctx) }()
	h.t.Cleanup(func() { close(host.over); stop(); <-done })
	return host
}

func (s *scriptedHost) Agents() []askback.HostedAgent {
	return []askback.HostedAgent{
		{Name: "helper", Description: "Helps with <b>one</b> task."}, {Name: "poem", Description: "Writes poems."},
	}
}

func (s *scriptedHost) Limits(agent string) (conversation.Limits, error) {
	if agent != "poem" && agent != "helper" {
		return conversation.Limits{}, askback.ErrNotFound
	}
	return conversation.Limits{}, nil
}

func (s *scriptedHost) Reply(
	ctx context.Context, run conversation.Run, _ conversation.RequestModel, _ []conversation.Message,
	piece func(string),
) conversation.Input {
	text := ""
	if run.Agent == "helper" {
		return conversation.ModelReplied{Text: "I helped."}
	}
	for {
		select {
		case step := <-s.steps:
			if step.piece != "" {
				text += step.piece
				piece(step.piece)
			}
			if step.end || len(step.calls) > 0 {
				return conversation.ModelReplied{Text: text, Calls: step.calls, Usage: conversation.Usage{
					InputTokens: 1200, OutputTokens: 34, CostUSD: 0.0123,
				}}
			}
		case <-s.over:
			return conversation.RunFailed{Error: "the test is over"}
		case <-ctx.Done():
			return conversation.ModelFailed{Error: "cancelled", Retry: true}
		}
	}
}

func (s *scriptedHost) Execute(ctx context.Context, _ conversation.Run, _ conversation.Call) conversation.Executed {
	select {
	case out := <-s.tools:
		return out
	case <-s.over:
		return conversation.Executed{IsError: true}
	case <-ctx.Done():
		return conversation.Executed{Text: "cancelled", IsError: true}
	}
}

func (s *scriptedHost) Question(_ conversation.Run, call conversation.Call) (askback.Request, error) {
	return askback.Request{
		Questions: []askback.Question{{Text: "Which style?", Options: askback.Options("haiku", "sonnet")}},
	}, nil
}

func (s *scriptedHost) Outcome(_ conversation.Run, _ conversation.Call, a askback.Ask) conversation.AskSettled {
	return conversation.AskSettled{Text: string(a.Outcome.Status)}
}

func (s *scriptedHost) Asks(conversation.Run) (to []string, asks bool, err error) {
	return nil, true, nil
}

func (s *scriptedHost) Task(conversation.Run, conversation.Call, int) (agent, prompt string) {
	return "helper", "Help."
}

// says ends the reply of the model.
func (s *scriptedHost) says(text string, calls ...conversation.Call) {
	s.steps <- modelStep{text, calls, true}
}

// writes sends a piece of the reply.
func (s *scriptedHost) writes(piece string) { s.steps <- modelStep{piece: piece} }

// toolCall returns a call that runs a tool.
func toolCall(tool, input string) conversation.Call {
	return conversation.Call{
		ID: "c", Tool: tool, Input: json.RawMessage(input), Plan: conversation.Plan{Kind: conversation.KindTool},
	}
}

func askCall() conversation.Call {
	return conversation.Call{ID: "c", Tool: "ask_user_question", Input: json.RawMessage(`{}`), Plan: conversation.Plan{
		Kind: conversation.KindAsk,
	}}
}

func spawnCall() conversation.Call {
	return conversation.Call{ID: "c", Tool: "spawn_agents", Input: json.RawMessage(`{}`), Plan: conversation.Plan{
		Kind: conversation.KindDelegate, Tasks: 1,
	}}
}

// runPoem starts a run of the agent poem.
func (h *server) runPoem(prompt string) askback.Session {
	h.t.Helper()
	s, err := h.client(askback.Responder, "ana").Start(context.Background(),
		askback.SessionRequest{Agent: "poem", Prompt: prompt})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// waitForEvents waits until the session has events of these types, in this order.
func (h *server) waitForEvents(id string, want ...askback.EventType) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ev, err := range h.client(askback.Responder, "ana").Events(ctx, id, askback.Beginning) {
		if err != nil {
			h.t.Fatalf("the event %q is missing: %v", want[0], err)
		}
		if ev.Type == want[0] {
			if want = want[1:]; len(want) == 0 {
				return
			}
		}
	}
}

// post sends a form, and returns the reply.
func (b browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	return b.do(b.request("POST", path, form))
}
