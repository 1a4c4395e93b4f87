package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/askback/askback/channel/webpush/webpushtest"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/leftout"
)

// With the line of docs/webpush.md in the settings, a browser that was added in the inbox gets a question and
// its outcome. It still gets them after the server was killed, because the key of the server is stored (F3,
// E4).
func TestBrowserGetsQuestionsAfterARestart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		leftout.Skip(t, "notifications by the program (it finds the certificate of the test only on Linux)")
	}
	s := webpushtest.NewService(t)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	env, database := sandbox(t)
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page, err := os.ReadFile("../../docs/webpush.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Replace(codeBlocks(string(page), "yaml")[0], "{}",
		fmt.Sprintf(`{subject: "mailto:ops@example.com", allow: [%q]}`, at.Host), 1)
	env = append(env, "ASKBACK_CONFIG="+write("askback.yaml", settings),
		"SSL_CERT_FILE="+write("ca.pem", string(s.PEM)))
	server := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	server.start()
	inbox := newPageReader(t, env, server.url())
	key := regexp.MustCompile(`data-key="([\w-]{87})"`)
	var found []string
	eventually(func() bool { found = key.FindStringSubmatch(inbox.open("/")); return found != nil })
	if found == nil {
		t.Fatalf("the inbox has no key:\n%s", inbox.open("/"))
	}
	b := s.Subscribe(t, found[1])
	inbox.post("/push", url.Values{"address": {b.Subscription()}}, http.StatusOK)
	if list := mustRun(t, env, "channel", "list"); !strings.Contains(list, "webpush") ||
		strings.Contains(list, b.Endpoint) {
		t.Errorf("got contacts %q", list)
	}
	server.kill()
	server.start()
	ask := launch(t, env, "ask", "Which database?", "PostgreSQL", "SQLite")
	type shown struct {
		Body    string
		Settled bool
	}
	received := func(n int) (m shown) {
		t.Helper()
		if !eventually(func() bool { return len(b.Messages()) >= n }) {
			t.Fatalf("the browser got %d messages, want %d; rejected: %q", len(b.Messages()), n, s.Problems())
		}
		if err := json.Unmarshal(b.Messages()[n-1].Text, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := received(1); m.Settled || !strings.Contains(m.Body, "Which database?") ||
		!strings.Contains(m.Body, "PostgreSQL") {
		t.Errorf("got %+v, want the question", m)
	}
	mustRun(t, env, "answer", "latest", "SQLite")
	if m := received(2); !m.Settled || !strings.Contains(m.Body, "SQLite") {
		t.Errorf("got %+v, want the outcome", m)
	}
	<-ask.ended
	if got := ask.out.String(); got != "SQLite\n" {
		t.Errorf("got %q, want the answer", got)
	}
}
