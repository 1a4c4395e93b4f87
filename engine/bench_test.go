package engine_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// newBenchClients returns the clients of an engine whose store discards everything, to measure the engine
// alone. All asks are in the cache.
func newBenchClients() (agent, person askback.Client) {
	e := engine.New(discardStore{memstore.New()}, &engine.Options{CacheBytes: 1 << 40})
	return e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot"}),
		e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
}

// askAll makes n asks.
func askAll(b *testing.B, agent askback.Asker, n int) (ids []string) {
	r := question()
	for range n {
		a, err := agent.Ask(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

func BenchmarkAsk(b *testing.B) {
	agent, _ := newBenchClients()
	b.ReportAllocs()
	for b.Loop() {
		askAll(b, agent, 1)
	}
}

func BenchmarkAnswer(b *testing.B) {
	agent, person := newBenchClients()
	ids := askAll(b, agent, b.N)
	answer := askback.Choose("SQLite")
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		if _, err := person.Answer(b.Context(), id, answer); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWait measures a wait for an ask that is already settled.
func BenchmarkWait(b *testing.B) {
	agent, person := newBenchClients()
	id := askAll(b, agent, 1)[0]
	if _, err := person.Answer(b.Context(), id, askback.Choose("SQLite")); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agent.Wait(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
}
