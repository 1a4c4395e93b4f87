package anthropic

import (
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// params returns the body for the request r. It marks the last tool, the system prompt and the last message,
// because the provider caches everything up to a mark. It returns an error if the last message is not for the
// model.
func (m *Model) params(r agent.ModelRequest) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(m.name), MaxTokens: int64(m.o.MaxTokens)}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	switch {
	case m.o.Adaptive:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	case m.o.ThinkingTokens > 0:
		p.MaxTokens += int64(m.o.ThinkingTokens) // thinking tokens count, too
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(m.o.ThinkingTokens))
	}
	if !blank(r.System) {
		p.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range r.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	p.Messages = m.messageParams(r.Messages)
	if n := len(p.Messages); n == 0 || p.Messages[n-1].Role != sdk.MessageParamRoleUser {
		return p, errors.New("the conversation does not end with a message to the model")
	}
	last := p.Messages[len(p.Messages)-1].Content
	*last[len(last)-1].GetCacheControl() = sdk.NewCacheControlEphemeralParam()
	return p, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func toolParam(t agent.Tool) (*sdk.ToolParam, error) {
	p := &sdk.ToolParam{Name: t.Name}
	if t.Description != "" {
		p.Description = param.NewOpt(t.Description)
	}
	schema, err := t.InputSchema()
	p.InputSchema = param.Override[sdk.ToolInputSchemaParam](schema)
	return p, err
}

// messageParams returns messages in the form of the API. Consecutive messages of users and results of calls
// become one message, because the provider requires all results in one message, before any text. Empty
// messages and texts are left out, because the provider rejects them.
func (m *Model) messageParams(messages []conversation.Message) []sdk.MessageParam {
	ids := agent.CallIDs(messages)
	var all []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if n := len(all); len(blocks) == 0 {
			return
		} else if n > 0 && all[n-1].Role == role {
			all[n-1].Content = append(all[n-1].Content, blocks...)
			return
		}
		all = append(all, sdk.MessageParam{Role: role, Content: blocks})
	}
	for _, msg := range messages {
		switch {
		case msg.Result != nil:
			add(sdk.MessageParamRoleUser, resultBlock(ids[msg.Result.N], msg.Result))
		case msg.Role == conversation.RoleAssistant:
			add(sdk.MessageParamRoleAssistant, m.blocks(msg, ids)...)
		case !blank(msg.Text):
			add(sdk.MessageParamRoleUser, sdk.NewTextBlock(msg.Text))
		}
	}
	return all
}

func resultBlock(id string, r *conversation.ToolResult) sdk.ContentBlockParamUnion {
	text := r.Text
	if blank(text) {
		text = "The tool returned nothing."
	}
	b := sdk.NewToolResultBlock(id, text, r.IsError)
	if !r.IsError {
		b.OfToolResult.IsError = param.Opt[bool]{}
	}
	return b
}

// thoughts is the [conversation.Message.Provider] of a reply with thoughts. The provider requires the
// thoughts back unchanged and in their places.
type thoughts struct {
	Provider string            `json:"provider"` // "anthropic"
	Model    string            `json:"model"`    // the model that signed the thoughts
	Blocks   []json.RawMessage `json:"blocks"`   // the blocks of the reply; a call is a callBlock
}

// A callBlock is the place of a call among the blocks.
type callBlock struct {
	Type string `json:"type"` // "call"
	Call int    `json:"call"` // the index of the call in the reply
}

// A textBlock is a text among the blocks.
type textBlock struct {
	Type string `json:"type"` // "text"
	Text string `json:"text"`
}

const providerName = "anthropic"

// blocks returns the content blocks of msg, which is a reply. If this model sent the reply with thoughts, it
// returns the stored blocks. Otherwise it returns the text and the calls.
func (m *Model) blocks(msg conversation.Message, ids map[int]string) []sdk.ContentBlockParamUnion {
	var stored thoughts
	if json.Unmarshal(msg.Provider, &stored) == nil && stored.Provider == providerName && stored.Model == m.name {
		return stored.blocks(msg, ids)
	}
	var all []sdk.ContentBlockParamUnion
	if !blank(msg.Text) {
		all = append(all, sdk.NewTextBlock(msg.Text))
	}
	for _, c := range msg.Calls {
		all = append(all, sdk.NewToolUseBlock(ids[c.N], c.Input, c.Tool))
	}
	return all
}

func (t thoughts) blocks(msg conversation.Message, ids map[int]string) []sdk.ContentBlockParamUnion {
	var all []sdk.ContentBlockParamUnion
	for _, raw := range t.Blocks {
		var b struct {
			Type, Text string
			Call       int
		}
		if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch {
		case b.Type == "call" && b.Call < len(msg.Calls):
			c := msg.Calls[b.Call]
			all = append(all, sdk.NewToolUseBlock(ids[c.N], c.Input, c.Tool))
		case b.Type == "text" && !blank(b.Text):
			all = append(all, sdk.NewTextBlock(b.Text))
		case b.Type == "thinking":
			p := param.Override[sdk.ThinkingBlockParam](raw)
			all = append(all, sdk.ContentBlockParamUnion{OfThinking: &p})
		case b.Type == "redacted_thinking":
			p := param.Override[sdk.RedactedThinkingBlockParam](raw)
			all = append(all, sdk.ContentBlockParamUnion{OfRedactedThinking: &p})
		}
	}
	return all
}
