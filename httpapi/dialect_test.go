package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// If the ask for one of several actions fails, the other asks are withdrawn, because the client does not have
// their ids. With a key the asks stay open, because the repeated request finds them.
func TestFailedRequestLeavesNoAskWithoutKey(t *testing.T) {
	const actions = `{"action_requests": [{"name": "a", "args": {}}, {"name": "b", "args": {}}], "review_configs": [{"action_name": "a", "allowed_decisions": ["approve"]}, {"action_name": "b", "allowed_decisions": ["approve"]}]}`
	for key, want := range map[string]askback.Status{"": askback.Cancelled, "k1": askback.Pending} {
		db := memstore.New()
		w := newFixtureOn(t, engine.New(db, &engine.Options{MaxOpen: 1}), db, nil)
		var header []string
		if key != "" {
			header = []string{"Idempotency-Key", key}
		}
		if got := w.send("POST", "/api/v1/dialects/langgraph/ask", w.token(bot), actions,
			header...); got.status != http.StatusTooManyRequests {
			t.Fatalf("got %+v, want too many asks", got)
		}
		page, err := w.engine.As(bot).List(t.Context(), askback.Query{Status: askback.AnyStatus})
		if err != nil || len(page.Items) != 1 || page.Items[0].Status != want {
			t.Errorf("key %q: got %+v, %v; want one ask that is %s", key, page.Items, err, want)
		}
	}
}
