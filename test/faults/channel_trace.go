package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/askback/askback/test/kit/fakes"
)

// A traceCollector receives the traces of servers, as an OpenTelemetry collector does, and keeps every
// export.
type traceCollector struct {
	url string
	mu  sync.Mutex
	got strings.Builder
}

func newTraceCollector(s *fakes.Stage) *traceCollector {
	c := &traceCollector{}
	web := httptest.NewServer(http.HandlerFunc(c.receive))
	s.Cleanup(web.Close)
	c.url = web.URL
	return c
}

// receive adds a request to c.got. An export is uncompressed protobuf, so its strings can be found there.
func (c *traceCollector) receive(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(&c.got, "%s %s %v\n", r.Method, r.URL, r.Header)
	_, _ = io.Copy(&c.got, r.Body) // the data that a kill has truncated is searched, too
}

func (c *traceCollector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.String()
}

// environment returns the variables that make a server send traces, so often that even a short-lived server
// sends some.
func (c *traceCollector) environment() []string {
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_EXPORTER_OTLP_COMPRESSION=none", "OTEL_BSP_SCHEDULE_DELAY=20",
	}
}

// checkTraces checks that the traces contain neither secrets nor names, and that they contain the spans of
// the requests with secrets.
func (t *channelKillTest) checkTraces(ctx context.Context, secrets map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, venueTime)
	defer cancel()
	for _, span := range []string{"wait for an answer", "POST /api/v1/asks", "GET /a/", "GET /api/v1/deliveries"} {
		if !until(ctx, func() bool { return strings.Contains(t.traces.text(), span) }) {
			t.violate(failed, "the traces have no span %q, in %d bytes", span, len(t.traces.text()))
		}
	}
	text := t.traces.text()
	for _, name := range append([]string{t.agent.name, t.operator.name}, fakes.People...) {
		// a string is preceded by its length
		t.search("an export of traces", text, map[string]string{"the name " + name: string(rune(len(name))) + name})
	}
	t.search("an export of traces", text, secrets)
	t.search("an export of traces", text,
		map[string]string{"a token that is not valid": forgedToken, "a link that is not valid": forgedLink})
}

// search records a violation for each secret that text contains.
func (t *channelKillTest) search(where, text string, secrets map[string]string) {
	for what, secret := range secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.violate(accepted, "%s has %s: …%.300q", where, what, text[max(0, i-150):])
		}
	}
}
