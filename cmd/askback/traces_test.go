package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/askback/askback/internal/local/instance"
)

// F16: the trace of an agent continues in a server that is killed between question and answer. Its spans are
// the requests, the wait for a person, and the resume.
func TestTraceContinuesAfterACrash(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	var mu sync.Mutex
	names := map[string]bool{} // the names of the spans in the trace
	collect := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &in) != nil {
			t.Errorf("the collector got no traces: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range in.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					if hex.EncodeToString(s.TraceId) == trace {
						names[s.Name] = true
					}
				}
			}
		}
		if strings.Contains(in.String(), "canary") {
			t.Errorf("the traces contain text: %s", in.String())
		}
	}))
	t.Cleanup(collect.Close)
	env, database := sandbox(t)
	env = append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collect.URL, "OTEL_BSP_SCHEDULE_DELAY=20")
	s := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "agent", "--name", "canary-robot"))
	s.user = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "canary-ana"))
	announced, _ := s.place.Last()
	req, err := http.NewRequestWithContext(t.Context(), "POST", announced.URL+"/api/v1/asks",
		strings.NewReader(`{"question": "Which canary?"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.agent)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	id := strings.TrimPrefix(reply.Header.Get("Location"), "/api/v1/asks/")
	if reply.StatusCode != http.StatusCreated || id == "" {
		t.Fatalf("got %s, %q", reply.Status, id)
	}
	s.kill()
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answers": [{"id": "q1", "other": "canary"}]}`, http.StatusOK)
	s.call(s.agent, "POST", "/asks/"+id+"/ack", "", http.StatusOK)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); ; {
		mu.Lock()
		done := names["wait for an answer"] && names["resume with the answer"]
		mu.Unlock()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			mu.Lock()
			defer mu.Unlock()
			t.Fatalf("the trace has only %v; log:\n%s", names, s.process.err.String())
		}
	}
}
