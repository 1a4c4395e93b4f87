package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// generate serves the API of Gemini, which Gemini CLI uses. Results have no ids there, so they belong to the
// calls of the script in order.
func (m *model) generate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []struct {
			FunctionDeclarations []tool `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if !m.read(w, r, &in) {
		return
	}
	var tools []tool
	for _, t := range in.Tools {
		tools = append(tools, t.FunctionDeclarations...)
	}
	results := map[string]string{}
	for _, content := range in.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil && len(results) < len(m.script) {
				results[m.script[len(results)].id] = outputOf(part.FunctionResponse.Response)
			}
		}
	}
	part := map[string]any{"text": "Done."}
	if c, as, ok := m.turn(tools, results); ok {
		part = map[string]any{"functionCall": map[string]any{"name": as.Name, "args": c.args}}
	}
	out := map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP",
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "gemini-2.5-pro",
	}
	if !strings.Contains(r.URL.Path, ":streamGenerateContent") {
		writeJSON(w, out)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\n", m.json(out))
}

// outputOf returns the output or the error in a response, or the JSON of another response.
func outputOf(response json.RawMessage) string {
	var r struct{ Output, Error string }
	if json.Unmarshal(response, &r) != nil || r.Output+r.Error == "" {
		return string(response)
	}
	return r.Output + r.Error
}
