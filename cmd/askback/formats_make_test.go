package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A record is what a test knows of a state: the secrets that users have, and what the program replied.
type record struct {
	Agent, Ana, Ben, Admin, Revoked string            // tokens
	Asks                            map[string]string // ids by what the ask is
	Run                             string            // id of the session of a hosted agent that waits
	Page                            string            // path of the page of a link in a message
	Button                          string            // what a button of a message publishes
	Replies                         map[string]any    // by path
}

// placeholder replaces the folder of the state in files with absolute paths.
const placeholder = "/folder-of-the-state"

// makeState makes the files of a machine on which people and agents use Askback: the state directory, as it is
// after a crash, the settings, and a project in which askback init ran.
func makeState(t *testing.T, dir string) record {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS("testdata/formats")); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, dir)
	m.start()
	token := func(kind, name string) string {
		return strings.TrimSpace(mustRun(t, m.env, "token", "add", "--kind", kind, "--name", name))
	}
	m.record = record{
		Agent: token("agent", "robot"), Ana: token("responder", "ana"), Ben: token("responder", "ben"),
		Admin: token("admin", "eve"), Revoked: token("agent", "gone"), Asks: map[string]string{},
	}
	for _, token := range m.call(m.record.Admin, "GET", "/tokens", "", 200)["items"].([]any) {
		if token := token.(map[string]any); token["name"] == "gone" {
			m.call(m.record.Admin, "DELETE", "/tokens/"+token["id"].(string), "", 200)
		}
	}
	m.makeDirectory(dir)
	m.makeSettledAsks()
	m.makePendingAsks()
	m.makeSessions()
	m.initProject(filepath.Join(dir, "project"))
	m.record.Replies = map[string]any{}
	for _, path := range m.frozenPaths() {
		m.record.Replies[path] = m.read(path)
	}
	// Most of the data is in the database then, and the rest in its log.
	if err := m.process.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-m.process.ended
	m.start()
	m.ask("held", choice)
	m.call(m.record.Ana, "POST", "/asks/"+m.record.Asks["held"]+"/answer", `{"answer": "SQLite", "hold": true}`, 202)
	m.kill()
	return m.record
}

func (m *machine) makeDirectory(dir string) {
	mustRun(m.t, m.env, "person", "add", "dana", "--email", "dana@example.com", "--slack", "U7")
	mustRun(m.t, m.env, "group", "add", "oncall", "dana", "ana")
	routes := filepath.Join(dir, "routes.yaml")
	text := `routes:
  - {match: {agent: "night-*"}, to: ["@oncall"], remind: [15m], timeout: 3650d, on_timeout: decline}
`
	if err := os.WriteFile(routes, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	mustRun(m.t, m.env, "route", "set", routes)
	m.call(m.record.Agent, "POST", "/endpoints", `{"url": "http://127.0.0.1:1/endpoint"}`, 201)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	address := fmt.Sprintf(`{"endpoint": "https://127.0.0.1:1/push", "keys": {"p256dh": %q, "auth": %q}}`,
		base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()),
		base64.RawURLEncoding.EncodeToString([]byte("sixteen bytes...")))
	body, _ := json.Marshal(map[string]string{"channel": "webpush", "label": "Firefox", "address": address})
	m.call(m.record.Ana, "POST", "/contacts", string(body), 201)
}

const (
	snoozedFor = 300 * 24 * time.Hour

	choice = `"question": "Which database?", "options": ["PostgreSQL", "SQLite"]`
	deploy = `"confirmation": {"tool_name": "deploy", "input": {"to": "prod"}, "description": "Deploy to production"}`
)

// ask makes an ask of the agent. The rest is fields of its request.
func (m *machine) ask(name, rest string) {
	m.t.Helper()
	m.record.Asks[name] = m.call(m.record.Agent, "POST", "/asks", "{"+rest+"}", 201)["id"].(string)
}

// settle sends a request about an ask.
func (m *machine) settle(token, name, action, body string) {
	m.t.Helper()
	m.call(token, "POST", "/asks/"+m.record.Asks[name]+"/"+action, body, 200)
}

func (m *machine) makeSettledAsks() {
	agent, ana := m.record.Agent, m.record.Ana
	m.ask("answered", choice+`, "tags": ["db"], "context": {"ticket": 71}, "title": "Storage"`)
	m.settle(ana, "answered", "answer", `{"answers": [{"id": "q1", "selected": ["SQLite"], "notes": "for now"}]}`)
	m.settle(agent, "answered", "ack", "")
	m.ask("answered, not acknowledged", choice)
	m.settle(ana, "answered, not acknowledged", "answer", `{"answer": "MariaDB", "comment": "as always"}`)
	m.ask("consumed", deploy)
	m.settle(ana, "consumed", "answer", `{"decision": "approved"}`)
	m.consume("consumed")
	m.ask("denied", deploy+`, "key": "release-7"`)
	m.settle(ana, "denied", "answer", `{"decision": "denied", "reason": "not today"}`)
	m.ask("granted", `"confirmation": {"tool_name": "lint", "input": {"all": true}}`)
	m.settle(ana, "granted", "answer", `{"decision": "approve_all", "grant": {"scope": "tool", "expires_in": "365d"}}`)
	m.ask("declined", choice)
	m.settle(ana, "declined", "decline", `{"reason": "not my area"}`)
	m.ask("cancelled", choice)
	m.settle(agent, "cancelled", "cancel", `{"reason": "not needed"}`)
	m.ask("expired", choice+`, "timeout": "1s", "on_timeout": "decline"`)
	m.ask("defaulted", choice+`, "timeout": "1s", "on_timeout": "default", "default": "SQLite"`)
	for _, name := range []string{"expired", "defaulted"} {
		m.call(agent, "GET", "/asks/"+m.record.Asks[name]+"?wait=60s", "", 200)
	}
}

// consume uses an approval.
func (m *machine) consume(name string) {
	m.t.Helper()
	ask := m.call(m.record.Agent, "GET", "/asks/"+m.record.Asks[name], "", 200)
	digest, _ := ask["outcome"].(map[string]any)["digest"].(string)
	m.settle(m.record.Agent, name, "consume", `{"digest": "`+digest+`"}`)
}

func (m *machine) makePendingAsks() {
	ana := m.record.Ana
	m.ask("question", choice+`, "session_key": "run-7"`)
	m.ask("two questions", `"questions": [
		{"question": "Which regions?", "options": [{"label": "eu", "description": "Frankfurt"}, {"label": "us"}],
		 "multiSelect": true},
		{"question": "Which name?"}], "timeout": "3650d"`)
	m.ask("draft", choice)
	m.call(ana, "PUT", "/asks/"+m.record.Asks["draft"]+"/draft", `{"other": "Maybe MariaDB, bec"}`, 204)
	m.ask("snoozed", choice)
	m.call(ana, "PUT", "/asks/"+m.record.Asks["snoozed"]+"/snooze",
		`{"until": "`+time.Now().Add(snoozedFor).Format(time.RFC3339)+`"}`, 200)
	m.ask("call", deploy+`, "to": ["ana", "ben"]`)
	m.ask("two approvals", deploy+`, "agent": "deploy-7", "tags": ["prod"]`)
	m.settle(ana, "two approvals", "answer", `{"decision": "approved"}`)
	m.ask("dangerous", `"confirmation": {"tool_name": "drop", "input": {"table": "orders"}, "dangerous": true}`)
	m.ask("with a link", `"question": "Which style?", "options": ["haiku", "sonnet"]`)
	m.ask("with a button", `"question": "Which poet?", "options": ["Bashō", "Issa"]`)
	if !eventually(func() bool {
		for _, message := range m.ntfy.Messages() {
			switch {
			case strings.Contains(message.Text+message.Title, "Which style?"):
				m.record.Page = regexp.MustCompile(`/a/[\w-]+`).FindString(message.Link)
			case strings.Contains(message.Text+message.Title, "Which poet?") && len(message.Buttons) > 0:
				m.record.Button = message.Buttons[0].Body
			}
		}
		return m.record.Page != "" && m.record.Button != ""
	}) {
		m.t.Fatalf("got messages %+v\n%s", m.ntfy.Messages(), m.process.err.String())
	}
}

func (m *machine) makeSessions() {
	agent := m.record.Agent
	ended := m.call(agent, "POST", "/sessions", `{"external": true, "session_key": "run-6", "title": "Ticket 71"}`, 201)
	path := "/sessions/" + ended["id"].(string)
	m.call(agent, "PUT", path+"/todos", `{"todos": [{"content": "Write", "status": "completed"}]}`, 200)
	m.call(agent, "POST", path+"/complete", `{"result": {"poem": "Old pond."}}`, 200)
	run := m.call(m.record.Ana, "POST", "/sessions", `{"agent": "poet", "prompt": "Write."}`, 201)
	m.record.Run = run["id"].(string)
	if !eventually(func() bool {
		asks := m.call(m.record.Ana, "GET", "/asks?session_id="+m.record.Run, "", 200)["items"].([]any)
		if len(asks) == 1 {
			m.record.Asks["run"] = asks[0].(map[string]any)["id"].(string)
		}
		return len(asks) == 1
	}) {
		m.t.Fatalf("the run asks nothing\n%s", m.process.err.String())
	}
}

// initProject runs askback init in a folder that has a file of its user.
func (m *machine) initProject(dir string) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(userConfiguration), 0o600); err != nil {
		m.t.Fatal(err)
	}
	mustRunIn(m.t, dir, m.env, "init", "claude-code", "--yes")
}

const userConfiguration = `{"mcpServers": {"other": {"command": "other"}}}` + "\n"

// read returns a reply of the API.
func (m *machine) read(path string) map[string]any {
	m.t.Helper()
	if path == "/endpoints" {
		return m.call(m.record.Agent, "GET", path, "", 200)
	}
	return m.call(m.record.Ana, "GET", path, "", 200)
}

// frozenPaths are the paths of the API whose replies a restart does not change.
func (m *machine) frozenPaths() []string {
	paths := []string{
		"/people", "/groups", "/routes", "/grants?ended=true", "/endpoints", "/sessions?status=completed",
	}
	for _, id := range m.record.Asks {
		paths = append(paths, "/asks/"+id)
	}
	return paths
}

// pack writes the files of a state, its record included, to an archive.
func pack(t *testing.T, dir string, r record, archive string) {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "record.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w := tar.NewWriter(zipped)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(d.Name(), ".db") {
			text = bytes.ReplaceAll(text, []byte(dir), []byte(placeholder))
		}
		name, _ := filepath.Rel(dir, path)
		h := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(text)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	if err == nil {
		err = os.WriteFile(archive, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
