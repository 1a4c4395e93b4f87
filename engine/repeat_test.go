package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A question that the asker's program repeats after it was started again has the time of the repeat. A repeat
// without that statement, a confirmation and a settled question have none.
func TestRepeatAfterARestartIsRecorded(t *testing.T) {
	t.Parallel()
	e := engine.New(memstore.New(), nil)
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	question := askback.Request{Key: "q", Questions: []askback.Question{{Text: "Which?"}}}
	call := askback.Request{Key: "c", Confirmation: &askback.Confirmation{ToolName: "rm", Input: []byte(`{}`)}}
	for _, r := range []askback.Request{question, call} {
		first, err := bot.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := bot.Ask(t.Context(), r)
		if err != nil || again.ID != first.ID || !again.AskedAgainAt.IsZero() {
			t.Errorf("the same request: got %s, asked again at %v, %v", again.ID, again.AskedAgainAt, err)
		}
		r.Restarted = true
		again, err = bot.Ask(t.Context(), r)
		if want := r.Confirmation == nil; err != nil || again.ID != first.ID || again.AskedAgainAt.IsZero() == want {
			t.Errorf("after a restart: got %s, asked again at %v, %v", again.ID, again.AskedAgainAt, err)
		}
		seen, err := ana.Get(t.Context(), first.ID)
		if err != nil || !seen.AskedAgainAt.Equal(again.AskedAgainAt) {
			t.Errorf("the person sees %v, %v", seen.AskedAgainAt, err)
		}
	}
	other := question
	other.Restarted, other.Questions = true, []askback.Question{{Text: "Which one?"}}
	if _, err := bot.Ask(t.Context(), other); !errors.Is(err, askback.ErrKeyReused) {
		t.Errorf("another question with the key: %v", err)
	}
	other.Key = "new"
	settled, err := bot.Ask(t.Context(), other)
	if err != nil || !settled.AskedAgainAt.IsZero() {
		t.Errorf("a new question: asked again at %v, %v", settled.AskedAgainAt, err)
	}
	if _, err := ana.Decline(t.Context(), settled.ID, ""); err != nil {
		t.Fatal(err)
	}
	settled, err = bot.Ask(t.Context(), other)
	if err != nil || settled.Status != askback.Declined || !settled.AskedAgainAt.IsZero() {
		t.Errorf("settled: %s, asked again at %v, %v", settled.Status, settled.AskedAgainAt, err)
	}
}

// A repeat counts as one request for the limit, so that an agent cannot fill the history of a question. Beyond
// the limit it returns the question, and records nothing (T18).
func TestRepeatsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{Settings: engine.Settings{AsksPerMinute: 3}})
		r := question()
		r.Key = "q"
		first := p.ask(r)
		r.Restarted = true
		var last askback.Ask
		for range 3 {
			<-time.After(time.Second)
			if last = p.ask(r); last.ID != first.ID {
				t.Errorf("got %s, want %s", last.ID, first.ID)
			}
		}
		if want := first.CreatedAt.Add(2 * time.Second); !last.AskedAgainAt.Equal(want) {
			t.Errorf("asked again at %v, want %v: the third repeat is one too many", last.AskedAgainAt, want)
		}
	})
}
