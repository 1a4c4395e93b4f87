package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/store/memstore"
)

// newFixtureWithoutNetwork returns a fixture without a server, for synctest bubbles.
func newFixtureWithoutNetwork(t *testing.T) *fixture {
	e := engine.New(memstore.New(), nil)
	return &fixture{t: t, engine: e, handler: httpapi.NewHandler(e, nil), tokens: map[askback.Principal]string{}}
}

// postHook sends an event to the handler and returns a channel for the reply. Calling closed ends the
// request.
func (w *fixture) postHook(query, event string) (closed func(), got <-chan *httptest.ResponseRecorder) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	r := httptest.NewRequest(http.MethodPost, claudecode.Path+query, strings.NewReader(event)).WithContext(ctx)
	r.Header.Set("Authorization", "Bearer "+w.token(bot))
	r.Header.Set("Content-Type", "application/json")
	out := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		reply := httptest.NewRecorder()
		w.handler.ServeHTTP(reply, r)
		out <- reply
	}()
	synctest.Wait()
	return cancel, out
}

// Two identical calls share an ask. The ask is cancelled when both calls are closed, not before (F9).
func TestClosedHookKeepsAskOfIdenticalCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixtureWithoutNetwork(t)
		first, _ := w.postHook("", runsBash)
		_, answered := w.postHook("", runsBash)
		ask := w.open(1, askback.Pending)[0]
		first()
		synctest.Wait()
		if got := w.open(1, askback.Pending)[0]; got.ID != ask.ID {
			t.Errorf("the open ask is %s, want %s", got.ID, ask.ID)
		}
		if _, err := w.engine.As(ana).Answer(t.Context(), ask.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"allow"`) {
			t.Errorf("got %d %s, want it allowed", got.Code, got.Body)
		}
		third, _ := w.postHook("", runsBash)
		fourth, _ := w.postHook("", runsBash)
		third()
		fourth()
		synctest.Wait()
		w.open(1, askback.Cancelled)
	})
}

// Only a few large events are parsed at a time. Other large events get an error after a short wait; small
// events do not wait (T5).
func TestConcurrentLargeEventsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixtureWithoutNetwork(t)
		small := `{"session_id":"s1","hook_event_name":"Stop"}`
		large := strings.Replace(small, `{`, `{"tool_response":"`+strings.Repeat("A", 2<<20)+`",`, 1)
		release := w.handler.FillLarge()
		_, rejected := w.postHook("", large)
		_, at := w.postHook("", small)
		if got := <-at; got.Code != http.StatusNoContent {
			t.Errorf("a small one: got %d %s", got.Code, got.Body)
		}
		if got := <-rejected; got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("a large one: got %d %s, want 503 with Retry-After", got.Code, got.Body)
		}
		_, late := w.postHook("", large)
		<-time.After(time.Second)
		release()
		if got := <-late; got.Code != http.StatusNoContent {
			t.Errorf("a large event that waited: got %d %s", got.Code, got.Body)
		}
		_, free := w.postHook("", large)
		if got := <-free; got.Code != http.StatusNoContent {
			t.Errorf("a large one afterwards: got %d %s", got.Code, got.Body)
		}
	})
}

// If a server is killed, the ask of a PreToolUse event stays open. It is cancelled when the
// interactive session continues or ends (F9).
func TestPreToolUseAskOfKilledServerIsCancelled(t *testing.T) {
	for _, name := range []string{claudecode.Stop, claudecode.UserPromptSubmit, claudecode.SessionEnd} {
		w := newFixture(t, nil)
		ev, err := claudecode.Read([]byte(preToolUse(runsBash)), "")
		if err != nil {
			t.Fatal(err)
		}
		call, _ := claudecode.Call(ev)
		// a hook made this ask before the server was killed
		if _, err := w.engine.As(bot).Ask(t.Context(), call.Request); err != nil {
			t.Fatal(err)
		}
		wantReply(t, w.send("POST", claudecode.Path, w.token(bot), `{"session_id":"s1","hook_event_name":"`+name+`"}`),
			204)
		w.open(1, askback.Cancelled)
	}
}

// A call of a sub-agent waits for a bounded time. Then there is no decision, so that Claude Code shows its
// dialog, and the ask is withdrawn.
func TestHookOfASubagentWaitsForABoundedTime(t *testing.T) {
	const event = `{"session_id":"s1","prompt_id":"p1","hook_event_name":"PermissionRequest","tool_name":"Bash",` +
		`"tool_input":{"command":"make"},"agent_id":"a7","agent_type":"release-helper"}`
	synctest.Test(t, func(t *testing.T) {
		w := newFixtureWithoutNetwork(t)
		_, got := w.postHook("?subagents=10s", event)
		w.open(1, askback.Pending)
		if r := <-got; r.Code != http.StatusNoContent {
			t.Errorf("got %d: %s", r.Code, r.Body)
		}
		gone := w.open(1, askback.Cancelled)[0]
		if !strings.Contains(gone.Outcome.Reason, "Claude Code now shows its own dialog") {
			t.Errorf("got the reason %q", gone.Outcome.Reason)
		}
		_, got = w.postHook("?subagents=soon", event)
		if r := <-got; r.Code != http.StatusUnprocessableEntity || !strings.Contains(r.Body.String(), "?subagents") {
			t.Errorf("got %d: %s", r.Code, r.Body)
		}
	})
}
