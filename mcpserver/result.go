package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/wire/decode"
)

// pendingAdvice is the advice to the model for a pending ask. It is in the text and in the structured
// content, because clients show a model only one of the two.
const pendingAdvice = "Do not ask this again: it is kept until a person answers. Call wait_for_answer with this " +
	"question_id, " +
	"or first do work that does not depend on it. wait_for_answer waits for you: never call get_answer in a loop."

// result returns the result for an ask. The outcome of a settled ask counts as delivered. If
// another call consumed the approval, the error is ErrConsumed, with two exceptions. For a
// call that only reads, the result states that the approval was used. With an idempotency
// key of the client, the approval is returned again. Any other error of Consume is returned.
func (c *call) result(ctx context.Context, ask askback.Ask, k key) (*mcp.CallToolResult, error) {
	if c.isGone(ctx) {
		c.caller.leave()
		return nil, context.Canceled // the client does not read the result
	}
	result := resultOf(ask)
	if isConsumable(ask) {
		err := c.consume(ctx, c.caller, ask)
		consumed := errors.Is(err, askback.ErrConsumed)
		switch {
		case consumed && k.readOnly():
			result = usedResult(ask)
		case err != nil && !(consumed && k.explicit):
			return nil, err
		}
	}
	if ask.Settled() {
		c.deliver(c.caller, ask, k.recentKey(ask.ID))
	}
	return result, nil
}

// isConsumable reports whether the outcome of an ask is an approval for confirm_action, which
// is consumed when it is delivered. The approval of a prompt is consumed before its tool runs.
func isConsumable(ask askback.Ask) bool {
	k := ask.Confirmation
	return ask.Outcome.Approved() && k != nil && k.ToolName == asktool.ConfirmAction && k.Server == ""
}

// consume consumes the approval of an ask, so that no other call can use it.
func (s *Server) consume(ctx context.Context, caller *caller, ask askback.Ask) error {
	_, err := caller.client.Consume(ctx, ask.ID, ask.Outcome.Digest)
	return err
}

// resultOf returns the result for an ask, and does not consume an approval.
func resultOf(ask askback.Ask) *mcp.CallToolResult {
	text, structured, isError := asktool.Result(ask)
	if !ask.Settled() {
		return pending(ask, text)
	}
	result := textResult(text, json.RawMessage(structured))
	result.IsError = isError
	return result
}

// usedAdvice is the text for an approval that was consumed before, by this or another call.
const usedAdvice = "This approval was used already: do not act on it again. To do the same once more, call " +
	"confirm_action again."

// usedResult returns the result for an approval that was consumed before: the decision, but
// not "confirmed", on which a program may act (F7).
func usedResult(ask askback.Ask) *mcp.CallToolResult {
	text, _, _ := asktool.Result(ask)
	return textResult(usedAdvice+" The decision was: "+text, struct {
		Confirmed bool             `json:"confirmed"`
		Used      bool             `json:"used"`
		Next      string           `json:"next"`
		Outcome   *askback.Outcome `json:"outcome"`
	}{false, true, usedAdvice, ask.Outcome})
}

// pending returns the result for a pending ask. It is not an error.
func pending(ask askback.Ask, text string) *mcp.CallToolResult {
	return textResult(text+" "+pendingAdvice, struct {
		Status  askback.Status `json:"status"`
		ID      string         `json:"question_id"`
		PageURL string         `json:"page_url,omitempty"`
		Next    string         `json:"next"`
	}{ask.Status, ask.ID, ask.PageURL, pendingAdvice})
}

// textResult returns a result with text and, unless it is nil, structured content.
func textResult(text string, structured any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: structured}
}

// errorResult returns the result of a call that failed. Models read it, so it contains the
// next step, in at most [decode.MaxCorrection] characters. It returns an error of the
// protocol, or of a cancelled call, unchanged.
func (c *call) errorResult(err error) (*mcp.CallToolResult, error) {
	if broken, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, broken
	}
	if errors.Is(err, context.Canceled) {
		return nil, err // the client does not read the result
	}
	result := textResult(truncate(c.explain(err)), nil)
	result.IsError = true
	return result, nil
}

func (c *call) explain(err error) string {
	if m, ok := errors.AsType[*asktool.Mistake](err); ok {
		return m.Error()
	}
	if m, ok := errors.AsType[inputError](err); ok {
		return string(m)
	}
	if bad, ok := errors.AsType[askback.Invalid](err); ok {
		return bad.Error()
	}
	for _, known := range advice {
		if errors.Is(err, known.err) {
			return "This was not possible: " + known.err.Error() + ". " + known.do
		}
	}
	c.log.Error("a call failed", "tool", c.req.Params.Name, "error", err)
	return "Something went wrong on the server, whose log has the reason. Nothing was approved. Call " +
		"list_open_questions before you try again."
}

// advice has the next step for each error of package askback that a call may return to a
// model.
var advice = []struct {
	err error
	do  string
}{
	{askback.ErrNotFound, "Call list_open_questions for the ids of open questions."},
	{
		askback.ErrTooMany,
		"Wait for the answers you need, or withdraw what you no longer need; list_open_questions shows it all.",
	},
	{askback.ErrTooFast, "Do other work first, and ask related questions in one call."},
	{askback.ErrKeyReused, "Use a new idempotency key for another question."},
	{askback.ErrBusy, "Try once more in a minute."},
	{askback.ErrFull, "Try once more in a minute."},
	{askback.ErrStopping, "Try once more in a minute."},
	{askback.ErrUnknown, "Call list_open_questions before you try again."},
	{askback.ErrDiskFull, "Tell the people you work for, and try again when there is room."},
	{askback.ErrDamaged, "Tell the people you work for: askback doctor names what is damaged."},
	{askback.ErrUnreachable, "Try once more in a minute, and tell the people you work for if this continues."},
	{askback.ErrUnauthorized, "Tell the people you work for: the token must be replaced."},
	{askback.ErrForbidden, "Tell the people you work for: this token is not an agent's."},
}

// truncate shortens text to the maximum length of a tool error.
func truncate(text string) string {
	if utf8.RuneCountInString(text) <= decode.MaxCorrection {
		return text
	}
	return string([]rune(text)[:decode.MaxCorrection-1]) + "…"
}
