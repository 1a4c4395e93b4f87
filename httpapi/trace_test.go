package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// The position in a trace is stored with the ask, and is not compared when a request is repeated with its key
// (W3C Trace Context). An invalid position is ignored.
func TestTraceParentIsStored(t *testing.T) {
	const first, second = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-11f067aa0ba902b7-00"
	w := newFixture(t, nil)
	ask := func(key, trace string) askback.Ask {
		t.Helper()
		reply := w.send("POST", "/api/v1/asks", w.token(bot), databases, "Idempotency-Key", key, "traceparent", trace)
		if reply.status != http.StatusCreated && reply.status != http.StatusOK {
			t.Fatalf("got %d %s", reply.status, reply.body)
		}
		page, err := w.engine.As(bot).List(t.Context(), askback.Query{Key: key})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("got %v, %v", page.Items, err)
		}
		return page.Items[0]
	}
	a := ask("k1", first)
	if a.TraceParent != first {
		t.Errorf("got %q, want %q", a.TraceParent, first)
	}
	if again := ask("k1", second); again.ID != a.ID || again.TraceParent != first {
		t.Errorf("the same key: got %s with %q, want %s with %q", again.ID, again.TraceParent, a.ID, first)
	}
	if got := ask("k2", "00-x").TraceParent; got != "" {
		t.Errorf("an invalid position: got %q", got)
	}
	client := httpapi.NewClient(w.server.URL, w.token(bot), w.client)
	r := askback.Request{Questions: []askback.Question{{Text: "Which database?"}}, Key: "k3", TraceParent: second}
	if _, err := client.Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := ask("k4", "").TraceParent; got != "" {
		t.Errorf("without a position: got %q", got)
	}
	page, err := w.engine.As(bot).List(t.Context(), askback.Query{Key: "k3"})
	if err != nil || len(page.Items) != 1 || page.Items[0].TraceParent != second {
		t.Errorf("by the client: got %v, %v, want %q", page.Items, err, second)
	}
}
