package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/jcs"
)

// A prompt is the input of permission_prompt: a tool that Claude Code wants to
// use, and its arguments.
type prompt struct {
	tool  string
	input json.RawMessage
}

// readPrompt reads it. Fields it does not know belong to a newer Claude Code and
// say nothing about what is allowed, which is the tool and its arguments.
func readPrompt(raw []byte) (prompt, error) {
	const want = `The input is {"tool_name": "Bash", "input": {"command": "ls"}}: `
	v, err := jcs.Parse(raw)
	if err != nil {
		return prompt{}, mistake(short(want + err.Error()))
	}
	name, _ := v.Get("tool_name")
	input, _ := v.Get("input")
	if name.Kind != jcs.String || name.Text() == "" || input.Kind != jcs.Object {
		return prompt{}, mistake(want + "tool_name is a text and input an object.")
	}
	return prompt{name.Text(), input.Raw(raw)}, nil
}

// permission is permission_prompt (D1, F7). What it allows is what a person
// approved, with exactly these arguments, or those they changed them to, once:
// the approval is consumed before the reply.
func (c *call) permission(ctx context.Context) (*mcp.CallToolResult, error) {
	p, err := readPrompt(c.input())
	if err != nil {
		return nil, err
	}
	if p.tool == claudehook.QuestionTool {
		return c.permitQuestions(ctx, p)
	}
	return c.permitTool(ctx, p)
}

// permitTool asks whether a tool may run. An approval that another call used up
// before is passed over, and a person is asked again.
func (c *call) permitTool(ctx context.Context, p prompt) (*mcp.CallToolResult, error) {
	r := claudehook.Permission(p.tool, p.input)
	r.Context = c.prompted()
	k, begun := c.promptKey(p), time.Now()
	for range maxRounds {
		ask, err := c.decided(ctx, k, r, begun)
		switch {
		case err != nil:
			return nil, err
		case !ask.Outcome.Approved():
			return c.deny(ask, k), nil
		}
		err = c.spend(ctx, c.who, ask)
		switch {
		case err == nil:
			c.memory.tell(k.mark(ask.ID)) // it is spent, whether or not the reply arrives
			return allow(allowed(ask)), nil
		case !taken(err):
			return nil, err
		}
		if err := c.passOver(ctx, k, ask); err != nil {
			return nil, err
		}
	}
	return nil, askback.ErrTooFast
}

// prompted is the context of a prompt. Hooks that ask the same beside it know by it
// which card is left over once the tool ran, or the turn is over.
func (c *call) prompted() json.RawMessage {
	if !c.who.stdio || c.options.ClaudeSession == "" {
		return nil
	}
	return claudehook.PromptContext(c.options.ClaudeSession)
}

// promptKey finds the ask of a prompt again. The id of the tool use is left out:
// a model that was told to try again does so under a new one. What it was told
// meanwhile by other tools does not count either: only a reply to the prompt lets
// the tool run.
func (c *call) promptKey(p prompt) key {
	both, err := json.Marshal(map[string]any{"tool_name": p.tool, "input": p.input})
	if err != nil {
		both = c.input()
	}
	k := c.keyOf(permissionPrompt, both)
	k.marks = "permit:"
	return k
}

// decided asks and waits. A decision that nobody is there to use stays as it is.
func (c *call) decided(ctx context.Context, k key, r askback.Request, begun time.Time) (askback.Ask, error) {
	ask, err := c.attach(ctx, k, r)
	if err == nil {
		ask, err = c.wait(ctx, ask, begun, c.patience())
	}
	if err == nil && c.ended(ctx) {
		err = context.Canceled
	}
	return ask, err
}

// allowed are the arguments that may be used.
func allowed(ask askback.Ask) json.RawMessage {
	if len(ask.Outcome.Input) > 0 {
		return ask.Outcome.Input
	}
	return ask.Confirmation.Input
}

// permitQuestions puts the questions of Claude Code's own tool to people. Its
// result is the tool's input with the answers in it, the same as a hook's.
func (c *call) permitQuestions(ctx context.Context, p prompt) (*mcp.CallToolResult, error) {
	asks, err := claudehook.Questions(p.input)
	if err != nil {
		return denied(short(err.Error())), nil
	}
	k := c.promptKey(p)
	asks.Request.Context = c.prompted()
	ask, err := c.decided(ctx, k, asks.Request, time.Now())
	if err != nil {
		return nil, err
	}
	result, err := asks.Result(ask)
	if err != nil {
		return c.deny(ask, k), nil
	}
	input, ok := claudehook.MergeAnswers(p.input, result)
	if !ok { // without an answer the tool would take silence for one
		return c.deny(ask, k), nil
	}
	c.tell(c.who, ask, k.mark(ask.ID))
	return allow(input), nil
}

// allow is the reply that lets a tool run with these arguments.
func allow(input json.RawMessage) *mcp.CallToolResult {
	return decision(struct {
		Behavior string          `json:"behavior"`
		Input    json.RawMessage `json:"updatedInput"`
	}{"allow", input})
}

// deny is the reply for an ask that is not approved, or not yet.
func (c *call) deny(ask askback.Ask, k key) *mcp.CallToolResult {
	text, _, _ := asktool.Result(ask)
	if ask.Settled() {
		c.tell(c.who, ask, k.mark(ask.ID))
		return denied(text)
	}
	return denied(text + " Do not work around this. Call wait_for_answer with question_id " + ask.ID +
		", and after that try exactly the same again: what was decided meanwhile counts then.")
}

func denied(message string) *mcp.CallToolResult {
	return decision(struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message"`
	}{"deny", message})
}

// decision is a reply as Claude Code reads it: a text that is JSON.
func decision(v any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(written(v))}}}
}

// written is a value as JSON. What is written here came out of JSON or is text,
// so it always can be; a value that could not would let nothing run.
func written(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{"behavior":"deny","message":"the decision could not be written"}`)
	}
	return raw
}
