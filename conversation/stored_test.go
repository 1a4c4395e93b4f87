package conversation_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// A stored run that no step has written is damage, and one of a newer release is named.
func TestStoredRunIsChecked(t *testing.T) {
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

// A run that waits is small, however many messages it has.
func TestWaitingRunIsSmall(t *testing.T) {
	started, err := conversation.State{}.Step(conversation.Started{Prompt: conversation.Message{Role: conversation.RoleUser, Text: strings.Repeat("x", 10_000)}})
	if err != nil {
		t.Fatal(err)
	}
	s := started.State
	for i := range 40 {
		calls := []conversation.Call{{ID: "toolu_01A09q90qw90lq917835lq9", Tool: "ask_user_question", Input: json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`), Plan: conversation.Plan{Kind: conversation.KindTool, Confirm: true}}}
		replied, err := s.Step(conversation.ModelReplied{Request: i + 1, Text: strings.Repeat("x", 10_000), Calls: calls})
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
func TestRunBeginsOnce(t *testing.T) {
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
	if r, err := r.State.Step(conversation.PersonWrote{By: "ana", Text: "one more"}); !errors.As(err, &retry) || !r.Unchanged {
		t.Errorf("got %v", err)
	}
}
