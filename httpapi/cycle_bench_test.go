package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// BenchmarkCycle measures each call of a cycle over HTTP. Its allocations include both sides: the clients,
// the handler and the engine.
func BenchmarkCycle(b *testing.B) {
	e := engine.New(memstore.New(), &engine.Options{MaxOpen: 1 << 30, MaxWaiters: 200})
	h := httpapi.NewHandler(e, nil)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Stop()
	agent, person := benchClient(b, e, server, bot,
		&http.Transport{}), benchClient(b, e, server, ana, &http.Transport{})
	request := askback.Request{
		Questions: []askback.Question{
			{Text: "Deploy build 4711 to production?", Options: askback.Options("yes", "no", "later")},
		},
		Context: json.RawMessage(`"` + strings.Repeat("x", 160) + `"`),
	}
	answer := askback.Answer{
		Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"yes"}, Notes: "checked the dashboards"}},
	}
	step := func(do func(ctx context.Context, id string) (askback.Ask, error)) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				a, err := agent.Ask(b.Context(), request)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := do(b.Context(), a.ID); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("ask", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := agent.Ask(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("answer",
		step(func(ctx context.Context, id string) (askback.Ask, error) { return person.Answer(ctx, id, answer) }))
	b.Run("get", step(agent.Get))
	a, err := agent.Ask(b.Context(), request)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := person.Answer(b.Context(), a.ID, answer); err != nil {
		b.Fatal(err)
	}
	b.Run("wait", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := agent.Wait(b.Context(), a.ID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := person.List(b.Context(), askback.Query{Limit: 20}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchClient(
	b *testing.B, e *engine.Engine, server *httptest.Server, who askback.Principal, t http.RoundTripper,
) *httpapi.Client {
	b.Helper()
	secret, err := e.NewSecret()
	if err == nil {
		err = e.Adopt(b.Context(), who, secret)
	}
	if err != nil {
		b.Fatal(err)
	}
	return httpapi.NewClient(server.URL, secret, &http.Client{Transport: t})
}
