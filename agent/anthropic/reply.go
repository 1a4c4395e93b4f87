package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/hosted/modelhttp"
)

// incoming is a partly received reply of the model.
type incoming struct {
	model   *Model
	text    func(string)
	message sdk.Message
	inputs  []strings.Builder // the inputs of the calls, by the index of the block
	started bool
	done    bool // the provider has ended the reply
}

// event adds an event of the stream to the reply, and calls in.text with new text. It returns an error if the
// event is not valid at this place.
func (in *incoming) event(e sdk.MessageStreamEventUnion) *agent.ModelError {
	if (e.Type == "message_start") == in.started {
		return brokenStream()
	}
	in.started = true
	if err := in.message.Accumulate(e); err != nil {
		return brokenStream()
	}
	switch e.Type {
	case "content_block_start":
		in.inputs = append(in.inputs, strings.Builder{})
	case "content_block_delta":
		switch e.Delta.Type {
		case "input_json_delta":
			in.inputs[e.Index].WriteString(e.Delta.PartialJSON)
		case "text_delta":
			if in.text != nil && e.Delta.Text != "" {
				in.text(e.Delta.Text)
			}
		}
	case "message_stop":
		in.done = true
	}
	return nil
}

func brokenStream() *agent.ModelError {
	return &agent.ModelError{Err: errors.New("the model provider sent events that are not valid"), Retry: true}
}

// usage returns the tokens that the request has used so far.
func (in *incoming) usage() conversation.Usage {
	u := in.message.Usage
	all := conversation.Usage{
		InputTokens:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		CachedTokens: u.CacheReadInputTokens,
		OutputTokens: u.OutputTokens,
	}
	all.CostUSD = in.model.o.Prices.Cost(all, u.CacheCreationInputTokens)
	return all
}

// reply returns the complete reply, or the error for its stop reason.
func (in *incoming) reply() (agent.ModelReply, *agent.ModelError) {
	reply := agent.ModelReply{Usage: in.usage()}
	switch in.message.StopReason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, sdk.StopReasonToolUse:
	case sdk.StopReasonMaxTokens:
		reply.Cut = true
	case sdk.StopReasonRefusal:
		return agent.ModelReply{}, modelhttp.Refusal()
	case sdk.StopReasonModelContextWindowExceeded:
		return agent.ModelReply{}, modelhttp.ContextLength()
	case "":
		return agent.ModelReply{}, brokenStream()
	default:
		return agent.ModelReply{}, &agent.ModelError{
			Err: fmt.Errorf("the model stopped for a reason that is not supported: %q", in.message.StopReason),
		}
	}
	in.content(&reply)
	return reply, nil
}

// content sets the text, the calls and, if the model sent thoughts, the provider data of reply.
func (in *incoming) content(reply *agent.ModelReply) {
	var text strings.Builder
	stored, thinks := thoughts{Provider: providerName, Model: in.model.name}, false
	keep := func(v any) {
		b, err := json.Marshal(v)
		if err == nil {
			stored.Blocks = append(stored.Blocks, b)
		}
	}
	for i, b := range in.message.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
			keep(textBlock{"text", b.Text})
		case "tool_use":
			cut := reply.Cut && i == len(in.message.Content)-1
			keep(callBlock{"call", len(reply.Calls)})
			input := in.inputs[i].String()
			// some compatible providers send the whole block in its first event
			if input == "" && string(b.Input) != "{}" {
				input = string(b.Input)
			}
			reply.Calls = append(reply.Calls, agent.NewCall(b.ID, b.Name, input, cut))
		case "thinking":
			// without a signature, the reply ended in this thought, and the provider does not accept the
			// thought
			if b.Signature != "" {
				keep(json.RawMessage(b.RawJSON()))
				thinks = true
			}
		case "redacted_thinking":
			keep(json.RawMessage(b.RawJSON()))
			thinks = true
		}
	}
	reply.Text = text.String()
	if thinks {
		reply.Provider, _ = json.Marshal(stored)
	}
}
