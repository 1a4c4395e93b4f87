package acp_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/acp"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// scripted is a client that settles each ask with the same outcome. Consume calls during.
type scripted struct {
	hooktest.Client
	during func()
	acks   int
}

func (c *scripted) Consume(context.Context, string, string) (askback.Ask, error) {
	c.during()
	return askback.Ask{}, nil
}

func (c *scripted) Ack(context.Context, string) (askback.Ask, error) {
	c.acks++
	return askback.Ask{}, nil
}

// A brokenWriter is a writer that fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// play starts a proxy whose agent requests a permission, and returns the proxy before the ask has ended.
func play(t *testing.T, client *scripted, agent io.Writer) *acp.Proxy {
	t.Helper()
	p := &acp.Proxy{Asks: client, Command: "agent", Run: "r", Program: agents.OverACP, Note: func(text string) {
		t.Errorf("got the note %q", text)
	}}
	p.Start(agent, io.Discard)
	_ = p.FromEditor(strings.NewReader(initialize + "\n")) // a broken agent does not get the outcome
	if err := p.FromAgent(t.Context(), strings.NewReader(initialized+"\n"+toolCall+"\n"+permission+"\n")); err != nil {
		t.Fatal(err)
	}
	return p
}

// Without an ack, people see that the agent did not get the answer.
func TestUndeliverableAnswerIsNotAcked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent io.Writer
		acks  int
	}{{io.Discard, 1}, {brokenWriter{}, 0}} {
		client := &scripted{}
		client.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Deny}
		play(t, client, c.agent).Wait()
		if client.acks != c.acks {
			t.Errorf("%T: %d acks, want %d", c.agent, client.acks, c.acks)
		}
	}
}

// If the editor answers before the answer of Askback is sent, the answer of Askback is dropped.
func TestAnswerAfterTheEndOfItsRequestIsNotSent(t *testing.T) {
	t.Parallel()
	for ends, want := range map[bool]string{true: allowed, false: approved} {
		var agent bytes.Buffer
		forwarded, started := make(chan *acp.Proxy, 1), make(chan bool)
		client := &scripted{during: func() {
			p := <-forwarded
			if ends {
				if err := p.FromEditor(strings.NewReader(allowed + "\n")); err != nil {
					t.Error(err)
				}
			}
			close(started)
		}}
		client.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Approve}
		p := play(t, client, &agent)
		forwarded <- p
		<-started
		p.Wait()
		if got := strings.TrimPrefix(agent.String(), initialize+"\n"); got != want+"\n" {
			t.Errorf("ended %t: the agent got %s, want %s", ends, got, want)
		}
	}
}

// unreachable is a client whose server cannot be reached.
type unreachable struct{ hooktest.Client }

func (*unreachable) Ack(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

func TestUnreachableAskbackIsNoted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var notes []string
	p := &acp.Proxy{Asks: &unreachable{}, Note: func(text string) { notes = append(notes, text); cancel() }}
	p.Start(io.Discard, io.Discard)
	p.Watch(ctx)
	if want := "Askback cannot be reached, so only the editor asks: the server cannot be reached"; len(notes) != 1 ||
		notes[0] != want {
		t.Errorf("got the notes %q, want %q", notes, want)
	}
}
