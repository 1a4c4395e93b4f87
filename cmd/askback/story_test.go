package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// A story is a server with the agents of a file in testdata/stories, and with the payloads of the file.
type story struct {
	*testServer
	payloads map[string]string
}

// newStory starts a server in a folder with the files of a story.
func newStory(t *testing.T, name string, env ...string) *story {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "stories", name))
	if err != nil {
		t.Fatal(err)
	}
	s := &story{payloads: map[string]string{}}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if payload, found := strings.CutPrefix(f.Name, "payloads/"); found {
			s.payloads[payload] = string(f.Data)
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.testServer = newServerIn(t, dir, env...)
	return s
}

// newServerIn starts a server with the settings in a folder, and creates a token for an agent and a token for
// a person.
func newServerIn(t *testing.T, dir string, extra ...string) *testServer {
	t.Helper()
	env, database := sandbox(t, extra...)
	s := &testServer{
		t: t, dir: dir, env: append(env, "ASKBACK_CONFIG="+filepath.Join(dir, "askback.yaml"), "ASKBACK_DB="+database),
	}
	s.place.Database = database
	s.start()
	s.agent = strings.TrimSpace(mustRunIn(t, dir, s.env, "token", "add", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRunIn(t, dir, s.env, "token", "add", "--kind", "responder", "--name", "ana"))
	return s
}

// payload returns a payload with replacements: pairs of an old and a new text.
func (s *story) payload(name string, replace ...string) string {
	s.t.Helper()
	p, ok := s.payloads[name]
	if !ok {
		s.t.Fatalf("there is no payload %s", name)
	}
	return strings.NewReplacer(replace...).Replace(p)
}

// requireLike requires that a value contains everything in a payload: the members of each object with their
// values, and the entries of each list. A time matches any time.
func (s *story) requireLike(got any, name string, replace ...string) {
	s.t.Helper()
	var want any
	if err := json.Unmarshal([]byte(s.payload(name, replace...)), &want); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	if problem := differs(got, want, ""); problem != "" {
		text, _ := json.MarshalIndent(got, "", "  ")
		s.t.Errorf("%s: %s; got\n%s", name, problem, text)
	}
}

// differs returns the first difference between a value and the wanted value, or "". Further members are no
// difference.
func differs(got, want any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for key, value := range want {
			if problem := differs(object[key], value, at+"/"+key); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is %v, want a list of %d entries", at, got, len(want))
		}
		for i, value := range want {
			if problem := differs(list[i], value, fmt.Sprintf("%s/%d", at, i)); problem != "" {
				return problem
			}
		}
		return ""
	}
	if isTime(want) && isTime(got) || reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("%s is %v, want %v", at, got, want)
}

func isTime(v any) bool {
	text, ok := v.(string)
	_, err := time.Parse(time.RFC3339, text)
	return ok && err == nil
}

// until repeats a GET request until so returns true for the reply. It returns this reply.
func (s *testServer) until(path, what string, so func(map[string]any) bool) map[string]any {
	s.t.Helper()
	var last map[string]any
	if !eventually(func() bool { last = s.call(s.user, "GET", path, "", 200); return so(last) }) {
		s.t.Fatalf("no %s at %s, last: %v", what, path, last)
	}
	return last
}

// hook starts a run by webhook, and returns the id of its session.
func (s *testServer) hook(agent, payload string) string {
	s.t.Helper()
	return s.call(s.agent, "POST", "//hooks/"+agent, payload, 202)["session_id"].(string)
}

// askOf waits until a session has exactly one open ask, and returns the ask.
func (s *testServer) askOf(session string) map[string]any {
	s.t.Helper()
	open := s.until("/asks?session_id="+session, "open ask",
		func(page map[string]any) bool { return len(page["items"].([]any)) == 1 })
	return open["items"].([]any)[0].(map[string]any)
}

// ended waits until the turn of a session has ended, and returns the session.
func (s *testServer) ended(session string) map[string]any {
	s.t.Helper()
	return s.until("/sessions/"+session, "end", func(got map[string]any) bool {
		return got["status"] != "running" && got["status"] != "waiting_for_input"
	})
}

// run starts a run of an agent as a person, and returns the id of its session.
func (s *testServer) run(agent, prompt string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"agent": agent, "prompt": prompt})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.call(s.user, "POST", "/sessions", string(body), 201)["id"].(string)
}

// text returns a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A stream collects the events that a person follows.
type stream struct {
	t       *testing.T
	mu      sync.Mutex
	events  []map[string]any
	changed chan struct{} // closed and replaced with each event
}

// follow opens a stream, and returns once the stream has begun.
func (s *testServer) follow(path string) *stream {
	s.t.Helper()
	announced, _ := s.place.Last()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", announced.URL+"/api/v1"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.user)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatalf("%v, %v", res, err)
	}
	f := &stream{t: s.t, changed: make(chan struct{})}
	begun := make(chan struct{})
	go func() {
		defer res.Body.Close()
		in := bufio.NewScanner(res.Body)
		in.Buffer(nil, 4<<20)
		for in.Scan() {
			data, found := strings.CutPrefix(in.Text(), "data: ")
			var event map[string]any
			if !found || json.Unmarshal([]byte(data), &event) != nil {
				continue
			}
			f.mu.Lock()
			if f.events = append(f.events, event); len(f.events) == 1 {
				close(begun)
			}
			close(f.changed)
			f.changed = make(chan struct{})
			f.mu.Unlock()
		}
	}()
	<-begun
	return f
}

// all returns the data of the events of a type in a session that have arrived so far.
func (f *stream) all(kind, session string) (data []map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if e["type"] == kind && e["session_id"] == session {
			data = append(data, e["data"].(map[string]any))
		}
	}
	return data
}

// wait waits for the first matching event of a type in a session, and returns its data.
func (f *stream) wait(kind, session string, so func(data map[string]any) bool) map[string]any {
	f.t.Helper()
	timeout := time.After(testTimeout)
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		for _, data := range f.all(kind, session) {
			if so == nil || so(data) {
				return data
			}
		}
		select {
		case <-changed:
		case <-timeout:
			f.t.Fatalf("no such %s in the stream: %s", kind, text(f.events))
		}
	}
}

// filesServer builds the MCP server of the examples once, and returns the folder of the program.
func filesServer(t *testing.T) string {
	t.Helper()
	dir, err := buildFilesServer()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// filesServerDir is the folder of the built files server, or "".
var filesServerDir string

func deleteFilesServer() {
	if filesServerDir != "" {
		_ = os.RemoveAll(filesServerDir)
	}
}

var buildFilesServer = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "askback-files-server-*")
	if err != nil {
		return "", err
	}
	filesServerDir = dir
	out, err := exec.Command("go", "build", "-o", dir,
		"github.com/askback/askback/examples/files-server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the files server: %w: %s", err, out)
	}
	return dir, nil
})
