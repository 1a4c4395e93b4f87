package openai

import (
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// request returns the body for the request r. It returns an error if the last message is not for the model,
// or a schema is not valid.
func (m *Model) request(r agent.ModelRequest) (sdk.ChatCompletionRequest, error) {
	q := sdk.ChatCompletionRequest{
		Model:           m.name,
		ReasoningEffort: m.o.Effort,
		Stream:          true,
		StreamOptions:   &sdk.StreamOptions{IncludeUsage: true},
	}
	if !blank(r.System) {
		q.Messages = []sdk.ChatCompletionMessage{{Role: sdk.ChatMessageRoleSystem, Content: r.System}}
	}
	before := len(q.Messages)
	q.Messages = append(q.Messages, m.messages(r.Messages)...)
	if n := len(q.Messages); n == before || q.Messages[n-1].Role == sdk.ChatMessageRoleAssistant {
		return q, errors.New("the conversation does not end with a message to the model")
	}
	for _, t := range r.Tools {
		schema, err := t.InputSchema()
		if err != nil {
			return q, err
		}
		q.Tools = append(q.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	m.limit(&q, r.MaxTokens)
	return q, nil
}

// limit sets the maximum length of the reply to n or, if n is 0, to the default. OpenAI has renamed the field
// for its newer models. Other servers support only the old name.
func (m *Model) limit(q *sdk.ChatCompletionRequest, n int) {
	if n == 0 {
		n = m.o.MaxTokens
	}
	q.MaxTokens = n //lint:ignore SA1019 Ollama and llama.cpp know only this name
	if m.host == "api.openai.com" || strings.HasSuffix(m.host, ".openai.azure.com") ||
		sdk.NewReasoningValidator().Validate(*q) != nil {
		q.MaxTokens, q.MaxCompletionTokens = 0, n //lint:ignore SA1019 see above
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// messages returns messages in the form of the API. It joins consecutive messages of users, because the
// templates of some models require that users and models take turns. Empty messages are left out.
func (m *Model) messages(messages []conversation.Message) []sdk.ChatCompletionMessage {
	ids := agent.CallIDs(messages)
	var all []sdk.ChatCompletionMessage
	for _, msg := range messages {
		switch {
		case msg.Result != nil:
			all = append(all, sdk.ChatCompletionMessage{
				Role: sdk.ChatMessageRoleTool, ToolCallID: ids[msg.Result.N], Content: resultText(msg.Result),
			})
		case msg.Role == conversation.RoleAssistant:
			if a := m.assistant(msg, ids); a.Content != "" || len(a.ToolCalls) > 0 {
				all = append(all, a)
			}
		case blank(msg.Text):
		case len(all) > 0 && all[len(all)-1].Role == sdk.ChatMessageRoleUser:
			all[len(all)-1].Content += "\n\n" + msg.Text
		default:
			all = append(all, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: msg.Text})
		}
	}
	return all
}

// resultText returns the text of a result. The text of an error begins with "Error: ", because the API has no
// field for errors.
func resultText(r *conversation.ToolResult) string {
	switch {
	case r.IsError:
		return "Error: " + r.Text
	case blank(r.Text):
		return "The tool returned nothing."
	}
	return r.Text
}

// thoughts is the [conversation.Message.Provider] of a reply with calls and thoughts. Some providers require
// the thoughts in later requests.
type thoughts struct {
	Provider string `json:"provider"` // "openai"
	BaseURL  string `json:"base_url"`
	Model    string `json:"model"`
	Thoughts string `json:"thoughts"`
}

const providerName = "openai"

func (m *Model) assistant(msg conversation.Message, ids map[int]string) sdk.ChatCompletionMessage {
	a := sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: msg.Text}
	var stored thoughts
	if json.Unmarshal(msg.Provider, &stored) == nil &&
		stored == (thoughts{providerName, m.o.BaseURL, m.name, stored.Thoughts}) {
		a.ReasoningContent = stored.Thoughts
	}
	for _, c := range msg.Calls {
		a.ToolCalls = append(a.ToolCalls, sdk.ToolCall{
			ID: ids[c.N], Type: sdk.ToolTypeFunction,
			Function: sdk.FunctionCall{Name: c.Tool, Arguments: string(c.Input)},
		})
	}
	return a
}
