package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/agent/anthropic/anthropictest"
	"github.com/askback/askback/agent/openai/openaitest"
	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
	"github.com/askback/askback/internal/local/instance"
)

// helper is a complete definition in one file. It needs no settings.
const helper = `---
description: Helps with names
tools: [ask_user_question]
---
You find names. Ask which one people like.
`

// serveAgents starts "askback serve --agents agents" in a folder with one definition.
func serveAgents(t *testing.T, dir string, extra ...string) *testServer {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "agents", "helper.md"), []byte(helper), 0o600); err != nil {
		t.Fatal(err)
	}
	env, database := sandbox(t, extra...)
	s := &testServer{t: t, env: env, dir: dir, place: instance.Place{Database: database}}
	s.process = launchIn(t, dir, env, "serve", "--agents", "agents/", "--listen", "127.0.0.1:0")
	s.process.waitForStderr(t, "msg=serving")
	s.user = strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	return s
}

// answered starts a run and answers its question. It waits until the run has completed, and returns the
// session.
func (s *testServer) answered(answer string) map[string]any {
	s.t.Helper()
	id := s.call(s.user, "POST", "/sessions", `{"agent": "helper", "prompt": "Find a name."}`, 201)["id"].(string)
	s.call(s.user, "POST", "/asks/"+s.waitForAsk()+"/answer", `{"answer": "`+answer+`"}`, 200)
	return s.waitForStatus(id, "completed")
}

// recordHeaders makes the fake record its requests. It returns a function that returns the requests so far.
func recordHeaders(fake *modeltest.Server) func() []*http.Request {
	var mu sync.Mutex
	var all []*http.Request
	check := fake.Check
	fake.Check = func(r *http.Request, body []byte) *modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r.Clone(r.Context()))
		return check(r, body)
	}
	return func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// decodeBody returns the decoded body of the request with index n.
func decodeBody(t *testing.T, fake *modeltest.Server, n int) (body map[string]any) {
	t.Helper()
	all := fake.Bodies()
	if len(all) <= n {
		t.Fatalf("got %d requests", len(all))
	}
	if err := json.Unmarshal(all[n], &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// A definition, a command and an Anthropic key in the environment are enough to run an agent, without
// settings (E12).
func TestAnthropicKeyAloneEnablesTheDefaultModel(t *testing.T) {
	t.Parallel()
	fake := anthropictest.New(t)
	requests := recordHeaders(fake)
	fake.Add(
		modeltest.Reply{Body: anthropictest.Stream("tool_use", anthropictest.Text("I ask."),
			anthropictest.ToolUse("toolu_1", "ask_user_question", `{"question": "Which?", `,
				`"options": ["Ada", "Grace"]}`))},
		modeltest.Reply{Body: anthropictest.Stream("end_turn", anthropictest.Text("Ada ", "it is."))})
	s := serveAgents(t, t.TempDir(), "ANTHROPIC_API_KEY="+modeltest.Key, "ANTHROPIC_BASE_URL="+fake.URL)
	if got := s.answered("Ada")["result"]; got != "Ada it is." {
		t.Errorf("got the result %v", got)
	}
	for _, r := range requests() {
		if r.Method != "POST" || r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != modeltest.Key ||
			r.Header.Get("Anthropic-Version") != "2023-06-01" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "" {
			t.Errorf("got %s %s with %v", r.Method, r.URL, r.Header)
		}
	}
	if n := len(requests()); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
	first := decodeBody(t, fake, 0)
	system, _ := json.Marshal(first["system"])
	tools, _ := json.Marshal(first["tools"])
	messages, _ := json.Marshal(first["messages"])
	if first["model"] != anthropic.Newest("sonnet") || first["stream"] != true || first["max_tokens"] == nil ||
		!strings.Contains(string(system), "You find names.") ||
		!strings.Contains(string(tools), `"ask_user_question"`) || !strings.Contains(string(messages), "Find a name.") {
		t.Errorf("got the body %v", first)
	}
	second, _ := json.Marshal(decodeBody(t, fake, 1)["messages"])
	for _, want := range []string{`"tool_use_id":"toolu_1"`, `"type":"tool_result"`, "Ada"} {
		if !strings.Contains(string(second), want) {
			t.Errorf("the second request has no %s: %s", want, second)
		}
	}
	if log := s.process.err.String(); strings.Contains(log, modeltest.Key) {
		t.Error("the log has the key")
	}
}

// Three lines of settings add a model with the OpenAI API. The key comes from the environment.
func TestThreeLinesOfSettingsAddAnOpenAIModel(t *testing.T) {
	t.Parallel()
	fake := openaitest.New(t)
	requests := recordHeaders(fake)
	fake.Add(
		modeltest.Reply{Body: openaitest.Stream("tool_calls", openaitest.Call(0, "call_1", "ask_user_question",
			`{"question": "Which?", `, `"options": ["Ada", "Grace"]}`))},
		modeltest.Reply{Body: openaitest.Stream("stop", openaitest.Text("Grace ", "it is."))})
	dir := t.TempDir()
	settings := "models:\n  default: {provider: openai, base_url: \"" + fake.URL +
		"\", model: some-model, api_key: \"${MODEL_KEY}\"}\n"
	if err := os.WriteFile(filepath.Join(dir, "askback.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveAgents(t, dir, "MODEL_KEY="+modeltest.Key, "ASKBACK_CONFIG="+filepath.Join(dir, "askback.yaml"))
	if got := s.answered("Grace")["result"]; got != "Grace it is." {
		t.Errorf("got the result %v", got)
	}
	for _, r := range requests() {
		if r.Method != "POST" || r.URL.Path != "/v1/chat/completions" ||
			r.Header.Get("Authorization") != "Bearer "+modeltest.Key {
			t.Errorf("got %s %s with %v", r.Method, r.URL, r.Header)
		}
	}
	first := decodeBody(t, fake, 0)
	body, _ := json.Marshal(first)
	if first["model"] != "some-model" || first["stream"] != true ||
		!strings.Contains(string(body), `"role":"system"`) || !strings.Contains(string(body), "You find names.") {
		t.Errorf("got the body %s", body)
	}
	second, _ := json.Marshal(decodeBody(t, fake, 1)["messages"])
	if !strings.Contains(string(second), `"role":"tool"`) ||
		!strings.Contains(string(second), `"tool_call_id":"call_1"`) || !strings.Contains(string(second), "Grace") {
		t.Errorf("the second request has no result: %s", second)
	}
}
