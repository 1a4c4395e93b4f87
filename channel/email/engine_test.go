package email_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
)

// An office is an [email.Engine] that stores its asks in memory.
type office struct {
	mu     sync.Mutex
	asks   map[string]*askback.Ask
	calls  int           // of Answer
	errors []error       // errors that the next calls of Answer return
	called chan struct{} // receives a value for each error that is returned
}

func newOffice(asks ...askback.Ask) *office {
	o := &office{asks: map[string]*askback.Ask{}, called: make(chan struct{}, 10)}
	for _, a := range asks {
		o.asks[a.ID] = &a
	}
	return o
}

func (o *office) ask(id string) askback.Ask {
	o.mu.Lock()
	defer o.mu.Unlock()
	return *o.asks[id]
}

func (o *office) answerCalls() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls
}

// Person implements [email.Engine].
func (o *office) Person(_ context.Context, name string, via askback.Channel) (askback.PersonClient, error) {
	if name == "ben" {
		return nil, askback.ErrForbidden
	}
	return clerk{o: o, name: name, via: via}, nil
}

// A clerk is the client with which a person answers.
type clerk struct {
	askback.PersonClient
	o    *office
	name string
	via  askback.Channel
}

func (c clerk) Get(_ context.Context, id string) (askback.Ask, error) {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	a, ok := c.o.asks[id]
	if !ok {
		return askback.Ask{}, askback.ErrNotFound
	}
	return *a, nil
}

func (c clerk) Seen(context.Context, string) error { return nil }

func (c clerk) Answer(_ context.Context, id string, given askback.Answer) (askback.Ask, error) {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	c.o.calls++
	if len(c.o.errors) > 0 {
		err := c.o.errors[0]
		c.o.errors = c.o.errors[1:]
		c.o.called <- struct{}{}
		return askback.Ask{}, err
	}
	a := c.o.asks[id]
	given, err := given.Normalize(*a)
	if err != nil {
		return askback.Ask{}, err
	}
	out := &askback.Outcome{
		Status: askback.Answered, Answers: given.Answers, Decision: given.Decision, Channel: c.via, At: clock,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: c.name},
	}
	if a.Settled() {
		if a.Outcome.Same(out) && a.Outcome.Actor == out.Actor {
			return *a, nil
		}
		return *a, askback.ErrSettled
	}
	a.Status, a.Outcome = askback.Answered, out
	return *a, nil
}

func (c clerk) Decline(_ context.Context, id, reason string) (askback.Ask, error) {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	a := c.o.asks[id]
	if a.Settled() {
		return *a, askback.ErrSettled
	}
	a.Status = askback.Declined
	a.Outcome = &askback.Outcome{
		Status: askback.Declined, Reason: reason, Channel: c.via, At: clock,
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: c.name},
	}
	return *a, nil
}

// run reads the mailbox until the test ends, or stop is called.
func run(t testing.TB, c *email.Channel, e email.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, e)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// waitUnseen waits until the mailbox has want unseen messages.
func waitUnseen(t testing.TB, s *emailtest.Server, want int) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		marked := s.Marked()
		unseen := s.Unseen(t)
		if unseen == want {
			return
		}
		select {
		case <-marked:
		case <-late:
			t.Fatalf("%d messages are not seen, want %d", unseen, want)
		}
	}
}

// numbered returns the id of an ask whose last six digits are n.
func numbered(n int) string { return fmt.Sprintf("ask_01kayv3wz8fj2q9d0m7x%06d", n) }

// labels returns the selected options of an outcome, or its other text.
func labels(a askback.Ask) []string {
	var out []string
	if a.Outcome == nil {
		return nil
	}
	for _, q := range a.Outcome.Answers {
		out = append(out, q.Selected...)
		if q.Other != "" {
			out = append(out, q.Other)
		}
	}
	if a.Status == askback.Declined {
		out = append(out, "declined", a.Outcome.Reason)
	}
	if a.Outcome.Decision != "" {
		out = append(out, string(a.Outcome.Decision))
	}
	return slices.Clip(out)
}
