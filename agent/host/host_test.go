package host_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/host"
)

// A model asks a question, or delegates, and replies with the result.
type model struct{ delegates bool }

func (m model) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case strings.Contains(last.Text, "fail"):
		return agent.ModelReply{}, &agent.ModelError{Err: errors.New("the key is wrong")}
	case last.Result != nil && r.Messages[0].Text == "Ask twice." && len(r.Messages) == 3:
		return agent.CallTool(agent.AskUserQuestion,
			map[string]any{"question": "Sure?", "options": []string{"red", "blue"}})
	case last.Result != nil:
		return agent.ModelReply{Text: "Got: " + last.Result.Text}, nil
	case m.delegates:
		return agent.CallTool(agent.SpawnAgents,
			map[string]any{"tasks": []any{map[string]any{"agent": "asker", "prompt": "Ask."}}})
	}
	return agent.CallTool(agent.AskUserQuestion,
		map[string]any{"question": "Which?", "options": []string{"red", "blue"}})
}

func definitions() []agent.Definition {
	return []agent.Definition{
		{Name: "asker", Model: model{}, Tools: []string{agent.AskUserQuestion}},
		{Name: "lead", Model: model{delegates: true}, Tools: []string{agent.SpawnAgents}, Bubble: true},
	}
}

func open(t *testing.T, database string) *host.Host {
	t.Helper()
	h, err := host.Open(database, definitions()...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func blue(ctx context.Context, inbox askback.Inbox, a askback.Ask) error {
	_, err := inbox.Answer(ctx, a.ID, askback.Choose("blue"))
	return err
}

func TestAsksOfTheRunAndItsSubAgentsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "")
		defer h.Close()
		if _, err := h.Start(t.Context(), "asker", "Another run."); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the question of the run is open
		for _, name := range []string{"asker", "lead"} {
			asked := 0
			got, err := h.Run(t.Context(),
				name, "Go.", func(ctx context.Context, inbox askback.Inbox, a askback.Ask) error {
					asked++
					return blue(ctx, inbox, a)
				})
			if err != nil || !strings.Contains(got, "blue") {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
			if asked != 1 {
				t.Errorf("%s: %d asks were answered, want only the ask of the run", name, asked)
			}
		}
	})
}

func TestAskSettledElsewhereEndsTheContextOfItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "")
		defer h.Close()
		ana := h.Client(askback.Principal{Kind: askback.Responder, Name: "ana"})
		got, err := h.Run(t.Context(),
			"asker", "Ask twice.", func(ctx context.Context, _ askback.Inbox, a askback.Ask) error {
				if err := blue(context.Background(), ana, a); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			})
		if err != nil || !strings.Contains(got, `"Sure?" = "blue"`) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestRunWithoutAnswererIsAnsweredByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "")
		defer h.Close()
		ana := h.Client(askback.Principal{Kind: askback.Responder, Name: "ana"})
		go func() {
			synctest.Wait()
			page, err := ana.List(t.Context(), askback.Query{})
			if err != nil || len(page.Items) != 1 {
				t.Errorf("got %d asks, %v", len(page.Items), err)
				return
			}
			if err := blue(t.Context(), ana, page.Items[0]); err != nil {
				t.Error(err)
			}
		}()
		if got, err := h.Run(t.Context(), "asker", "Go.", nil); err != nil || !strings.Contains(got, "blue") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// The next process continues a run whose question stayed open.
func TestRunSurvivesARestart(t *testing.T) {
	database := filepath.Join(t.TempDir(), "agents.db")
	h := open(t, database)
	later := errors.New("not now")
	var id string
	_, err := h.Run(t.Context(), "asker", "Go.", func(_ context.Context, _ askback.Inbox, a askback.Ask) error {
		id = a.SessionID
		return later
	})
	if !errors.Is(err, later) {
		t.Fatalf("got %v, want the error of the answerer", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = open(t, database)
	defer h.Close()
	for range 2 { // the second time it has ended already
		if got, err := h.Wait(t.Context(), id, blue); err != nil || !strings.Contains(got, `"Which?" = "blue"`) {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestFailedRunReturnsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "")
		defer h.Close()
		if got, err := h.Run(t.Context(), "asker", "fail", blue); got != "" || !errors.Is(err, host.ErrNotCompleted) ||
			!strings.Contains(err.Error(), "the key is wrong") {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := h.Run(t.Context(), "poet", "Go.", blue); !errors.As(err, &askback.Invalid{}) {
			t.Errorf("unknown agent: got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := h.Run(ctx, "asker", "Go.", func(context.Context, askback.Inbox, askback.Ask) error {
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled context: got %v", err)
		}
	})
}

func TestInvalidDefinitionsOpenNoDatabase(t *testing.T) {
	database := filepath.Join(t.TempDir(), "agents.db")
	if _, err := host.Open(database, agent.Definition{Name: "empty"}); err == nil ||
		!strings.Contains(err.Error(), "agent empty: model: no model is set; set a model") {
		t.Errorf("got %v", err)
	}
	if found, _ := filepath.Glob(database); found != nil {
		t.Error("the database was created")
	}
	if _, err := host.Open(t.TempDir(), definitions()...); err == nil {
		t.Error("a directory was opened as a database")
	}
}
