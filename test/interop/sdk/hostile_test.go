package sdk_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// confirmation returns the JSON of a confirmation with a status and an outcome, as a server could reply with
// it.
func confirmation(status, outcome string) string {
	return fmt.Sprintf(
		`{"id": "ask_1", "session_id": "ses_1", "agent": "robot", "kind": "confirmation", "questions": [],
		"confirmation": {"tool_name": "deploy", "server": null, "input": {"to": "prod", "count": 3}, "digest": "sha256:1"},
		"status": %q, "page_url": "http://127.0.0.1/asks/ask_1", "warnings": [], "outcome": %s, "acked_at": null, "consumed_at": null}`, status, outcome)
}

// outcomeOf returns the JSON of an outcome of a confirmation.
func outcomeOf(status, decision, digest string) string {
	return fmt.Sprintf(`{"status": %q, "answers": [], "decision": %s, "input": null, "digest": %s, "reason": null,
		"by": {"kind": "person", "name": "ana"}, "via": "web", "at": "2026-01-02T09:00:00.000Z", "default_applied": false}`, status, decision, digest)
}

// Only an approval that the server consumed for this call is an approval. An unknown or incomplete reply, a
// reply for another ask, an error and silence are not.
func TestUnusableRepliesNeverApprove(t *testing.T) {
	t.Parallel()
	approved := confirmation("answered", outcomeOf("answered", `"approved"`, `"sha256:1"`))
	tests := []struct {
		name             string
		opened, consumed string // the replies; a number is a status
	}{
		{"an unknown decision", confirmation("answered", outcomeOf("answered", `"maybe"`, `"sha256:1"`)), approved},
		{"no decision", confirmation("answered", outcomeOf("answered", "null", "null")), approved},
		{
			"an approval without a digest", confirmation("answered", outcomeOf("answered", `"approved"`, "null")),
			approved,
		},
		{"an unknown status", confirmation("settled", outcomeOf("settled", `"approved"`, `"sha256:1"`)), approved},
		{
			"an approval of an expired ask", confirmation("expired", outcomeOf("expired", `"approved"`, `"sha256:1"`)),
			approved,
		},
		{"no outcome", confirmation("answered", "null"), approved},
		{
			"questions", strings.Replace(approved, `"confirmation", "questions"`, `"questions", "questions"`, 1),
			approved,
		},
		{"an empty object", `{}`, approved},
		{"true", `true`, approved},
		{"a page", `<html>approved</html>`, approved},
		{"nothing", ``, approved},
		{"an error", `500`, approved},
		{"the approval of another ask is consumed", approved, strings.Replace(approved, "ask_1", "ask_2", 1)},
		{"the reply of consuming is a page", approved, `<html>ok</html>`},
		{"consuming fails", approved, `500`},
		{"consuming is rejected", approved, `409`},
		{"consuming is redirected", approved, `302`},
	}
	eachLanguage(t, func(t *testing.T, d driver) {
		var away atomic.Bool // a request arrived at another address
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			away.Store(true)
			fmt.Fprint(w, approved)
		}))
		defer elsewhere.Close()
		var callers []*caller
		for _, test := range tests {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				reply := test.opened
				if strings.HasSuffix(r.URL.Path, "/consume") {
					reply = test.consumed
				}
				status := http.StatusOK
				if _, err := fmt.Sscanf(reply, "%d", &status); err == nil {
					reply = `{"type": "urn:askback:problem:other", "detail": "approved"}`
					w.Header().Set("Location", elsewhere.URL)
				}
				w.WriteHeader(status)
				fmt.Fprint(w, reply)
			}))
			defer server.Close()
			short := 300
			callers = append(callers, d.start(t, server.URL, "none",
				call{Call: "confirm", Request: deploy("a"), WaitMs: &short, Patience: &short}))
		}
		for i, p := range callers {
			if r := p.result(); r.Approved || r.Error == "" && !strings.Contains(r.Message, "do not do this") {
				t.Errorf("%s: got %+v, want no approval", tests[i].name, r)
			}
		}
		if away.Load() {
			t.Error("a request followed a redirect")
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, approved)
		}))
		defer server.Close()
		if r := d.start(t, server.URL, "none", call{Call: "confirm", Request: deploy("a")}).result(); !r.Approved {
			t.Errorf("got %+v from replies that approve, want an approval", r)
		}
	})
}

// A server that cannot be reached, or that accepts connections and is silent, leads to an error.
func TestSilentServerNeverApproves(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		done := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				fmt.Fprint(w, confirmation("pending", "null"))
				return
			}
			<-done
		}))
		defer server.Close()
		defer close(done)
		short := 500
		r := d.start(t, server.URL, "none", call{Call: "confirm", Request: deploy("a"), WaitMs: &short}).result()
		if r.Approved || r.Error != "PendingError" {
			t.Errorf("got %+v from a silent server, want a PendingError", r)
		}
		r = d.start(t, "http://127.0.0.1:1", "none",
			call{Call: "confirm", Request: deploy("a"), Patience: &short}).result()
		if r.Approved || r.Error != "UnreachableError" {
			t.Errorf("got %+v without a server, want an UnreachableError", r)
		}
	})
}
