package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// A stored run in a state that no step produces is rejected with ErrDamaged. The error for a newer format
// mentions the newer release.
func TestInvalidStoredRunIsRejected(t *testing.T) {
	for stored, damaged := range map[string]bool{
		`{"format":1,"phase":"requesting","request":1,"attempt":1}`:                           false,
		`{"format":1,"phase":"executing","open":[{"n":1,"id":"x","tool":"t","kind":"tool"}]}`: false,
		``:                                 true,
		`{"format":1,"phase":"req`:         true,
		`{"format":1}`:                     true,
		`{"format":1,"phase":"sleeping"}`:  true,
		`{"format":1,"phase":"executing"}`: true,
		`{"format":1,"phase":"idle","open":[{"n":1,"id":"x","tool":"t","kind":"tool"}]}`:                     true,
		`{"format":1,"phase":"requesting","children":[{}]}`:                                                  true,
		`{"format":1,"phase":"delegating","open":[{"n":1,"id":"x","tool":"t","kind":"delegate","tasks":2}]}`: true,
	} {
		s, err := conversation.Decode([]byte(stored))
		if errors.Is(err, askback.ErrDamaged) != damaged {
			t.Errorf("%s: got %+v, %v", stored, s, err)
		}
	}
	_, err := conversation.Decode([]byte(`{"format":2,"phase":"dreaming"}`))
	if err == nil || errors.Is(err, askback.ErrDamaged) || !strings.Contains(err.Error(), "newer release") {
		t.Errorf("a newer format: got %v", err)
	}
}

// A run starts at most MaxChildren children in all its turns. For further children, the model gets an error,
// and the run goes on.
func TestChildrenOfARunAreLimited(t *testing.T) {
	var s conversation.State
	step := func(in conversation.Input) (result conversation.Result) {
		t.Helper()
		result, err := s.Step(in)
		if err != nil || result.Unchanged {
			t.Fatalf("%#v changes nothing: %v", in, err)
		}
		s = result.State
		return result
	}
	step(conversation.Started{
		Prompt: conversation.Message{Role: conversation.RoleUser, Text: "Go."},
		Limits: conversation.Limits{Requests: 1000},
	})
	spawn := func(tasks int) (started int, rejection string) {
		t.Helper()
		replied := step(conversation.ModelReplied{Request: s.Request, Calls: []conversation.Call{
			{ID: "x", Tool: "spawn_agents", Plan: conversation.Plan{Kind: conversation.KindDelegate, Tasks: tasks}},
		}})
		for _, e := range replied.Effects {
			if child, ok := e.(conversation.StartChild); ok {
				started++
				step(conversation.ChildFinished{Call: child.Call, Child: child.Child, Text: "Done."})
			}
		}
		for _, e := range replied.History {
			if e.Type == conversation.EventToolComplete && e.IsError {
				rejection = e.Text
			}
		}
		return started, rejection
	}
	for range 12 {
		if started, rejection := spawn(8); started != 8 {
			t.Fatalf("%d of 8 children started: %s", started, rejection)
		}
		step(conversation.ModelReplied{Request: s.Request, Text: "Done."}) // the turn ends
		step(conversation.PersonWrote{By: "ana", Text: "Again."})
	}
	want := fmt.Sprintf("This run may start %d agents, and has started 96. Start fewer, or do the rest yourself.",
		conversation.MaxChildren)
	if started, rejection := spawn(8); started != 0 || rejection != want {
		t.Errorf("%d children started: %s", started, rejection)
	}
	if started, rejection := spawn(4); started != 4 {
		t.Errorf("%d of the last 4 children started: %s", started, rejection)
	}
	if started, rejection := spawn(1); started != 0 || rejection == "" || s.Phase != conversation.Requesting {
		t.Errorf("%d children started: %s, in phase %s", started, rejection, s.Phase)
	}
}

// The stored form of a waiting run is small, however many messages it has.
func TestWaitingRunIsSmall(t *testing.T) {
	started, err := conversation.State{}.Step(conversation.Started{
		Prompt: conversation.Message{Role: conversation.RoleUser, Text: strings.Repeat("x", 10_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := started.State
	for i := range 40 {
		calls := []conversation.Call{{
			ID: "toolu_01A09q90qw90lq917835lq9", Tool: "ask_user_question",
			Input: json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`),
			Plan:  conversation.Plan{Kind: conversation.KindTool, Confirm: true},
		}}
		replied,
			err := s.Step(conversation.ModelReplied{Request: i + 1, Text: strings.Repeat("x", 10_000), Calls: calls})
		if err != nil {
			t.Fatal(err)
		}
		b, err := replied.State.Encode()
		if err != nil || len(b) > 300 {
			t.Fatalf("a waiting run has %d bytes, %v: %s", len(b), err, b)
		}
		settled, err := replied.State.Step(conversation.AskSettled{Call: i + 1, Text: strings.Repeat("x", 10_000)})
		if err != nil {
			t.Fatal(err)
		}
		s = settled.State
	}
}

// Inputs that a run does not allow are errors, and change nothing.
func TestForbiddenInputsOfARunAreErrors(t *testing.T) {
	prompt := conversation.Started{Prompt: conversation.Message{Role: conversation.RoleUser, Text: "Go."}}
	if r, err := (conversation.State{}).Step(conversation.TurnCancelled{}); err == nil || !r.Unchanged {
		t.Errorf("a run that was not started is cancelled: %+v", r)
	}
	started, err := conversation.State{}.Step(prompt)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := started.State.Step(prompt); err == nil || !r.Unchanged {
		t.Errorf("a run is started again: %+v", r)
	}
	if r, err := started.State.Step(nil); err == nil || !r.Unchanged {
		t.Errorf("nil as an input: %+v", r)
	}
}

// A person cannot fill the state with messages while the model works.
func TestQueuedMessagesAreLimited(t *testing.T) {
	r, err := conversation.State{}.Step(conversation.Started{})
	for range conversation.MaxQueued {
		if err != nil {
			t.Fatal(err)
		}
		r, err = r.State.Step(conversation.PersonWrote{By: "ana", Text: "hello"})
	}
	var retry *askback.RetryError
	if r, err := r.State.Step(conversation.PersonWrote{By: "ana", Text: "one more"}); !errors.As(err, &retry) ||
		!r.Unchanged {
		t.Errorf("got %v", err)
	}
}
