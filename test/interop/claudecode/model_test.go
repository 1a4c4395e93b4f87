package claudecode_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A turn is what the model says next: words, or calls of tools.
type turn struct {
	text  string
	calls []call
	later func() turn // what it says depends on what it was told
}

// A call is one call of a tool. Its id is how its result is found.
type call struct {
	id, tool string
	input    any
}

func says(text string) turn { return turn{text: text} }

func calls(id, tool string, input any) turn { return turn{calls: []call{{id, tool, input}}} }

// A result is what the model was told about one of its calls.
type result struct {
	text    string
	isError bool
}

// A model speaks the Messages API from a script: how many turns it has had is
// read from the conversation that it is sent, so that a request that is repeated
// or resumed gets the turn it should.
type model struct {
	t      testing.TB
	url    string
	script []turn

	mu      sync.Mutex
	tools   []string          // of the last request
	results map[string]result // by call
	news    chan struct{}     // closed when there is something new
	odd     []string          // requests that no one understood
}

func newModel(t testing.TB, script ...turn) *model {
	t.Helper()
	m := &model{t: t, script: script, results: map[string]result{}, news: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]int{"input_tokens": 100})
	})
	// A server of another test, killed since, may have had this port before: what
	// looks for it is no request for a model.
	mux.HandleFunc("/healthz", http.NotFound)
	mux.HandleFunc("/mcp", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.odd = append(m.odd, r.Method+" "+r.URL.String())
		m.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		reply(w, map[string]any{"type": "error", "error": map[string]string{"type": "not_found_error", "message": "no such thing"}})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// request is what matters of one.
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
	said := says("Title")
	if len(in.Tools) > 0 {
		said = m.next(in)
	}
	if said.later != nil {
		said = said.later()
	}
	m.write(w, in, said)
}

// next keeps what the model is told and returns its turn.
func (m *model) next(in request) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools = nil
	for _, tool := range in.Tools {
		m.tools = append(m.tools, tool.Name)
	}
	had := 0
	for i, message := range in.Messages {
		if message.Role == "assistant" && (i == 0 || in.Messages[i-1].Role != "assistant") {
			had++
		}
		var blocks []block
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				m.results[b.ToolUseID] = result{flat(b.Content), b.IsError}
			}
		}
	}
	close(m.news)
	m.news = make(chan struct{})
	if had < len(m.script) {
		return m.script[had]
	}
	m.odd = append(m.odd, fmt.Sprintf("turn %d", had))
	return says("There is no more in the script.")
}

// flat is the text of a content, which is a text or a list of blocks.
func flat(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// write sends a turn as the stream of events that the API has.
func (m *model) write(w http.ResponseWriter, in request, said turn) {
	content := []map[string]any{}
	stop := "end_turn"
	if said.text != "" {
		content = append(content, map[string]any{"type": "text", "text": said.text})
	}
	for _, c := range said.calls {
		content, stop = append(content, map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input}), "tool_use"
	}
	usage := map[string]int{"input_tokens": 10, "output_tokens": 5}
	message := map[string]any{ // two of one id would be taken for one
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
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	event("message_stop", map[string]any{})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// result waits for what the model is told about a call.
func (m *model) result(id string) result {
	m.t.Helper()
	ctx := bounded(m.t)
	for {
		m.mu.Lock()
		r, ok := m.results[id]
		news := m.news
		m.mu.Unlock()
		if ok {
			return r
		}
		select {
		case <-news:
		case <-ctx.Done():
			m.t.Fatalf("the model was told nothing about %s", id)
		}
	}
}

// knowsResult says whether the model was told about a call.
func (m *model) knowsResult(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.results[id]
	return ok
}

// knows says whether the model was offered a tool.
func (m *model) knows(tool string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.tools, tool)
}

// noOddities fails for requests that no script has.
func (m *model) noOddities() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.odd {
		m.t.Errorf("the model was asked for %s", o)
	}
}
