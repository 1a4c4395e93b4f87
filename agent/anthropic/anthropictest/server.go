// Package anthropictest has a fake of Anthropic's Messages API. It streams replies and rejects requests as
// the API is documented to do.
package anthropictest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
)

// New starts a fake server for the test t.
func New(t testing.TB) *modeltest.Server { return modeltest.New(t, check) }

// A Block is a content block of a reply. Start is the JSON of the block at its start, and Deltas are the JSON
// of the deltas that follow.
type Block struct {
	Start  string
	Deltas []string
}

// Text returns a block of text that arrives in pieces.
func Text(pieces ...string) Block {
	b := Block{Start: `{"type":"text","text":""}`}
	for _, p := range pieces {
		b.Deltas = append(b.Deltas, `{"type":"text_delta","text":`+quote(p)+`}`)
	}
	return b
}

// Thinking returns a thought. The fake accepts the thought in a later request if signature begins with "sig".
// If signature is "", the thought is incomplete.
func Thinking(thought, signature string) Block {
	b := Block{Start: `{"type":"thinking","thinking":"","signature":""}`}
	b.Deltas = append(b.Deltas, `{"type":"thinking_delta","thinking":`+quote(thought)+`}`)
	if signature != "" {
		b.Deltas = append(b.Deltas, `{"type":"signature_delta","signature":`+quote(signature)+`}`)
	}
	return b
}

// ToolUse returns a call whose input arrives in pieces.
func ToolUse(id, name string, input ...string) Block {
	b := Block{Start: fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(id), quote(name))}
	for _, p := range append([]string{""}, input...) {
		b.Deltas = append(b.Deltas, `{"type":"input_json_delta","partial_json":`+quote(p)+`}`)
	}
	return b
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Event returns an event of a stream with the given name and data.
func Event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

// Stream returns all events of a reply with the given blocks.
func Stream(stopReason string, blocks ...Block) string {
	var s strings.Builder
	s.WriteString(Event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}`))
	s.WriteString(Event("ping", `{"type": "ping"}`))
	for i, b := range blocks {
		s.WriteString(Event("content_block_start",
			fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b.Start)))
		for _, d := range b.Deltas {
			s.WriteString(Event("content_block_delta",
				fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d)))
		}
		s.WriteString(Event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i)))
	}
	s.WriteString(Event("message_delta", `{"type":"message_delta","delta":{"stop_reason":`+quote(stopReason)+
		`,"stop_sequence":null},"usage":{"output_tokens":120}}`))
	s.WriteString(Event("message_stop", `{"type":"message_stop"}`))
	return s.String()
}

func reject(status int, kind, message string) *modeltest.Reply {
	return &modeltest.Reply{Status: status, Body: fmt.Sprintf(
		`{"type":"error","error":{"type":%s,"message":%s},"request_id":"req_1"}`, quote(kind), quote(message),
	)}
}

func invalid(format string, args ...any) *modeltest.Reply {
	return reject(http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...))
}

// A request is the part of a request body that is checked.
type request struct {
	Model     string
	Stream    bool
	MaxTokens int `json:"max_tokens"`
	System    []block
	Tools     []struct {
		Name         string
		CacheControl *struct{ Type string } `json:"cache_control"`
		InputSchema  struct{ Type string }  `json:"input_schema"`
	}
	Thinking *struct {
		Type         string
		BudgetTokens int `json:"budget_tokens"`
	}
	Messages []struct {
		Role    string
		Content []block
	}
}

type block struct {
	Type, Text, ID, Signature, Data string
	ToolUseID                       string                 `json:"tool_use_id"`
	CacheControl                    *struct{ Type string } `json:"cache_control"`
	Input                           json.RawMessage
}

// check returns the reply to a request that the API rejects. It returns nil if the request is valid.
func check(r *http.Request, body []byte) *modeltest.Reply {
	var q request
	switch err := json.Unmarshal(body, &q); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		return reject(http.StatusNotFound, "not_found_error", "Not found")
	case r.Header.Get("X-Api-Key") != modeltest.Key || r.Header.Get("Authorization") != "":
		return reject(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return invalid("anthropic-version: header is required")
	case err != nil:
		return invalid("%v", err)
	case q.Model == "" || !q.Stream || q.MaxTokens < 1:
		return invalid("model, stream, max_tokens: Field required")
	case q.Thinking != nil && q.Thinking.Type == "enabled" && q.MaxTokens <= q.Thinking.BudgetTokens:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`")
	case len(q.Messages) == 0 || q.Messages[0].Role != "user":
		return invalid("messages: first message must use the \"user\" role")
	}
	for i, t := range q.Tools {
		if t.InputSchema.Type != "object" {
			return invalid("tools.%d.input_schema.type: Field required", i)
		}
	}
	if n := q.marks(); n > 4 {
		return invalid("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return q.checkMessages()
}

// marks returns the number of blocks and tools with cache_control.
func (q request) marks() int {
	n := 0
	for _, t := range q.Tools {
		if t.CacheControl != nil {
			n++
		}
	}
	all := append([]block{}, q.System...)
	for _, m := range q.Messages {
		all = append(all, m.Content...)
	}
	for _, b := range all {
		if b.CacheControl != nil {
			n++
		}
	}
	return n
}

func (q request) checkMessages() *modeltest.Reply {
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range q.Messages {
		if len(m.Content) == 0 {
			return invalid("messages.%d: all messages must have non-empty content", i)
		}
		if i > 0 && m.Role == q.Messages[i-1].Role {
			// The API merges consecutive messages with the same role, which would hide a mistake.
			return invalid("messages.%d: two messages of %s", i, m.Role)
		}
		text := false
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				text = true
				if strings.TrimSpace(b.Text) == "" {
					return invalid("messages.%d: text content blocks must contain non-whitespace text", i)
				}
			case "tool_use":
				if used[b.ID] || b.ID == "" {
					return invalid("messages.%d: `tool_use` ids must be unique", i)
				}
				if len(b.Input) == 0 || b.Input[0] != '{' {
					return invalid("messages.%d.tool_use.input: Input should be a valid dictionary", i)
				}
				open[b.ID], used[b.ID] = true, true
			case "tool_result":
				if !open[b.ToolUseID] || text {
					return invalid("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i,
						b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			case "thinking":
				if !strings.HasPrefix(b.Signature, "sig") || b.CacheControl != nil {
					return invalid("messages.%d: Invalid `signature` in `thinking` block", i)
				}
			case "redacted_thinking":
				if b.Data == "" {
					return invalid("messages.%d: Invalid `data`", i)
				}
			default:
				return invalid("messages.%d: Input tag %q found", i, b.Type)
			}
		}
		if m.Role == "user" && len(open) > 0 {
			return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", i)
		}
	}
	return nil
}
