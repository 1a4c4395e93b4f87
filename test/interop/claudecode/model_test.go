package claudecode_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/askback/askback/test/interop/clienttest"
)

// A turn is the next response of the model: text or tool calls.
type turn struct {
	text  string
	calls []call
	later func() turn // computes the turn from earlier results
}

// A call is one call of a tool. Its result is found by its id.
type call struct {
	id, tool string
	input    any
}

func text(text string) turn { return turn{text: text} }

func calls(id, tool string, input any) turn { return turn{calls: []call{{id, tool, input}}} }

// A result is the result of a tool call.
type result struct {
	text    string
	isError bool
}

// A model serves the Messages API from a script. It derives the number of past
// turns from each request, so that a repeated or resumed request gets the right
// turn.
type model struct {
	t      testing.TB
	url    string
	script []turn

	mu         sync.Mutex
	tools      []string          // the tools of the last request
	planFile   string            // the file for a plan, from the last message that names it
	results    map[string]result // by call
	changed    chan struct{}     // closed when there is a new result
	unexpected []string          // requests that the script cannot serve
}

func newModel(t testing.TB, script ...turn) *model {
	t.Helper()
	m := &model{t: t, script: script, results: map[string]result{}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]int{"input_tokens": 100})
	})
	// Clients of a killed server that had this port before may still send these requests.
	mux.HandleFunc("/healthz", http.NotFound)
	mux.HandleFunc("/mcp", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.unexpected = append(m.unexpected, r.Method+" "+r.URL.String())
		m.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		reply(w, map[string]any{
			"type": "error", "error": map[string]string{"type": "not_found_error", "message": "no such thing"},
		})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// A request contains the fields of a request that the model uses.
type request struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := text("Title")
	if len(in.Tools) > 0 {
		said = m.next(in)
	}
	if said.later != nil {
		said = said.later()
	}
	m.write(w, in, said)
}

// next stores the results in a request and returns the next turn.
func (m *model) next(in request) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = nil
	for _, tool := range in.Tools {
		m.tools = append(m.tools, tool.Name)
	}
	had := 0
	for i, message := range in.Messages {
		if path := planPath.Find(message.Content); path != nil {
			m.planFile = string(path)
		}
		if message.Role == "assistant" && (i == 0 || in.Messages[i-1].Role != "assistant") {
			had++
		}
		var blocks []block
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				m.results[b.ToolUseID] = result{clienttest.ContentText(b.Content), b.IsError}
			}
		}
	}
	close(m.changed)
	m.changed = make(chan struct{})
	if had < len(m.script) {
		return m.script[had]
	}
	m.unexpected = append(m.unexpected, fmt.Sprintf("turn %d", had))
	return text("There is no more in the script.")
}

// write sends a turn, as an event stream if the request asks for a stream.
func (m *model) write(w http.ResponseWriter, in request, said turn) {
	content := []map[string]any{}
	stop := "end_turn"
	if said.text != "" {
		content = append(content, map[string]any{"type": "text", "text": said.text})
	}
	for _, c := range said.calls {
		content, stop = append(content,
			map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input}), "tool_use"
	}
	usage := map[string]int{"input_tokens": 10, "output_tokens": 5}
	message := map[string]any{ // ids must be unique
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": in.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !in.Stream {
		reply(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, v map[string]any) {
		v["type"] = kind
		b, err := json.Marshal(v)
		if err != nil {
			m.t.Error(err)
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	message["content"], message["stop_reason"] = []any{}, nil
	event("message_start", map[string]any{"message": message})
	for i, b := range content {
		delta := map[string]any{"type": "text_delta", "text": b["text"]}
		start := map[string]any{"type": "text", "text": ""}
		if b["type"] == "tool_use" {
			input, err := json.Marshal(b["input"])
			if err != nil {
				m.t.Error(err)
			}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
			start = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
		}
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		event("content_block_delta", map[string]any{"index": i, "delta": delta})
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta",
		map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	event("message_stop", map[string]any{})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// result waits for the result of a call.
func (m *model) result(id string) result {
	m.t.Helper()
	ctx := bounded(m.t)
	for {
		m.mu.Lock()
		r, ok := m.results[id]
		changed := m.changed
		m.mu.Unlock()
		if ok {
			return r
		}
		select {
		case <-changed:
		case <-ctx.Done():
			m.t.Fatalf("the model got no result of %s", id)
		}
	}
}

// hasResult reports whether the model has the result of a call.
func (m *model) hasResult(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.results[id]
	return ok
}

// offered reports whether the model was offered a tool.
func (m *model) offered(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.tools, tool)
}

// checkUnexpected fails the test if there were requests that the script cannot
// serve.
func (m *model) checkUnexpected() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.unexpected {
		m.t.Errorf("the model was asked for %s", o)
	}
}
