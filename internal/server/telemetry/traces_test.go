package telemetry_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/telemetry"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

// received starts a collector. It returns a function that returns the spans received so far.
func received(t *testing.T) func() []*otlp.Span {
	t.Helper()
	var mu sync.Mutex
	var spans []*otlp.Span
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &in)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("the collector got %s: %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range in.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return func() []*otlp.Span {
		mu.Lock()
		defer mu.Unlock()
		return append([]*otlp.Span(nil), spans...)
	}
}

// The wait for a person and the resume of the agent are spans in the trace of the agent. The spans have the
// stored times, and no text of an agent or a person (F16).
func TestWaitAndResumeOfAnAskAreSpans(t *testing.T) {
	spans := received(t)
	traces, err := telemetry.NewTraces(t.Context(), "1.2.3", slog.New(slog.DiscardHandler), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	asked := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	a := askback.Ask{
		ID: "ask_1", SessionID: "ses_1", Agent: "secret robot", Owner: "secret robot", CreatedAt: asked,
		TraceParent: parent,
		Questions:   []askback.Question{{ID: "q1", Text: "secret question"}},
	}
	traces.Committed(askback.EventQuestionPending, a)
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, At: asked.Add(50 * time.Hour),
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: "secret ana"}, Channel: askback.ChannelAPI,
		Comment: "secret comment",
	}
	traces.Committed(askback.EventQuestionAnswered, a)
	a.AckedAt = asked.Add(51 * time.Hour)
	traces.Committed(askback.EventAnswerAcked, a)
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := spans()
	if len(got) != 2 {
		t.Fatalf("got %d spans, want 2: %v", len(got), got)
	}
	for i, want := range []struct {
		name         string
		begins, ends time.Time
	}{{"wait for an answer", asked, a.Outcome.At}, {"resume with the answer", a.Outcome.At, a.AckedAt}} {
		s := got[i]
		begins, ends := time.Unix(0, int64(s.StartTimeUnixNano)), time.Unix(0, int64(s.EndTimeUnixNano))
		if s.Name != want.name || !begins.Equal(want.begins) || !ends.Equal(want.ends) ||
			hex.EncodeToString(s.TraceId) != traceID || hex.EncodeToString(s.ParentSpanId) != spanID {
			t.Errorf("got %v, want %+v in the trace of the agent", s, want)
		}
		if text := s.String(); strings.Contains(text, "secret") || !strings.Contains(text, "ask_1") {
			t.Errorf("a text is in the span, or the id is missing: %s", text)
		}
	}
}

// Each request becomes a span in the client's trace, named after the route. The span has no path and no
// query. Probes and assets have no span.
func TestEachRequestExceptProbesIsASpan(t *testing.T) {
	spans := received(t)
	traces, err := telemetry.NewTraces(t.Context(), "", slog.New(slog.DiscardHandler), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, route := range []string{"GET /asks/{id}", "GET /healthz", "GET /assets/"} {
		mux.HandleFunc(route, func(http.ResponseWriter, *http.Request) {})
	}
	for _, path := range []string{"/asks/ask_secret?token=secret", "/healthz", "/assets/page.css"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Traceparent", parent)
		r.Header.Set("Authorization", "Bearer secret")
		mux.ServeHTTP(httptest.NewRecorder(), r)
		traces.Served(r, http.StatusInternalServerError, time.Second)
	}
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := spans()
	if len(got) != 1 {
		t.Fatalf("got %d spans, want 1: %v", len(got), got)
	}
	s := got[0]
	if s.Name != "GET /asks/{id}" || hex.EncodeToString(s.TraceId) != traceID ||
		s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(time.Second) ||
		s.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || strings.Contains(s.String(), "secret") {
		t.Errorf("got %v", s)
	}
}

// Without a collector in the environment there are no traces. An exporter or a protocol that is not supported
// is an error.
func TestEnvironmentConfiguresTraces(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		on   bool
		want string // part of the error
	}{
		{env: nil},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, on: true},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, on: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, on: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}},
		{env: map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, want: `not "zipkin"`},
		{
			env:  map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			want: "http/protobuf only",
		},
		{
			env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
			on:  true,
		},
	} {
		traces, err := telemetry.NewTraces(t.Context(), "", slog.New(slog.DiscardHandler),
			func(key string) string { return c.env[key] })
		if (traces != nil) != c.on || (err != nil) != (c.want != "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, %v", c.env, traces, err)
		}
		if traces != nil {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := traces.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%v: close: %v", c.env, err)
			}
		}
	}
}
