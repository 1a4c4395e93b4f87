package agents_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/test/interop/clienttest"
)

// A call is one call of a tool. Its result is found by its id.
type call struct {
	id   string
	tool string // without the prefix of the client
	args any
}

// A model serves the Responses API and chat completions of OpenAI, the Messages API of Anthropic and the API
// of Gemini from a script. It returns one call per turn. It derives the number of past turns from each
// request, so that a repeated request gets the same turn.
type model struct {
	t      testing.TB
	host   string // the address without a path
	url    string // the address of the APIs of OpenAI
	script []call

	mu         sync.Mutex
	held       map[string]chan struct{} // closed when the call may be made
	results    map[string]string        // by call id
	changed    chan struct{}            // closed when there is a new result
	unexpected []string                 // requests that the script cannot serve
}

func newModel(t testing.TB, script ...call) *model {
	t.Helper()
	m := &model{
		t: t, script: script, held: map[string]chan struct{}{}, results: map[string]string{},
		changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("POST /v1/chat/completions", m.completions)
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1beta/models/", m.generate)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	})
	// Clients of a killed server that had this port before may still send these requests.
	mux.HandleFunc("/healthz", http.NotFound)
	mux.HandleFunc("/mcp", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.unexpected = append(m.unexpected, r.Method+" "+r.URL.String())
		http.NotFound(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	m.host, m.url = s.URL, s.URL+"/v1"
	return m
}

// A tool is a tool that a client offers.
type tool struct {
	Name      string `json:"name"`
	Namespace string // used by Codex for the tools of an MCP server
	Function  struct {
		Name string `json:"name"`
	} `json:"function"`
	Tools []tool `json:"tools"`
}

// offered returns the tool called name, with the prefix or the namespace that the client adds to the tools of
// an MCP server. It returns false if no tool has the name.
func offered(tools []tool, name string) (tool, bool) {
	for _, t := range tools {
		full := t.Name + t.Function.Name
		if before, ok := strings.CutSuffix(full, name); ok &&
			(before == "" || ofServer(strings.TrimRight(before, "_-"))) {
			t.Name = full
			return t, true
		}
		if inner, ok := offered(t.Tools, name); ok && ofServer(t.Name) {
			inner.Namespace = t.Name
			return inner, true
		}
	}
	return tool{}, false
}

// ofServer reports whether a prefix or namespace belongs to an MCP server of the tests.
func ofServer(prefix string) bool {
	return strings.HasSuffix(prefix, "askback") || strings.HasSuffix(prefix, "probe")
}

// turn stores the results in a request and returns the next call. It returns false after the last call.
func (m *model) turn(tools []tool, results map[string]string) (c call, as tool, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.waitFor(c.id) }()
	for id, text := range results {
		m.results[id] = text
	}
	close(m.changed)
	m.changed = make(chan struct{})
	if len(tools) == 0 || len(results) >= len(m.script) {
		return call{}, tool{}, false
	}
	c = m.script[len(results)]
	as, ok = offered(tools, c.tool)
	if !ok {
		m.unexpected = append(m.unexpected, fmt.Sprintf("%s is not offered: %+v", c.tool, tools))
	}
	return c, as, ok
}

// hold makes the model wait with a call until release is called.
func (m *model) hold(id string) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := make(chan struct{})
	m.held[id] = held
	return sync.OnceFunc(func() { close(held) })
}

// waitFor waits until a call may be made. It is called with m.mu locked.
func (m *model) waitFor(id string) {
	held := m.held[id]
	if held == nil {
		return
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-held:
	case <-m.t.Context().Done():
	}
}

// result waits for the result of a call.
func (m *model) result(id string) string {
	m.t.Helper()
	ctx := bounded(m.t)
	for {
		m.mu.Lock()
		text, ok := m.results[id]
		changed, unexpected := m.changed, slices.Clone(m.unexpected)
		m.mu.Unlock()
		if ok {
			return text
		}
		select {
		case <-changed:
		case <-ctx.Done():
			m.t.Fatalf("no request has a result of %s; not understood: %v", id, unexpected)
		}
	}
}

// checkUnexpected fails the test if there were requests that the script cannot
// serve.
func (m *model) checkUnexpected() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.unexpected {
		m.t.Errorf("a request that is not understood: %s", o)
	}
}

// responses serves the Responses API, which Codex uses.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []tool `json:"tools"`
		Input []struct {
			Type   string          `json:"type"`
			CallID string          `json:"call_id"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if !m.read(w, r, &in) {
		return
	}
	results := map[string]string{}
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			results[item.CallID] = clienttest.ContentText(item.Output)
		}
	}
	item := map[string]any{"type": "message", "role": "assistant", "id": "msg_1", "content": []any{
		map[string]any{"type": "output_text", "text": "Done."},
	}}
	if c, as, ok := m.turn(in.Tools, results); ok {
		item = map[string]any{
			"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": as.Name, "arguments": m.arguments(c),
		}
		if as.Namespace != "" {
			item["namespace"] = as.Namespace
		}
	}
	id := fmt.Sprintf("resp_%d", len(results))
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": id}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": id, "usage": map[string]any{
			"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
		}}},
	} {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], m.json(event))
	}
}

// completions serves chat completions, which OpenCode and Copilot use.
func (m *model) completions(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool   `json:"stream"`
		Model    string `json:"model"`
		Tools    []tool `json:"tools"`
		Messages []struct {
			Role       string          `json:"role"`
			ToolCallID string          `json:"tool_call_id"`
			Content    json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if !m.read(w, r, &in) {
		return
	}
	results := map[string]string{}
	for _, message := range in.Messages {
		if message.Role == "tool" {
			results[message.ToolCallID] = clienttest.ContentText(message.Content)
		}
	}
	message, finish := map[string]any{"role": "assistant", "content": "Done."}, "stop"
	if c, as, ok := m.turn(in.Tools, results); ok {
		message, finish = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"index": 0, "id": c.id, "type": "function",
			"function": map[string]any{"name": as.Name, "arguments": m.arguments(c)},
		}}}, "tool_calls"
	}
	out := map[string]any{
		"id": fmt.Sprintf("chatcmpl_%d", len(results)), "object": "chat.completion", "created": 1, "model": in.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	}
	if !in.Stream {
		writeJSON(w, out)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out["object"] = "chat.completion.chunk"
	for _, choice := range []map[string]any{
		{"index": 0, "delta": message, "finish_reason": nil},
		{"index": 0, "delta": map[string]any{}, "finish_reason": finish},
	} {
		out["choices"] = []any{choice}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", m.json(out))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (m *model) read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(r.Body).Decode(into)
	if err != nil {
		m.t.Errorf("%s: %v", r.URL, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func (m *model) arguments(c call) string { return string(m.json(c.args)) }

func (m *model) json(v any) []byte {
	f, err := json.Marshal(v)
	if err != nil {
		m.t.Error(err)
	}
	return f
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
