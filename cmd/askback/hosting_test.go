package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

const clerkSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// newHost starts a server with the agents of testdata/hosting, and creates a token for an agent and a token
// for a person. It also returns the directory of the server.
func newHost(t *testing.T) (*testServer, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosting")); err != nil {
		t.Fatal(err)
	}
	env, database := sandbox(t, "NOTES_KEY=of-the-notes", "CLERK_SECRET="+clerkSecret,
		"ASKBACK_CONFIG="+filepath.Join(dir, "askback.yaml"))
	s := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	return s, dir
}

// waitForStatus waits until a session has a status, and returns the session.
func (s *testServer) waitForStatus(id, status string) (session map[string]any) {
	s.t.Helper()
	if !eventually(func() bool {
		session = s.call(s.user, "GET", "/sessions/"+id, "", 200)
		return session["status"] == status
	}) {
		s.t.Fatalf("the session is %v, want %s\n%s", session, status, s.process.err.String())
	}
	return session
}

// A server runs the agents of its settings with tools of an MCP server. A person approves a call that changes
// something, and answers a question, and the run ends. The server's own secrets are not passed to the command
// of the MCP server, which ends with the server (E12, D5).
func TestServerRunsAgentsWithMCPTools(t *testing.T) {
	t.Parallel()
	s, dir := newHost(t)
	id := s.call(s.user, "POST", "/sessions", `{"agent": "clerk", "prompt": "Note milk."}`, 201)["id"].(string)
	confirmation := s.waitForAsk()
	if ask := s.call(s.user, "GET", "/asks/"+confirmation, "",
		200); ask["confirmation"].(map[string]any)["server"] != "notes" {
		t.Errorf("got the ask %v", ask)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes")); err == nil {
		t.Error("the tool ran before it was approved")
	}
	s.call(s.user, "POST", "/asks/"+confirmation+"/answer", `{"decision": "approved"}`, 200)
	question := ""
	if !eventually(func() bool { question = s.waitForAsk(); return question != confirmation }) {
		t.Fatal("there is no question")
	}
	// A changed definition applies. The unchanged MCP server keeps its process.
	rewrite(t, filepath.Join(dir, "agents", "clerk.md"), "Keeps notes", "Keeps all notes")
	s.process.waitForStderr(t, `msg="agents read"`)
	if agents := mustRun(t, s.env, "agent", "list"); agents != "clerk  Keeps all notes\n" {
		t.Errorf("got the agents %q", agents)
	}
	s.call(s.user, "POST", "/asks/"+question+"/answer", `{"answer": "Bread"}`, 200)
	session := s.waitForStatus(id, "completed")
	if session["result"] != "Milk is noted, and bread is not." {
		t.Errorf("got %v", session)
	}
	again := s.call(s.user, "POST", "/sessions", `{"agent": "clerk", "prompt": "Note milk."}`, 201)["id"].(string)
	s.waitForAsk() // the run has listed the notes before it asks
	pids := strings.Fields(fileText(t, filepath.Join(dir, "pids")))
	if len(pids) != 1 {
		t.Errorf("the command ran %d times", len(pids))
	}
	s.process.waitForStderr(t, `server=notes text="notes is ready"`)

	// An MCP server with changed settings is started again, and the old process ends.
	rewrite(t, filepath.Join(dir, "askback.yaml"), "NOTES_KEY:", "MORE: x, NOTES_KEY:")
	if !eventually(func() bool { _, err := os.Stat("/proc/" + pids[0]); return err != nil }) {
		t.Errorf("the process %s is still there", pids[0])
	}
	s.call(s.user, "POST", "/sessions/"+again+"/cancel", "", 200)
	s.call(s.user, "POST", "/sessions", `{"agent": "clerk", "prompt": "Note milk."}`, 201)
	if !eventually(
		func() bool { pids = strings.Fields(fileText(t, filepath.Join(dir, "pids"))); return len(pids) == 2 },
	) {
		t.Fatalf("got the processes %v", pids)
	}
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.process.ended
	if !eventually(func() bool { _, err := os.Stat("/proc/" + pids[1]); return err != nil }) {
		t.Errorf("the process %s is still there", pids[1])
	}
}

// rewrite replaces a part of a file.
func rewrite(t *testing.T, path, old, replacement string) {
	t.Helper()
	text := fileText(t, path)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, old, replacement)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A webhook that is signed with the secret of the agent starts it (E1).
func TestSignedWebhookStartsAnAgent(t *testing.T) {
	t.Parallel()
	s, _ := newHost(t)
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(clerkSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"topic": "milk"}`
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("msg_1." + now + "." + body))
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	announced, _ := s.place.Last()
	send := func(signature string) int {
		r, err := http.NewRequestWithContext(t.Context(), "POST", announced.URL+"/hooks/clerk", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Webhook-Id", "msg_1")
		r.Header.Set("Webhook-Timestamp", now)
		r.Header.Set("Webhook-Signature", signature)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return errorsOf(reply.Body.Close(), reply.StatusCode)
	}
	if got := send("v1,AAAA"); got != 401 {
		t.Errorf("a wrong signature: got %d", got)
	}
	if got := send(signature); got/100 != 2 {
		t.Errorf("got %d", got)
	}
	s.waitForAsk()
}

func errorsOf(err error, status int) int {
	if err != nil {
		return 0
	}
	return status
}

// After a restart, a waiting run continues with the current definition and script. Its MCP server is started
// again.
func TestRunContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	s, dir := newHost(t)
	id := s.call(s.user, "POST", "/sessions", `{"agent": "clerk", "prompt": "Note milk."}`, 201)["id"].(string)
	confirmation := s.waitForAsk()
	s.kill()
	s.start()
	rewrite(t, filepath.Join(dir, "clerk.yaml"), "bread is not", "that was new")
	s.process.waitForStderr(t, `msg="agents read"`)
	s.call(s.user, "POST", "/asks/"+confirmation+"/answer", `{"decision": "approved"}`, 200)
	question := ""
	if !eventually(func() bool { question = s.waitForAsk(); return question != confirmation }) {
		t.Fatal("there is no question")
	}
	s.call(s.user, "POST", "/asks/"+question+"/answer", `{"answer": "Bread"}`, 200)
	if session := s.waitForStatus(id, "completed"); session["result"] != "Milk is noted, and that was new." {
		t.Errorf("got %v", session)
	}
	if pids := strings.Fields(fileText(t, filepath.Join(dir, "pids"))); len(pids) != 2 {
		t.Errorf("the command ran %d times", len(pids))
	}
}
