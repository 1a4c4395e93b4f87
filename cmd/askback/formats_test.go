package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/internal/local/instance"
)

// testdata/v0.tar.gz has the files of a machine with the first release. It is never made again. The files of
// another release are frozen by
//
//	go test ./cmd/askback -run TestFilesOfThisReleaseAreOpened -freeze testdata/vN.tar.gz
var freeze = flag.String("freeze", "", "`archive` to which TestFilesOfThisReleaseAreOpened writes the files")

// Each release opens the files of each earlier release: pending asks are answered, tokens and links work, and
// a hosted run goes on.
func TestFilesOfEarlierReleasesAreOpened(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/v*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			useState(t, dir, unpackState(t, archive, dir))
		})
	}
}

// The files that this release makes are opened by this release, so that the next release can freeze them.
func TestFilesOfThisReleaseAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := makeState(t, dir)
	if *freeze != "" {
		pack(t, dir, r, *freeze)
	}
	useState(t, dir, r)
}

// A machine has a server with the state and the settings in a folder, and the services that it sends to.
type machine struct {
	*testServer
	record record
	ntfy   *posttest.Ntfy
	hook   *askbacktest.Receiver
}

func newMachine(t *testing.T, dir string) *machine {
	t.Helper()
	ntfy, hook := posttest.NewNtfy(t), askbacktest.NewReceiver(t, nil)
	at, err := url.Parse(ntfy.Server)
	if err != nil {
		t.Fatal(err)
	}
	env, _ := sandbox(t, "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"ASKBACK_CONFIG="+filepath.Join(dir, "config", "askback.yaml"), "NTFY="+ntfy.Server, "NTFY_HOST="+at.Host,
		"RECEIVER="+hook.URL(), "RECEIVER_HOST="+hook.Address(), "WEBHOOK_SECRET="+askbacktest.ReceiverSecret)
	place := instance.Place{Database: filepath.Join(dir, "state", "askback", "askback.db")}
	return &machine{testServer: &testServer{t: t, env: env, place: place}, ntfy: ntfy, hook: hook}
}

// unpackState unpacks the files of a state to a folder.
func unpackState(t *testing.T, archive, dir string) (r record) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		text, err := io.ReadAll(files)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, bytes.ReplaceAll(text, []byte(placeholder), []byte(dir)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal([]byte(fileText(t, filepath.Join(dir, "record.json"))), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// useState uses the files of a machine as its users do after an upgrade.
func useState(t *testing.T, dir string, r record) {
	m := newMachine(t, dir)
	m.record, m.agent, m.user = r, r.Agent, r.Ana
	m.start()
	for path, want := range r.Replies {
		if err := keeps(path, want, m.read(path)); err != nil {
			t.Error(err)
		}
	}
	doctor := mustRun(t, m.env, "doctor")
	for _, check := range []string{"state", "tokens", "secrets", "database", "directory"} {
		if !regexp.MustCompile(`(?m)^ok +` + check).MatchString(doctor) {
			t.Errorf("askback doctor does not accept %s:\n%s", check, doctor)
		}
	}
	m.call(r.Revoked, "GET", "/asks", "", http.StatusUnauthorized)
	m.answerPendingAsks()
	m.useMessages()
	m.call(r.Ana, "POST", "/asks/"+r.Asks["run"]+"/answer", `{"answer": "The sea"}`, 200)
	if run := m.waitForStatus(r.Run, "completed"); run["result"] != "Old sea." {
		t.Errorf("got the run %v", run)
	}
	m.settle(r.Agent, "answered, not acknowledged", "ack", "")
	m.call(r.Ana, "POST", "/asks/"+r.Asks["denied"]+"/answer", `{"decision": "approved"}`, http.StatusConflict)
	m.useGrant()
	delivered := func() bool {
		return slices.ContainsFunc(m.hook.Attempts(), func(a askbacktest.Attempt) bool {
			return a.Outcome != nil && a.Event == "question_answered"
		})
	}
	if !eventually(delivered) {
		t.Errorf("the receiver of webhooks got no answer: %+v", m.hook.Attempts())
	}
	rejected(t, m.hook)
	project := filepath.Join(dir, "project")
	mustRunIn(t, project, m.env, "init", "claude-code", "--remove", "--yes")
	if got := fileText(t, filepath.Join(project, ".mcp.json")); got != userConfiguration {
		t.Errorf("after askback init --remove, the user's file is %q", got)
	}
}

// answerPendingAsks answers the pending asks of a state over the API and with commands.
func (m *machine) answerPendingAsks() {
	m.t.Helper()
	ana := m.record.Ana
	m.settle(ana, "question", "answer", `{"answer": "SQLite"}`)
	m.settle(ana, "two questions", "answer",
		`{"answers": [{"id": "q1", "selected": ["eu", "us"]}, {"id": "q2", "other": "north"}]}`)
	draft := m.call(ana, "GET", "/asks/"+m.record.Asks["draft"]+"/draft", "", 200)
	if draft["other"] != "Maybe MariaDB, bec" {
		m.t.Errorf("got the draft %v", draft)
	}
	mustRun(m.t, m.env, "answer", m.record.Asks["draft"], "PostgreSQL")
	if snoozed := "/asks/" + m.record.Asks["snoozed"]; m.age(snoozed) < snoozedFor {
		m.call(ana, "GET", snoozed+"/snooze", "", 200)
	}
	m.settle(ana, "snoozed", "decline", `{}`)
	m.settle(ana, "call", "answer", `{"decision": "approved"}`)
	m.consume("call")
	m.settle(m.record.Ben, "two approvals", "answer", `{"decision": "approved"}`)
	m.consume("two approvals")
	m.settle(ana, "dangerous", "answer", `{"decision": "denied", "reason": "never"}`)
	for name, want := range map[string]string{
		"question": "answered", "two questions": "answered", "draft": "answered", "snoozed": "declined",
		"call": "answered", "two approvals": "answered", "dangerous": "answered",
	} {
		if got := m.askStatus(m.record.Asks[name]); got != want {
			m.t.Errorf("%s: got %v, want %s", name, got, want)
		}
	}
	if !eventually(func() bool { return m.askStatus(m.record.Asks["held"]) == "answered" }) {
		m.t.Error("the held answer was not sent")
	}
}

// age returns how long ago an ask of the state was made.
func (m *machine) age(path string) time.Duration {
	m.t.Helper()
	text, _ := m.record.Replies[path].(map[string]any)["created_at"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		m.t.Fatal(err)
	}
	return time.Since(at)
}

// useMessages answers asks with a link and with a button of messages that were sent before.
func (m *machine) useMessages() {
	m.t.Helper()
	page, err := http.Get(m.url() + m.record.Page)
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := io.ReadAll(page.Body)
	if _ = page.Body.Close(); err != nil || page.StatusCode != http.StatusOK ||
		!strings.Contains(string(text), "Which style?") {
		m.t.Errorf("the page of the link: got %s, %v\n%s", page.Status, err, text)
	}
	m.ntfy.Publish("replies", m.record.Button)
	if !eventually(func() bool { return m.askStatus(m.record.Asks["with a button"]) == "answered" }) {
		m.t.Errorf("the button of a message does not answer\n%s", m.process.err.String())
	}
}

// useGrant asks for a call that a standing approval covers, if the approval has not expired.
func (m *machine) useGrant() {
	m.t.Helper()
	want := "answered"
	if len(m.call(m.record.Ana, "GET", "/grants", "", 200)["items"].([]any)) == 0 {
		want = "pending"
	}
	m.ask("covered", `"confirmation": {"tool_name": "lint", "input": {"all": false}}`)
	if got := m.askStatus(m.record.Asks["covered"]); got != want {
		m.t.Errorf("a call that a standing approval covers: got %v, want %s", got, want)
	}
}

// changing are the fields that later requests and deliveries change. After days without success, a receiver is
// disabled.
var changing = map[string][]string{
	"/grants?ended=true": {"last_used_at", "uses"},
	"/endpoints":         {"failing_since", "status", "reason", "by", "changed_at"},
}

// keeps returns an error if a reply lacks a field that it had, or has another value. Elements of lists are
// found by their id, if they have one.
func keeps(place string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		have, _ := got.(map[string]any)
		for key, value := range want {
			there, ok := have[key]
			if !ok {
				return fmt.Errorf("%s: %q is missing in %v", place, key, got)
			}
			if path, _, _ := strings.Cut(place, " "); slices.Contains(changing[path], key) {
				continue
			}
			if err := keeps(place+" "+key, value, there); err != nil {
				return err
			}
		}
	case []any:
		have, _ := got.([]any)
		if len(have) < len(want) {
			return fmt.Errorf("%s: got %v, want %v", place, got, want)
		}
		for i, item := range want {
			there := have[i]
			if one, ok := item.(map[string]any); ok && one["id"] != nil {
				for _, other := range have {
					if other.(map[string]any)["id"] == one["id"] {
						there = other
					}
				}
			}
			if err := keeps(fmt.Sprint(place, " ", i), item, there); err != nil {
				return err
			}
		}
	default:
		if !reflect.DeepEqual(want, got) {
			return fmt.Errorf("%s: got %v, want %v", place, got, want)
		}
	}
	return nil
}
