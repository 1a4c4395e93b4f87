package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/hosted/modelhttp"
)

// incoming is a partly received reply of the model.
type incoming struct {
	model    *Model
	text     func(string)
	content  strings.Builder
	thoughts strings.Builder
	refused  bool
	calls    []*call
	finish   sdk.FinishReason
	used     *sdk.Usage
}

// A call is a partly received tool call of the model.
type call struct {
	index    int
	id, name string
	input    strings.Builder
}

// chunk adds an event of the stream to the reply, and calls in.text with new text.
func (in *incoming) chunk(c sdk.ChatCompletionStreamResponse) {
	if c.Usage != nil {
		in.used = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			in.finish = choice.FinishReason
		}
		d := choice.Delta
		in.refused = in.refused || d.Refusal != ""
		in.thoughts.WriteString(d.ReasoningContent)
		if d.Content != "" {
			in.content.WriteString(d.Content)
			if in.text != nil {
				in.text(d.Content)
			}
		}
		for _, t := range d.ToolCalls {
			in.call(t)
		}
	}
}

// call adds t, a piece of a call. A piece belongs to the last call with the same index, unless it has another
// id. Some providers send each call as a whole with the index 0, and other providers send no index.
func (in *incoming) call(t sdk.ToolCall) {
	index := -1
	if t.Index != nil {
		index = *t.Index
	}
	var c *call
	for _, known := range in.calls {
		if known.index == index {
			c = known // the last call with this index
		}
	}
	switch {
	case c == nil, t.ID != "" && c.id != "" && t.ID != c.id, index < 0 && t.Function.Name != "":
		c = &call{index: index}
		in.calls = append(in.calls, c)
	}
	if c.id == "" {
		c.id = t.ID
	}
	if c.name == "" {
		c.name = t.Function.Name
	}
	c.input.WriteString(t.Function.Arguments)
}

// usage returns the tokens that the request has used. The result is zero until the provider has sent the
// numbers.
func (in *incoming) usage() conversation.Usage {
	if in.used == nil {
		return conversation.Usage{}
	}
	u := conversation.Usage{InputTokens: int64(in.used.PromptTokens), OutputTokens: int64(in.used.CompletionTokens)}
	if d := in.used.PromptTokensDetails; d != nil {
		u.CachedTokens = int64(d.CachedTokens)
	}
	u.CostUSD = in.model.o.Prices.Cost(u, 0)
	return u
}

// reply returns the complete reply, or the error for its finish reason.
func (in *incoming) reply() (agent.ModelReply, *agent.ModelError) {
	reply := agent.ModelReply{Text: in.content.String(), Usage: in.usage()}
	switch in.finish {
	case sdk.FinishReasonStop, sdk.FinishReasonToolCalls, sdk.FinishReasonFunctionCall:
	case sdk.FinishReasonLength:
		reply.Cut = true
	case sdk.FinishReasonContentFilter:
		return agent.ModelReply{}, modelhttp.Refusal()
	case "", sdk.FinishReasonNull, "error":
		return agent.ModelReply{}, &agent.ModelError{
			Err: errors.New("the model provider did not finish the reply"), Retry: true,
		}
	default:
		return agent.ModelReply{}, &agent.ModelError{
			Err: fmt.Errorf("the model stopped for a reason that is not supported: %q", in.finish),
		}
	}
	if in.refused {
		return agent.ModelReply{}, modelhttp.Refusal()
	}
	for i, c := range in.calls {
		cut := reply.Cut && i == len(in.calls)-1
		reply.Calls = append(reply.Calls, agent.NewCall(c.id, c.name, c.input.String(), cut))
	}
	if in.thoughts.Len() > 0 && len(in.calls) > 0 {
		reply.Provider,
			_ = json.Marshal(thoughts{providerName, in.model.o.BaseURL, in.model.name, in.thoughts.String()})
	}
	return reply, nil
}
