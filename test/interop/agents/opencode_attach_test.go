package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/freeport"
)

// An openCodeServer is opencode serve.
type openCodeServer struct {
	*fixture
	url string
}

// serveOpenCode starts opencode serve with a password, and returns the server.
func serveOpenCode(t *testing.T, script ...call) *openCodeServer {
	t.Helper()
	c := opencode
	c.environ = func(f *fixture) []string { return append(opencode.environ(f), "OPENCODE_SERVER_PASSWORD=secret") }
	f := newFixture(t, c, script...)
	f.mustRun(f.Program, "init", "opencode", "--remove") // the plugin would ask as well
	port := freeport.Pick(t)
	s := &openCodeServer{f, fmt.Sprintf("http://127.0.0.1:%d", port)}
	f.background(f.program, "serve", "--port", fmt.Sprint(port))
	f.eventually("opencode serve runs", func() error {
		// OpenCode never replies to a request that arrives just when it begins to listen.
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := s.request(ctx, "GET", "/global/health", nil)
		return err
	})
	return s
}

// background starts a program that is killed at the end of the test, unless kill was called.
func (f *fixture) background(program string, args ...string) (kill func()) {
	f.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = f.project, f.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if f.t.Failed() {
			f.t.Logf("%s wrote:\n%s", program, out.String())
		}
	})
	return func() { _ = cmd.Process.Kill() }
}

// attach starts askback attach opencode. The function kill ends the process.
func (s *openCodeServer) attach() (kill func()) {
	return s.background(s.Program, "attach", "opencode", "--url", s.url)
}

func (s *openCodeServer) request(ctx context.Context, method, path string, body any) (string, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, content)
	if err != nil {
		return "", err
	}
	req.SetBasicAuth("opencode", "secret")
	req.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", reply.Status, text)
	}
	return string(text), err
}

func (s *openCodeServer) mustRequest(method, path string, body any) string {
	s.t.Helper()
	text, err := s.request(bounded(s.t), method, path, body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return text
}

// prompt starts a session, and returns its id.
func (s *openCodeServer) prompt() string {
	s.t.Helper()
	var session struct{ ID string }
	if err := json.Unmarshal([]byte(s.mustRequest("POST", "/session", map[string]any{})), &session); err != nil {
		s.t.Fatal(err)
	}
	s.mustRequest("POST", "/session/"+session.ID+"/prompt_async", map[string]any{
		"model": map[string]any{"providerID": "scripted", "modelID": "model"},
		"parts": []any{map[string]any{"type": "text", "text": "Do it."}},
	})
	return session.ID
}

// decide replies to the only open request of a kind, as the page of OpenCode does.
func (s *openCodeServer) decide(kind string, body any) {
	s.t.Helper()
	var open []struct{ ID string }
	if err := json.Unmarshal([]byte(s.mustRequest("GET", "/"+kind, nil)), &open); err != nil || len(open) != 1 {
		s.t.Fatalf("open: %v, %v", open, err)
	}
	s.mustRequest("POST", "/"+kind+"/"+open[0].ID+"/reply", body)
}

// of returns the open ask of a session.
func (s *openCodeServer) of(session string, open int) askback.Ask {
	s.t.Helper()
	for _, ask := range s.Open(open) {
		if strings.Contains(string(ask.Context), session) {
			return ask
		}
	}
	s.t.Fatalf("no ask of %s", session)
	return askback.Ask{}
}

// Two sessions of opencode serve ask the same question concurrently, and each gets its own answer. If a
// session is stopped, its ask is withdrawn.
func TestSessionsOfOpenCodeGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	s := serveOpenCode(t, call{"call_1", "question", database}, call{"call_2", "question", database})
	s.attach()
	one, two := s.prompt(), s.prompt()
	s.Answer(s.of(one, 2).ID, askback.Choose("SQLite"))
	s.eventually("the second question of "+one, func() error {
		if text := s.mustRequest("GET", "/session/"+one+"/message", nil); !strings.Contains(text, `=\"SQLite\"`) {
			return errors.New("there is no answer yet")
		}
		return nil
	})
	s.Answer(s.of(two, 2).ID, askback.Choose("PostgreSQL"))
	s.eventually("the second question of "+two, func() error {
		if text := s.mustRequest("GET", "/session/"+two+"/message", nil); !strings.Contains(text, `=\"PostgreSQL\"`) {
			return errors.New("there is no answer yet")
		}
		return nil
	})
	last := s.of(two, 2)
	s.mustRequest("POST", "/session/"+two+"/abort", nil)
	s.becomesCancelled(last.ID)
	s.Open(1)
}

// People are asked about the requests of opencode serve in Askback as well, and the first answer counts.
// Askback and askback attach may be killed in between.
func TestAttachedOpenCodeRequestsAreAskedInAskback(t *testing.T) {
	t.Parallel()
	s := serveOpenCode(t, call{"call_1", "question", database}, touch("call_2", "two"), touch("call_3", "three"),
		touch("call_4", "four"))
	kill := s.attach()
	s.prompt()
	first := s.Open(1)[0]
	s.decide("question", map[string]any{"answers": [][]string{{"PostgreSQL"}}})
	s.becomesCancelled(first.ID)

	second := s.Open(1)[0]
	kill()
	s.becomesCancelled(second.ID)
	s.attach() // asks again
	s.Answer(s.Open(1)[0].ID, askback.Answer{Decision: askback.Approve})
	s.model.result("call_2")

	third := s.Open(1)[0]
	s.Restart()
	s.Answer(third.ID, askback.Answer{Decision: askback.Approve})
	s.model.result("call_3")

	s.Answer(s.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not in this folder"})
	if got := s.model.result("call_4"); !strings.Contains(got, "not in this folder") {
		t.Errorf("denied: the model got %q", got)
	}
	for name, want := range map[string]bool{"two": true, "three": true, "four": false} {
		if s.exists("project/"+name) != want {
			t.Errorf("%s exists: %v, want %v", name, !want, want)
		}
	}
}
