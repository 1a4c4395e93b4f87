package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/internal/text/safetext"
)

// An operator lists, tests, pauses and rotates a receiver on the command line, and resends the messages that
// it rejected for good. The messages verify with the printed secret (E3, T17).
func TestReceiverIsManagedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	var (
		mu     sync.Mutex
		status = http.StatusNoContent
		secret string
		got    []string
	)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		var message struct {
			Event    string                `json:"event"`
			Question struct{ Text string } `json:"question"`
		}
		_ = json.Unmarshal(body, &message)
		if !signedBy(secret, r.Header, body) {
			t.Errorf("%s %s: the signature is not valid", message.Event, message.Question.Text)
		}
		got = append(got, strings.TrimSpace(message.Event+" "+message.Question.Text))
		w.WriteHeader(status)
	}))
	defer program.Close()
	set := func(code int, newSecret string) {
		mu.Lock()
		defer mu.Unlock()
		status = code
		if newSecret != "" {
			secret = newSecret
		}
	}
	wantMessages := func(want ...string) {
		t.Helper()
		if !eventually(func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= len(want) }) {
			t.Errorf("waited for %d messages", len(want))
		}
		mu.Lock()
		defer mu.Unlock()
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Fatalf("got messages %q, want %q", got, want)
		}
	}
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(settings,
		fmt.Appendf(nil, "channels:\n  webhook: {allow: [%q]}\n", program.Listener.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "agent", "--name", "robot"))
	ask := func(text string) {
		t.Helper()
		s.call(s.agent, "POST", "/asks",
			`{"question": "`+text+`", "callback_url": "`+program.URL+`/calls?key=hidden"}`, 201)
	}

	set(http.StatusNoContent,
		strings.TrimSpace(mustRun(t, s.env, "webhook", "add", "--owner", "robot", program.URL+"/calls?key=hidden")))
	list := mustRun(t, s.env, "webhook", "list")
	id := strings.Fields(list)[0]
	if !strings.HasPrefix(id, "whe_") || !strings.Contains(list, program.URL+"  robot; secret of ") ||
		strings.Contains(list, "hidden") || strings.Contains(list, "whsec_") {
		t.Errorf("got %q", list)
	}
	if out := mustRun(t, s.env, "webhook", "test", id[20:]); !strings.HasPrefix(out, "accepted: 204 No Content, in ") {
		t.Errorf("got %q", out)
	}
	terminal := startTerminal(t, s.env, 80, "askback", "webhook", "list")
	terminal.waitExit(0)
	terminal.waitForScreen(`robot`)
	for row := range strings.SplitSeq(strings.TrimSpace(terminal.screen.String()), "\n") {
		if got := safetext.Width(safetext.Line(strings.TrimRight(row, "\r"))); got > 80 {
			t.Errorf("a row has %d columns, want at most 80: %s", got, row)
		}
	}
	ask("One?")
	wantMessages("test", "question_pending One?")

	mustRun(t, s.env, "webhook", "pause", id)
	ask("Two?")
	set(http.StatusNoContent, strings.TrimSpace(mustRun(t, s.env, "webhook", "rotate", id)))
	mustRun(t, s.env, "webhook", "resume", id)
	wantMessages("test", "question_pending One?", "question_pending Two?")

	set(http.StatusGone, "")
	ask("Three?")
	if !eventually(func() bool {
		return strings.Contains(mustRun(t, s.env, "webhook", "list", "--status", "disabled"), "it answered 410 Gone")
	}) {
		t.Error("the receiver is not disabled")
	}
	var test *process
	if !eventually(func() bool { // a second after the first test
		test = launch(t, s.env, "webhook", "test", id)
		return test.wait() && !strings.Contains(test.err.String(), "less than a second ago")
	}) || exitCode(test.result) != exitRefused ||
		!strings.Contains(test.err.String(), "not accepted: the reply was 410 Gone") {
		t.Errorf("got exit code %d, %q", exitCode(test.result), test.err.String())
	}
	set(http.StatusNoContent, "")
	mustRun(t, s.env, "webhook", "resume", id)
	if out := mustRun(t, s.env, "webhook", "resend", "--since", "1h", id); out != "1 queued\n" {
		t.Errorf("got %q", out)
	}
	wantMessages("test", "question_pending One?", "question_pending Two?", "question_pending Three?", "test",
		"question_pending Three?")
	mustRun(t, s.env, "webhook", "remove", id)
	if out := mustRun(t, s.env, "webhook", "list"); out != "" {
		t.Errorf("got %q, want no receiver", out)
	}
	s.kill()
	raw, err := os.ReadFile(database)
	if err != nil || strings.Contains(string(raw), strings.TrimPrefix(secret, "whsec_")) {
		t.Errorf("the database has the secret (T23), or cannot be read: %v", err)
	}
}

// signedBy reports whether a message has a signature by a secret (standardwebhooks.com).
func signedBy(secret string, h http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return err == nil && len(key) > 0 && strings.Contains(" "+h.Get("Webhook-Signature")+" ", " "+want+" ")
}
