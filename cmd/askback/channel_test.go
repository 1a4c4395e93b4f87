package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/channel/post/posttest"
)

// The error for a test message to an address that is not allowed names the address and the setting. The user
// has no log that contains the cause.
func TestChannelTestNamesTheRejectedAddress(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(settings,
		[]byte("channels: {post: {phone: {template: ntfy, url: 'http://127.0.0.1:9/questions'}}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("askback", "channel", "test", "phone")
	cmd.Env = append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)
	out, err := cmd.CombinedOutput()
	if got := string(out); err == nil || !strings.Contains(got,
		"127.0.0.1:9 is not public, and no setting allows it; correct the address, or allow it") {
		t.Errorf("got %v, %q", err, got)
	}
}

// A server with a receiver in its settings sends the question and its outcome to the phone. The command sends
// a test message to the phone (E3 to E7).
func TestPhoneGetsTheQuestionAndItsOutcome(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	phone := posttest.NewNtfy(t)
	at, err := url.Parse(phone.URL)
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	content := fmt.Sprintf(
		"channels:\n  post:\n    phone: {template: ntfy, url: %q, reply_topic: replies, to: eva, allow: [%q]}\n",
		phone.URL, at.Host,
	)
	if err := os.WriteFile(settings, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, env: append(env, "ASKBACK_CONFIG="+settings, "ASKBACK_DB="+database)}
	s.place.Database = database
	if got := mustRun(t, s.env, "channel", "test", "phone"); !strings.Contains(got, "accepted the message for phone") {
		t.Errorf("got %q", got)
	}
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, s.env, "token", "add", "--kind", "responder", "--name", "ana"))
	id := s.call(s.agent, "POST", "/asks", `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`,
		201)["id"].(string)
	eventually(func() bool { return len(phone.Messages()) == 2 }) // a settled question is not sent
	s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "SQLite"}`, 200)
	for limit := time.Now().Add(time.Minute); len(phone.Messages()) < 3 && time.Now().Before(limit); {
		s.call(s.user, "GET", "/asks/"+id, "", 200)
	}
	got := phone.Shown()
	if last := got[len(got)-1]; !strings.Contains(last.Text, "answered by ana") || len(got) != 2 ||
		strings.Contains(last.Text, "127.0.0.1") {
		t.Errorf("got %+v, want the test message and the outcome", got)
	}
	id = s.call(s.agent, "POST", "/asks", `{"question": "Which one?", "options": ["a", "b"]}`, 201)["id"].(string)
	button := posttest.Button{}
	eventually(func() bool {
		for _, m := range phone.Messages() {
			if m.Tag == id && len(m.Buttons) == 2 {
				button = m.Buttons[1]
			}
		}
		return button.URL != ""
	})
	phone.Publish("replies", button.Body)
	eventually(func() bool { return s.call(s.user, "GET", "/asks/"+id, "", 200)["status"] == "answered" })
	outcome, _ := s.call(s.user, "GET", "/asks/"+id, "", 200)["outcome"].(map[string]any)
	if by, _ := outcome["by"].(map[string]any); by["name"] != "eva" || outcome["via"] != "push" {
		t.Errorf("got outcome %v, want the answer of eva from her phone", outcome)
	}
}
