package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/askback/askback"
)

// Traces send spans to a collector by OTLP over HTTP. The environment variables of OpenTelemetry configure
// them. They implement [engine.Observer]. The span of an ask is made from stored data when the ask ends, so
// the span is complete even if several processes served the ask. No span has text or names of an agent or a
// person.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	sender   *sender
}

// ErrProtocol is returned if OTEL_EXPORTER_OTLP_PROTOCOL has another value than
// http/protobuf.
var ErrProtocol = errors.New(
	"traces are sent by http/protobuf only: set OTEL_EXPORTER_OTLP_PROTOCOL to it, or leave it out",
)

// NewTraces returns traces that are sent to the collector in the environment. If the environment has no
// collector, it returns nil. Errors of sending are written to log.
func NewTraces(ctx context.Context, version string, log *slog.Logger, getenv func(string) string) (*Traces, error) {
	endpoint, _ := environment(getenv).option("ENDPOINT")
	kind := getenv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true"), kind == "none", endpoint+kind == "":
		return nil, nil
	case kind != "" && kind != "otlp":
		return nil, fmt.Errorf("traces are sent by OTLP only: set OTEL_TRACES_EXPORTER to otlp or none, not %q", kind)
	}
	if p, _ := environment(getenv).option("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, ErrProtocol
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not sent", "error", err) }))
	c, err := environment(getenv).collector()
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	client := newSender(c, version, log)
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "askback"),
		attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Traces{
		provider, provider.Tracer("github.com/askback/askback", trace.WithInstrumentationVersion(version)), client,
	}, nil
}

// Close sends the remaining spans, each once, and stops.
func (t *Traces) Close(ctx context.Context) error {
	t.sender.close()
	return t.provider.Shutdown(ctx)
}

// Committed implements [engine.Observer]. It makes a span of an ask when the ask is settled, and when its
// agent has acknowledged the outcome. The spans continue the trace of the agent.
func (t *Traces) Committed(event askback.EventType, a askback.Ask) {
	if a.Outcome == nil {
		return
	}
	about := []attribute.KeyValue{
		attribute.String("askback.ask.id", a.ID), attribute.String("askback.session.id", a.SessionID),
		attribute.String("askback.kind", kindOf(&a)),
	}
	o := a.Outcome
	switch {
	case event.Settles():
		t.span(a.TraceParent, "wait for an answer", trace.SpanKindInternal, a.CreatedAt, o.At, append(about,
			attribute.String("askback.status", string(o.Status)), attribute.String("askback.by", string(o.Actor.Kind)),
			attribute.String("askback.via", string(o.Channel)),
			attribute.Bool("askback.approved", o.Approved()))...)
	case event == askback.EventAnswerAcked:
		t.span(a.TraceParent, "resume with the answer", trace.SpanKindInternal, o.At, a.AckedAt, about...)
	}
}

// untraced lists the routes of probes and of files of pages, which are frequent.
var untraced = []string{"GET /healthz", "GET /readyz", "GET /metrics", "GET /sw.js"}

// Served makes the span of an HTTP request that has ended, unless its route is untraced. The span continues
// the trace of the client.
func (t *Traces) Served(r *http.Request, status int, took time.Duration) {
	route := routeOf(r)
	if slices.Contains(untraced, route) || strings.HasPrefix(route, "GET /assets/") {
		return
	}
	ends := time.Now()
	span := t.start(r.Header.Get("Traceparent"), cmp.Or(route, r.Method), trace.SpanKindServer, ends.Add(-took),
		attribute.String("http.request.method", r.Method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End(trace.WithTimestamp(ends))
}

// span makes a span with a start and an end.
func (t *Traces) span(parent, name string, kind trace.SpanKind, begins, ends time.Time, about ...attribute.KeyValue) {
	t.start(parent, name, kind, begins, about...).End(trace.WithTimestamp(ends))
}

// start starts a span that continues the trace of parent. If parent is not valid, the span begins a new
// trace.
func (t *Traces) start(parent, name string, kind trace.SpanKind, at time.Time, about ...attribute.KeyValue) trace.Span {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithSpanKind(kind),
		trace.WithAttributes(about...))
	return span
}
