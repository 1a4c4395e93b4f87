package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/askbacktest"
)

// newCaller returns the receiver of a program's callbacks, and a server that sends the callbacks.
func newCaller(t *testing.T) (*askbacktest.Receiver, *testServer) {
	t.Helper()
	env, database := sandbox(t)
	secret := strings.TrimSpace(mustRun(t, env, "webhook", "secret"))
	c := askbacktest.NewReceiver(t, &askbacktest.ReceiverOptions{Secrets: []string{secret}})
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf("channels:\n  webhook: {secret: %q, allow: [%q]}\n", "${SECRET}", c.Address())
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "SECRET="+secret, "ASKBACK_DB="+database)}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "responder", "--name", "ana"))
	return c, s
}

// rejected requires that the receiver has not rejected a message.
func rejected(t *testing.T, c *askbacktest.Receiver) {
	t.Helper()
	for _, a := range c.Attempts() {
		if a.Err != nil {
			t.Errorf("%s %s was rejected: %v", a.ID, a.Event, a.Err)
		}
	}
}

// A program that asks gets the question and its outcome at its callback, signed and in order. The server is
// killed in between, and the program is unreachable for a while (E3, F9).
func TestCallbackReceivesOutcomeAfterACrash(t *testing.T) {
	t.Parallel()
	program, s := newCaller(t)
	program.Always(askbacktest.Status(http.StatusServiceUnavailable))
	body := `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "callback_url": "` +
		program.URL() + `/calls"}`
	id := s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	s.kill()
	program.Always(askbacktest.Accept)
	s.start()
	got := program.Wait(2)
	rejected(t, program)
	if len(got) != 2 || got[0].Event != "question_pending" || got[1].Event != "question_answered" ||
		got[0].ID == got[1].ID || !strings.HasPrefix(got[0].ID, "dlv_") {
		t.Fatalf("got messages %+v, want the question and its outcome, each with its id", got)
	}
	if answers := got[1].Outcome.Answers; len(answers) != 1 || answers[0].String() != "SQLite" {
		t.Errorf("got answers %+v, want SQLite", answers)
	}
}

// The callback of a session gets the events of its asks and the end of the session. The server is killed
// before it sends each event (E3, F9).
func TestCallbackOfSessionReceivesItsEndAfterACrash(t *testing.T) {
	t.Parallel()
	program, s := newCaller(t)
	program.Always(askbacktest.Status(http.StatusServiceUnavailable))
	session := s.call(s.agent, "POST", "/sessions",
		`{"external": true, "session_key": "run", "callback_url": "`+program.URL()+`/calls"}`, 201)["id"].(string)
	id := s.call(s.agent, "POST", "/asks",
		`{"question": "Which style?", "options": ["haiku", "sonnet"], "session_key": "run"}`, 201)["id"].(string)
	s.kill()
	s.start()
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "haiku"}`, 200)
	s.call(s.agent, "POST", "/sessions/"+session+"/complete", `{"result": {"poem": "Old pond."}}`, 200)
	s.kill()
	program.Always(askbacktest.Accept)
	s.start()
	var events []string
	ids := map[string]bool{}
	for _, m := range program.Wait(3) {
		events, ids[m.ID] = append(events, string(m.Event)), true
		if m.Event == "session_completed" && (m.Session.ID != session || m.Session.Status != "completed" ||
			string(m.Session.Result) != `{"poem":"Old pond."}`) {
			t.Errorf("got session %+v, want it as it ended", m.Session)
		}
	}
	rejected(t, program)
	if pending, answered := slices.Index(events, "question_pending"), slices.Index(
		events, "question_answered",
	); len(ids) != 3 || !slices.Contains(events, "session_completed") || pending < 0 || answered < pending {
		t.Errorf("got events %q, want the question before its outcome, and the end of the session", events)
	}
}

// An operator at a terminal lists the deliveries that were given up and sends one again. askback show lists
// the deliveries of the ask (F16).
func TestOperatorListsAndRetriesDeliveries(t *testing.T) {
	t.Parallel()
	program, s := newCaller(t)
	program.Always(askbacktest.Status(http.StatusGone))
	body := `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "callback_url": "` +
		program.URL() + `/calls?key=hidden"}`
	id := s.call(s.agent, "POST", "/asks", body, 201)["id"].(string)
	list := func(flags ...string) string {
		return mustRun(t, s.env, append([]string{"webhook", "deliveries"}, flags...)...)
	}
	var failed string
	for deadline := time.Now().Add(time.Minute); failed == "" && time.Now().Before(deadline); {
		failed = list("--status", "failed")
	}
	for _, want := range []string{"dlv_", "failed", id, `Asked, to "http://127.0.0.1:`, "1 attempt", "410"} {
		if !strings.Contains(failed, want) {
			t.Errorf("%q is not in %q", want, failed)
		}
	}
	if of := list("--ask", id); !strings.HasPrefix(of, failed[:strings.IndexByte(failed, ' ')]) ||
		strings.Count(of, "\n") != 1 {
		t.Errorf("got %q for the ask, want %q", of, failed)
	}
	if got := list("--status", "sent"); got != "" {
		t.Errorf("got sent deliveries %q", got)
	}
	show := mustRun(t, s.env, "show", id)
	if !strings.Contains(show, "Webhook to http://127.0.0.1:") || !strings.Contains(show, "Asked, given up") ||
		strings.Contains(show+failed, "hidden") {
		t.Errorf("got %q", show)
	}
	dlv, _, _ := strings.Cut(failed, " ")
	mustRun(t, s.env, "webhook", "retry", dlv)
	// The endpoint is disabled after 410 Gone, so the delivery is given up without a further attempt.
	for deadline := time.Now().Add(time.Minute); !strings.Contains(failed, "this receiver is disabled") &&
		time.Now().Before(deadline); {
		failed = list("--status", "failed")
	}
	if !strings.HasPrefix(failed, dlv) || !strings.Contains(failed, "this receiver is disabled") {
		t.Errorf("after a retry: got %q", failed)
	}
}
