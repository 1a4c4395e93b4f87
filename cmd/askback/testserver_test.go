package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

// A testServer is an askback serve process with its own database. A test may kill it and
// start it again.
type testServer struct {
	t           *testing.T
	env         []string
	dir         string // its working directory; "" for the directory of the test
	place       instance.Place
	process     *process
	agent, user string // tokens
}

// newServer starts a server, and creates a token for an agent and a token for a person.
func newServer(t *testing.T) *testServer {
	t.Helper()
	env, database := sandbox(t)
	s := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	s.start()
	s.agent = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "agent", "--name", "robot"))
	s.user = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	return s
}

func (s *testServer) start() {
	s.t.Helper()
	s.process = launchIn(s.t, s.dir, s.env, "serve", "--listen", "127.0.0.1:0")
	s.process.waitForStderr(s.t, "msg=serving")
}

func (s *testServer) kill() {
	_ = s.process.cmd.Process.Kill()
	<-s.process.ended
}

// call sends a request to the API, requires a status and returns the body, or nil if the body is empty. A
// path that begins with // is outside of the API.
func (s *testServer) call(token, method, path, body string, status int) map[string]any {
	s.t.Helper()
	announced, _ := s.place.Last()
	target, outside := strings.CutPrefix(path, "//")
	if target = "/" + target; !outside {
		target = "/api/v1" + path
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, announced.URL+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if body == "" {
		req.Body = nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		s.t.Fatalf("%s %s: %s %s, %v; want %d", method, path, res.Status, raw, err, status)
	}
	var out map[string]any
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// waitForAsk waits until exactly one ask is pending, and returns its id.
func (s *testServer) waitForAsk() string {
	s.t.Helper()
	id := ""
	if !eventually(func() bool {
		items := s.call(s.user, "GET", "/asks", "", 200)["items"].([]any)
		if len(items) == 1 {
			id = items[0].(map[string]any)["id"].(string)
		}
		return id != ""
	}) {
		s.t.Fatal("there is not exactly one pending ask")
	}
	return id
}

func (s *testServer) askStatus(id string) any {
	s.t.Helper()
	return s.call(s.user, "GET", "/asks/"+id, "", 200)["status"]
}
