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
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/store/memstore"
)

// unwired is a handler without a network: in a bubble all that can happen has
// happened before the next step.
func unwired(t *testing.T) *wire {
	e := engine.New(memstore.New(), nil)
	return &wire{t: t, engine: e, handler: httpapi.NewHandler(e, nil), tokens: map[askback.Principal]string{}}
}

// posted sends an event, on a connection that can be closed.
func (w *wire) posted(event string) (closed func(), got <-chan *httptest.ResponseRecorder) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	r := httptest.NewRequest(http.MethodPost, hook.Path, strings.NewReader(event)).WithContext(ctx)
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

// Two identical calls share a card. The connection that is closed does not take it
// from the other, which is answered; the last one does (F9).
func TestAClosedHookLeavesTheCardToTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := unwired(t)
		first, _ := w.posted(runsBash)
		_, answered := w.posted(runsBash)
		ask := w.open(1, askback.Pending)[0]
		first()
		synctest.Wait()
		if got := w.open(1, askback.Pending)[0]; got.ID != ask.ID {
			t.Errorf("open is %s, want %s", got.ID, ask.ID)
		}
		if _, err := w.engine.As(ana).Answer(t.Context(), ask.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		if got := <-answered; got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"allow"`) {
			t.Errorf("got %d %s, want it allowed", got.Code, got.Body)
		}
		third, _ := w.posted(runsBash)
		fourth, _ := w.posted(runsBash)
		third()
		fourth()
		synctest.Wait()
		w.open(1, askback.Cancelled)
	})
}

// Only a few large events are read at a time. Others wait a moment, and then come
// again; small ones do not wait for them (T5).
func TestFewLargeEventsAreReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := unwired(t)
		small := `{"session_id":"s1","hook_event_name":"Stop"}`
		large := strings.Replace(small, `{`, `{"tool_response":"`+strings.Repeat("A", 2<<20)+`",`, 1)
		release := w.handler.FillLarge()
		_, refused := w.posted(large)
		_, at := w.posted(small)
		if got := <-at; got.Code != http.StatusNoContent {
			t.Errorf("a small one: got %d %s", got.Code, got.Body)
		}
		if got := <-refused; got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("a large one: got %d %s, want 503 and when to come again", got.Code, got.Body)
		}
		_, late := w.posted(large)
		<-time.After(time.Second)
		release()
		if got := <-late; got.Code != http.StatusNoContent {
			t.Errorf("a large one that waited: got %d %s", got.Code, got.Body)
		}
		_, free := w.posted(large)
		if got := <-free; got.Code != http.StatusNoContent {
			t.Errorf("a large one afterwards: got %d %s", got.Code, got.Body)
		}
	})
}

// A card of a gate where somebody sits is retired once its session went on: of a
// killed server it would stay for ever (F9).
func TestAGateOfAKilledServerIsRetired(t *testing.T) {
	for _, name := range []string{hook.Stop, hook.UserPromptSubmit, hook.SessionEnd} {
		w := newWire(t, nil)
		ev, err := hook.Read([]byte(before(runsBash)), "")
		if err != nil {
			t.Fatal(err)
		}
		r, _ := hook.Request(ev)
		if _, err := w.engine.As(bot).Ask(t.Context(), r); err != nil { // as a hook does, whose server is killed then
			t.Fatal(err)
		}
		wantReply(t, w.send("POST", hook.Path, w.token(bot), `{"session_id":"s1","hook_event_name":"`+name+`"}`), 204)
		w.open(1, askback.Cancelled)
	}
}
