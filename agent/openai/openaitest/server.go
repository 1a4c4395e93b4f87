// Package openaitest has a fake of OpenAI's Chat Completions API. It streams replies as the API is documented
// to do, and rejects requests that the API or servers like it reject.
package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
)

// New starts a fake server for the test t. Its base URL ends in /v1.
func New(t testing.TB) *modeltest.Server {
	s := modeltest.New(t, check)
	s.URL += "/v1"
	return s
}

// Event returns an event of a stream with the given data.
func Event(data string) string { return "data: " + data + "\n\n" }

// Delta returns the event for delta, a piece of a reply.
func Delta(delta string) string { return choice(delta, "null") }

func choice(delta, finish string) string {
	return Event(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767614400,"model":"gpt-test","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}],"usage":null}`)
}

// Text returns the events of a text that arrives in pieces.
func Text(pieces ...string) string {
	var s strings.Builder
	for _, p := range pieces {
		s.WriteString(Delta(`{"content":` + quote(p) + `}`))
	}
	return s.String()
}

// Call returns the events of a call whose input arrives in pieces.
func Call(index int, id, name string, input ...string) string {
	s := Delta(fmt.Sprintf(
		`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, index,
		quote(id), quote(name),
	))
	for _, p := range input {
		s += Delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, index, quote(p)))
	}
	return s
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Stream returns all events of a reply: the given events, the finish reason, the usage and the end.
func Stream(finish string, events ...string) string {
	return Delta(`{"role":"assistant","content":""}`) + strings.Join(events, "") + choice("{}", quote(finish)) +
		Event(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767614400,"model":"gpt-test","choices":[],"usage":{"prompt_tokens":1112,"completion_tokens":120,"total_tokens":1232,"prompt_tokens_details":{"cached_tokens":1000}}}`) +
		Event("[DONE]")
}

func invalid(format string, args ...any) *modeltest.Reply {
	return &modeltest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":` +
		quote(fmt.Sprintf(format, args...)) + `,"type":"invalid_request_error","param":null,"code":null}}`}
}

// A request is the part of a request body that is checked.
type request struct {
	Model         string
	Stream        bool
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []message
	Tools    []struct {
		Type     string
		Function struct {
			Name       string
			Parameters struct{ Type string }
		}
	}
}

type message struct {
	Role       string
	Content    *string
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// check returns the reply to a request that the API rejects. It returns nil if the request is valid.
func check(r *http.Request, body []byte) *modeltest.Reply {
	var q request
	switch err := json.Unmarshal(body, &q); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions":
		return &modeltest.Reply{Status: http.StatusNotFound, Body: "404 page not found"}
	case r.Header.Get("Authorization") != "Bearer "+modeltest.Key:
		return &modeltest.Reply{
			Status: http.StatusUnauthorized,
			Body: `{"error":{"message":"Incorrect API key provided: ` + r.Header.Get(
				"Authorization",
			) + `.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
		}
	case err != nil:
		return invalid("We could not parse the JSON body of your request: %v", err)
	case q.Model == "" || len(q.Messages) == 0:
		return invalid("you must provide a model parameter, and messages")
	case !q.Stream || !q.StreamOptions.IncludeUsage:
		return invalid("the test needs a stream with usage")
	}
	for i, t := range q.Tools {
		if t.Type != "function" || t.Function.Parameters.Type != "object" {
			return invalid(
				"Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"' (tools.%d)",
				t.Function.Name, i,
			)
		}
	}
	return checkMessages(q.Messages)
}

func checkMessages(messages []message) *modeltest.Reply {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role != "tool" && len(open) > 0 {
			return invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to " +
				"each 'tool_call_id'.")
		}
		if len(m.ToolCalls) == 0 && (m.Content == nil || strings.TrimSpace(*m.Content) == "") {
			return invalid("Invalid value for 'content': expected a string, got null. (messages.%d)", i)
		}
		switch m.Role {
		case "system":
		case "user", "assistant":
			if i > 0 && messages[i-1].Role == m.Role {
				// The prompt templates of some models require this.
				return invalid("Conversation roles must alternate user/assistant/user/assistant/...")
			}
		case "tool":
			if !open[m.ToolCallID] {
				return invalid("messages with role 'tool' must be a response to a preceeding message with "+
					"'tool_calls'. (messages.%d)", i)
			}
			delete(open, m.ToolCallID)
		default:
			return invalid("Invalid value: '%s'. (messages.%d.role)", m.Role, i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || open[c.ID] || c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
				return invalid("Invalid value for 'tool_calls'. (messages.%d)", i)
			}
			open[c.ID] = true
		}
	}
	return nil
}
