package hooktest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/store/memstore"
)

// A Fixture is an engine, and a process that runs hooks for the agent bot. Its methods must be called in a
// synctest bubble.
type Fixture struct {
	Engine *engine.Engine
	Runner hook.Runner
	t      *testing.T
}

// NewFixture returns an engine without asks.
func NewFixture(t *testing.T) *Fixture {
	return &Fixture{t: t, Engine: engine.New(memstore.New(), nil)}
}

// Client returns the client of bot.
func (f *Fixture) Client() askback.AgentClient {
	return f.Engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
}

// Start runs a hook, and returns once the hook waits. leave cancels the hook. replies gets the reply of the
// hook. An error fails the test.
func (f *Fixture) Start(run func(ctx context.Context) (hook.Reply, error)) (leave func(), replies <-chan hook.Reply) {
	ctx, cancel := context.WithCancel(f.t.Context())
	out := make(chan hook.Reply, 1)
	go func() {
		reply, err := run(ctx)
		if err != nil {
			f.t.Error(err)
		}
		out <- reply
	}()
	synctest.Wait()
	return cancel, out
}

// WantAsks requires that the asks have these statuses, oldest first, and returns the asks in this order.
func (f *Fixture) WantAsks(when string, status ...askback.Status) []askback.Ask {
	f.t.Helper()
	synctest.Wait()
	page, err := f.Client().List(f.t.Context(), askback.Query{Status: askback.AnyStatus})
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Reverse(page.Items)
	var got []askback.Status
	for _, a := range page.Items {
		got = append(got, a.Status)
	}
	if !slices.Equal(got, status) {
		f.t.Fatalf("%s: got %v, want %v", when, got, status)
	}
	return page.Items
}

// Answer answers an ask as ana.
func (f *Fixture) Answer(ask askback.Ask, a askback.Answer) {
	f.t.Helper()
	if _, err := f.Engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(f.t.Context(), ask.ID,
		a); err != nil {
		f.t.Fatal(err)
	}
}
