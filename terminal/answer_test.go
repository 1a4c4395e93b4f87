package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/terminal"
)

// askIn returns an engine with an ask, and the client of a person.
func askIn(t *testing.T, r askback.Request) (askback.Client, askback.Ask) {
	t.Helper()
	e := engine.New(memstore.New(), nil)
	a, err := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return e.As(askback.Principal{Kind: askback.Responder, Name: "ana"}), a
}

func TestPromptAnswersThroughAnInbox(t *testing.T) {
	choice := askback.Request{Questions: []askback.Question{{Text: "Which?", Options: askback.Options("red", "blue")}}}
	approval := askback.Request{Confirmation: &askback.Confirmation{ToolName: "delete", Input: []byte(`{}`)}}
	for _, tt := range []struct {
		name    string
		request askback.Request
		typed   string
		want    string
		err     error
	}{
		{"answer", choice, "blue\n", "answered [blue]", nil},
		{"decline", choice, ":decline too early\n", "declined []", nil},
		{"end of input", choice, "", "pending", terminal.ErrNoInput},
		{"approval by a pipe", approval, "yes\n", "pending", terminal.ErrNoInput},
		{"denial by a pipe", approval, "no\n", "answered []", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ana, a := askIn(t, tt.request)
			var out strings.Builder
			err := terminal.New(strings.NewReader(tt.typed), &out, nil).Answer(t.Context(), ana, a)
			if !errors.Is(err, tt.err) {
				t.Errorf("got the error %v, want %v", err, tt.err)
			}
			now, err := ana.Get(t.Context(), a.ID)
			if err != nil {
				t.Fatal(err)
			}
			got := string(now.Status)
			if now.Outcome != nil {
				got += fmt.Sprint(" ", now.Outcome.Answers)
			}
			if got != tt.want || now.Outcome != nil && now.Outcome.Decision == askback.Approve {
				t.Errorf("got %s, want %s\n%s", got, tt.want, out.String())
			}
		})
	}
}

// silent is an input that has no line until the test ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func TestPromptShowsTheOutcomeFromElsewhere(t *testing.T) {
	ana, a := askIn(t, askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
	var out strings.Builder
	p := terminal.New(silent{t.Context()}, &out, nil)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := ana.Answer(ctx, a.ID, askback.Choose("blue")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Answer(ctx, ana, a); err != nil {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(out.String(), "blue") {
		t.Errorf("the outcome is not shown: %q", out.String())
	}
	_, open := askIn(t, askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
	if err := p.Answer(ctx, ana, open); !errors.Is(err, context.Canceled) {
		t.Errorf("an open ask: got %v", err)
	}
}

// An answer that was accepted earlier is shown.
func TestPromptShowsAnEarlierAnswer(t *testing.T) {
	ana, a := askIn(t, askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
	if _, err := ana.Answer(t.Context(), a.ID, askback.Choose("blue")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := terminal.New(strings.NewReader("red\n"), &out, nil).Answer(t.Context(), ana, a)
	if err != nil || !strings.Contains(out.String(), "blue") {
		t.Errorf("got %v, %q", err, out.String())
	}
}
