package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/wire/jcs"
)

// A prompt is the input of permission_prompt: a tool that Claude Code is about to use, and its arguments.
type prompt struct {
	tool  string
	input json.RawMessage
}

// readPrompt parses a prompt. It ignores unknown fields, which a newer Claude Code may
// send: they do not change the tool or its arguments.
func readPrompt(raw []byte) (prompt, error) {
	const want = `The input is {"tool_name": "Bash", "input": {"command": "ls"}}: `
	v, err := jcs.Parse(raw)
	if err != nil {
		return prompt{}, inputError(truncate(want + err.Error()))
	}
	name, _ := v.Get("tool_name")
	input, _ := v.Get("input")
	if name.Kind != jcs.String || name.Text() == "" || input.Kind != jcs.Object {
		return prompt{}, inputError(want + "tool_name must be a string and input an object.")
	}
	return prompt{name.Text(), input.Raw(raw)}, nil
}

// permission implements permission_prompt (D1, F7). It allows one use of a tool, with the original arguments
// or with arguments that the approving person edited. The approval is consumed before the reply.
func (c *call) permission(ctx context.Context) (*mcp.CallToolResult, error) {
	p, err := readPrompt(c.input())
	if err != nil {
		return nil, err
	}
	if p.tool == claudecode.QuestionTool {
		return c.permitQuestions(ctx, p)
	}
	return c.permitTool(ctx, p)
}

// permitTool asks whether a tool may run. An approval that can no longer be consumed is
// skipped, and a person is asked again.
func (c *call) permitTool(ctx context.Context, p prompt) (*mcp.CallToolResult, error) {
	r := claudecode.Permission(p.tool, p.input)
	r.Context = c.promptContext()
	k, started := c.promptKey(p), time.Now()
	for range maxSkips {
		ask, err := c.askAndWait(ctx, k, r, started)
		switch {
		case err != nil:
			return nil, err
		case !ask.Outcome.Approved():
			return c.deny(ask, k), nil
		}
		err = c.consume(ctx, c.caller, ask)
		switch {
		case err == nil:
			c.recent.add(k.recentKey(ask.ID)) // consumed, whether or not the reply arrives
			return allow(approvedInput(ask)), nil
		case !approvalGone(err):
			return nil, err
		}
		if err := c.skip(ctx, k, ask); err != nil {
			return nil, err
		}
	}
	return nil, askback.ErrTooFast
}

// promptContext returns the context of a prompt, by which the hooks of the same Claude Code session find the
// ask. The hooks withdraw the ask once the tool has run or the turn is over. promptContext returns nil over
// HTTP, and if the session is unknown.
func (c *call) promptContext() json.RawMessage {
	if !c.caller.stdio || c.options.ClaudeSession == "" {
		return nil
	}
	return claudecode.PromptContext(c.options.ClaudeSession)
}

// promptKey returns the key of a prompt. It does not include the id of the tool use, which
// changes when the model tries again. An outcome that another tool returned does not count as
// delivered, because only the reply to the prompt lets the tool run.
func (c *call) promptKey(p prompt) key {
	both, err := json.Marshal(map[string]any{"tool_name": p.tool, "input": p.input})
	if err != nil {
		both = c.input()
	}
	k := c.keyOf(permissionPrompt, both)
	k.recentPrefix = "permit:"
	return k
}

// askAndWait asks and waits for the decision. The ask is pending if the wait ends first. If
// the client is gone, it returns an error and the decision stays unused.
func (c *call) askAndWait(ctx context.Context, k key, r askback.Request, started time.Time) (askback.Ask, error) {
	ask, err := c.attach(ctx, k, r)
	if err == nil {
		ask, err = c.wait(ctx, ask, started, c.maxWait())
	}
	if err == nil && c.isGone(ctx) {
		err = context.Canceled
	}
	return ask, err
}

// approvedInput returns the arguments that a person edited, or else the original arguments.
func approvedInput(ask askback.Ask) json.RawMessage {
	if len(ask.Outcome.Input) > 0 {
		return ask.Outcome.Input
	}
	return ask.Confirmation.Input
}

// permitQuestions asks people the questions of Claude Code's own ask tool. With answers, the
// reply allows the tool with the answers in its input. Otherwise it denies the tool.
func (c *call) permitQuestions(ctx context.Context, p prompt) (*mcp.CallToolResult, error) {
	asks, err := claudecode.Questions(p.input)
	if err != nil {
		return denied(truncate(err.Error())), nil
	}
	k := c.promptKey(p)
	asks.Request.Context = c.promptContext()
	ask, err := c.askAndWait(ctx, k, asks.Request, time.Now())
	if err != nil {
		return nil, err
	}
	result, err := asks.Result(ask)
	if err != nil {
		return c.deny(ask, k), nil
	}
	input, ok := claudecode.MergeAnswers(p.input, result)
	if !ok { // without answers, the tool would treat silence as an answer
		return c.deny(ask, k), nil
	}
	c.deliver(c.caller, ask, k.recentKey(ask.ID))
	return allow(input), nil
}

// allow returns the reply that lets a tool run with these arguments.
func allow(input json.RawMessage) *mcp.CallToolResult {
	return decision(map[string]any{"behavior": "allow", "updatedInput": input})
}

// deny returns the reply for an ask without an approval. If the ask is pending, the reply tells the model how
// to wait.
func (c *call) deny(ask askback.Ask, k key) *mcp.CallToolResult {
	text, _, _ := asktool.Result(ask)
	if ask.Settled() {
		c.deliver(c.caller, ask, k.recentKey(ask.ID))
		return denied(text)
	}
	return denied(text + " Do not work around this. Call wait_for_answer with question_id " + ask.ID +
		", and then repeat exactly the same call: a decision made in the meantime applies to it.")
}

func denied(message string) *mcp.CallToolResult {
	return decision(map[string]any{"behavior": "deny", "message": message})
}

// decision returns a reply in the form that Claude Code reads: JSON as text. A value that cannot be encoded
// would become a denial, but every value is a string or JSON.
func decision(fields map[string]any) *mcp.CallToolResult {
	raw, err := json.Marshal(fields)
	if err != nil {
		raw = []byte(`{"behavior":"deny","message":"the decision could not be written"}`)
	}
	return textResult(string(raw), nil)
}
