package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// A program that asks gets the question and its outcome at its callback, signed and in
// order, although the server was killed in between and the program was not there for a
// while (E3, F9).
func TestCallbackReceivesOutcomeAfterACrash(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	secret := strings.TrimSpace(mustRun(t, env, "webhook", "secret"))
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu     sync.Mutex
		events []string
		ids    []string
		absent atomic.Bool
	)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if absent.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		var message struct {
			Event   string `json:"event"`
			Outcome struct {
				Answers []struct{ Selected []string }
			} `json:"outcome"`
		}
		_ = json.Unmarshal(body, &message)
		mu.Lock()
		defer mu.Unlock()
		events, ids = append(events, message.Event), append(ids, r.Header.Get("Webhook-Id"))
		if message.Event == "question_answered" && message.Outcome.Answers[0].Selected[0] != "SQLite" {
			t.Errorf("got %s", body)
		}
	}))
	defer program.Close()
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf("channels:\n  webhook: {secret: %q, allow: [%q]}\n", "${SECRET}", program.Listener.Addr())
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "SECRET="+secret, "ASKBACK_DB="+database)}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "create", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, s.env, "token", "create", "--kind", "responder", "--name", "ana"))

	absent.Store(true)
	body := `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "callback_url": "` + program.URL + `/calls"}`
	id := s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	s.kill()
	absent.Store(false)
	s.start()
	if !eventually(func() bool { mu.Lock(); defer mu.Unlock(); return len(events) >= 2 }) {
		t.Fatalf("got events %q, want two", events)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(events, " "); got != "question_pending question_answered" || ids[0] == ids[1] || !strings.HasPrefix(ids[0], "dlv_") {
		t.Errorf("got events %s with ids %q, want the question and its outcome, each with its id", got, ids)
	}
}
