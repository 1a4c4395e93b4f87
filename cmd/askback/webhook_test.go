package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// A caller is a program whose callback records messages.
type caller struct {
	*httptest.Server
	absent atomic.Bool // it replies 503

	mu       sync.Mutex
	messages []message
}

// A message is the part of a message that the tests read.
type message struct {
	ID      string `json:"-"`
	Event   string
	Outcome struct {
		Answers []struct{ Selected []string }
	}
	Session struct {
		ID, Status, Error string
		Result            struct{ Poem string }
	}
}

// list returns the messages so far, in the order in which they arrived.
func (c *caller) list() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

// wait waits for n messages.
func (c *caller) wait(t *testing.T, n int) []message {
	t.Helper()
	if !eventually(func() bool { return len(c.list()) >= n }) {
		t.Fatalf("got messages %+v, want %d", c.list(), n)
	}
	return c.list()
}

// newCaller starts a program with a callback, and a server that sends to it.
func newCaller(t *testing.T) (*caller, *testServer) {
	t.Helper()
	env, database := sandbox(t)
	secret := strings.TrimSpace(mustRun(t, env, "webhook", "secret"))
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.absent.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		m := message{ID: r.Header.Get("Webhook-Id")}
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.messages = append(c.messages, m)
	}))
	t.Cleanup(c.Close)
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf("channels:\n  webhook: {secret: %q, allow: [%q]}\n", "${SECRET}", c.Listener.Addr())
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "SECRET="+secret, "ASKBACK_DB="+database)}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "create", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, s.env, "token", "create", "--kind", "responder", "--name", "ana"))
	return c, s
}

// A program that asks gets the question and its outcome at its callback, signed and in
// order, although the server was killed in between and the program was not there for a
// while (E3, F9).
func TestCallbackReceivesOutcomeAfterACrash(t *testing.T) {
	t.Parallel()
	program, s := newCaller(t)
	program.absent.Store(true)
	body := `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "callback_url": "` + program.URL + `/calls"}`
	id := s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	s.kill()
	program.absent.Store(false)
	s.start()
	got := program.wait(t, 2)
	if len(got) != 2 || got[0].Event != "question_pending" || got[1].Event != "question_answered" || got[0].ID == got[1].ID || !strings.HasPrefix(got[0].ID, "dlv_") {
		t.Fatalf("got messages %+v, want the question and its outcome, each with its id", got)
	}
	if answers := got[1].Outcome.Answers; len(answers) != 1 || answers[0].Selected[0] != "SQLite" {
		t.Errorf("got answers %+v, want SQLite", answers)
	}
}

// The callback of a session gets the events of its asks and the end of the session, although
// the server was killed before each of them was sent (E3, F9).
func TestCallbackOfSessionReceivesItsEndAfterACrash(t *testing.T) {
	t.Parallel()
	program, s := newCaller(t)
	program.absent.Store(true)
	session := s.call(s.agent, "POST", "/sessions", `{"external": true, "session_key": "run", "callback_url": "`+program.URL+`/calls"}`, 201)["id"].(string)
	id := s.call(s.agent, "POST", "/asks", `{"question": "Which style?", "options": ["haiku", "sonnet"], "session_key": "run"}`, 201)["id"].(string)
	s.kill()
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "haiku"}`, 200)
	s.call(s.agent, "POST", "/sessions/"+session+"/complete", `{"result": {"poem": "Old pond."}}`, 200)
	s.kill()
	program.absent.Store(false)
	s.start()
	var events []string
	ids := map[string]bool{}
	for _, m := range program.wait(t, 3) {
		events, ids[m.ID] = append(events, m.Event), true
		if m.Event == "session_completed" && (m.Session.ID != session || m.Session.Status != "completed" || m.Session.Result.Poem != "Old pond.") {
			t.Errorf("got session %+v, want it as it ended", m.Session)
		}
	}
	if pending, answered := slices.Index(events, "question_pending"), slices.Index(events, "question_answered"); len(ids) != 3 || !slices.Contains(events, "session_completed") || pending < 0 || answered < pending {
		t.Errorf("got events %q, want the question before its outcome, and the end of the session", events)
	}
}
