package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/askback/askback"
)

func TestManyAgentsAskInTurn(t *testing.T) {
	s, err := openManyAgents(t.Context(), filepath.Join(t.TempDir(), "agents.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	owners := map[string]bool{}
	for range 3 {
		id, err := s.ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.(*manyAgents).person.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		owners[a.Owner] = true
		if err := errors.Join(s.answer(t.Context(), id), s.wait(t.Context(), id)); err != nil {
			t.Error(err)
		}
		if err := s.wait(t.Context(), id); err == nil {
			t.Error("no error for a second wait")
		}
	}
	if len(owners) != 3 {
		t.Errorf("got asks of %v, want three agents", owners)
	}
}

// The error of an ask is returned unchanged, and no agent is kept for the ask.
func TestManyAgentsReturnErrorOfAsk(t *testing.T) {
	s, err := openManyAgents(t.Context(), filepath.Join(t.TempDir(), "agents.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	id, err := s.ask(ctx)
	if !errors.Is(err, context.Canceled) || id != "" {
		t.Errorf("got %q, %v, want %v", id, err, context.Canceled)
	}
	s.(*manyAgents).owners.Range(func(id, _ any) bool {
		t.Errorf("an agent is kept for %q", id)
		return true
	})
}

func TestUnexpectedOutcomeIsAnError(t *testing.T) {
	s, err := openManyAgents(t.Context(), filepath.Join(t.TempDir(), "agents.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	person := s.(*manyAgents).person
	for name, settle := range map[string]func(id string) error{
		"another answer": func(id string) error {
			_, err := person.Answer(t.Context(), id,
				askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"no"}}}})
			return err
		},
		"declined": func(id string) error {
			_, err := person.Decline(t.Context(), id, "not today")
			return err
		},
	} {
		id, err := s.ask(t.Context())
		if err == nil {
			err = settle(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.wait(t.Context(), id); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
