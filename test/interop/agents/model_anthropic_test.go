package agents_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/askback/askback/test/interop/clienttest"
)

// messages serves the Messages API, which Claude Code uses.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool   `json:"stream"`
		Model    string `json:"model"`
		Tools    []tool `json:"tools"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if !m.read(w, r, &in) {
		return
	}
	results := map[string]string{}
	for _, message := range in.Messages {
		var blocks []struct {
			Type      string          `json:"type"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
		}
		if json.Unmarshal(message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results[b.ToolUseID] = clienttest.ContentText(b.Content)
			}
		}
	}
	block, stop := map[string]any{"type": "text", "text": "Done."}, "end_turn"
	if c, as, ok := m.turn(in.Tools, results); ok {
		block, stop = map[string]any{"type": "tool_use", "id": c.id, "name": as.Name, "input": c.args}, "tool_use"
	}
	usage := map[string]int{"input_tokens": 10, "output_tokens": 5}
	message := map[string]any{ // ids must be unique
		"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": in.Model, "content": []any{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !in.Stream {
		writeJSON(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, v map[string]any) {
		v["type"] = kind
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, m.json(v))
	}
	message["content"], message["stop_reason"] = []any{}, nil
	start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "Done."}
	if stop == "tool_use" {
		start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(m.json(block["input"]))}
	}
	event("message_start", map[string]any{"message": message})
	event("content_block_start", map[string]any{"index": 0, "content_block": start})
	event("content_block_delta", map[string]any{"index": 0, "delta": delta})
	event("content_block_stop", map[string]any{"index": 0})
	event("message_delta",
		map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	event("message_stop", map[string]any{})
}
