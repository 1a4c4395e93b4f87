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
	"github.com/askback/askback/internal/decode"
)

// next is what to do about a question that nobody has answered yet. It stands in
// the text and beside it: clients show a model one of the two.
const next = "Do not ask this again: it is kept until somebody answers. Call wait_for_answer with this question_id, " +
	"or first do work that does not depend on it. wait_for_answer waits for you: never look again and again in a loop."

// told is the result for an ask as it stands. A settled one counts as given. The
// error is ErrConsumed when the approval that a call asked for was given to another
// call; whoever only looks is told that, and a key of its own is the one ask.
func (c *call) told(ctx context.Context, ask askback.Ask, k key) (*mcp.CallToolResult, error) {
	if c.ended(ctx) {
		return nil, context.Canceled // what nobody reads is not given
	}
	result := toldOf(ask)
	if spendable(ask) {
		err := c.spend(ctx, c.who, ask)
		spent := errors.Is(err, askback.ErrConsumed)
		switch {
		case spent && k.looks():
			result = usedOf(ask)
		case err != nil && !(spent && k.own):
			return nil, err
		}
	}
	if ask.Settled() {
		c.tell(c.who, ask, k.mark(ask.ID))
	}
	return result, nil
}

// spendable says whether an ask is an approval that is used up by being told: one
// that the model itself asked for. A prompt's is used up when its tool runs.
func spendable(ask askback.Ask) bool {
	k := ask.Confirmation
	return ask.Outcome.Approved() && k != nil && k.ToolName == asktool.ConfirmAction && k.Server == ""
}

// spend consumes an approval.
func (s *Server) spend(ctx context.Context, who *caller, ask askback.Ask) error {
	_, err := who.seat.Consume(ctx, ask.ID, ask.Outcome.Digest)
	return err
}

// toldOf is what a model is told about an ask.
func toldOf(ask askback.Ask) *mcp.CallToolResult {
	text, structured, isError := asktool.Result(ask)
	if !ask.Settled() {
		return pending(ask, text)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(structured), IsError: isError,
	}
}

// used is what a model is told about an approval that it, or another, was given
// before. Whoever reads it may be anybody, and an approval is for one.
const used = "This approval was used already: do not act on it again. To do the same once more, call confirm_action again."

// usedOf is what a model is told about an approval that was given before: what was
// decided, but not "confirmed", which a program may act on without reading on (F7).
func usedOf(ask askback.Ask) *mcp.CallToolResult {
	text, _, _ := asktool.Result(ask)
	return said(used+" What was said when it was given: "+text, struct {
		Confirmed bool             `json:"confirmed"`
		Used      bool             `json:"used"`
		Next      string           `json:"next"`
		Outcome   *askback.Outcome `json:"outcome"`
	}{false, true, used, ask.Outcome})
}

// pending is a normal result: nothing went wrong, it only takes longer.
func pending(ask askback.Ask, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text + " " + next}},
		StructuredContent: struct {
			Status  askback.Status `json:"status"`
			ID      string         `json:"question_id"`
			PageURL string         `json:"page_url,omitempty"`
			Next    string         `json:"next"`
		}{ask.Status, ask.ID, ask.PageURL, next},
	}
}

// said is a result of a text and the same as JSON.
func said(text string, structured any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: structured}
}

// failed is the result of a call that could not be done. Models read it, so it
// says what to do, in at most 400 characters (wire.md §5).
func (c *call) failed(err error) (*mcp.CallToolResult, error) {
	if broken, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, broken
	}
	if errors.Is(err, context.Canceled) {
		return nil, err // nobody reads it
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: short(c.explain(err))}}}, nil
}

func (c *call) explain(err error) string {
	if m, ok := errors.AsType[*asktool.Mistake](err); ok {
		return m.Error()
	}
	if m, ok := errors.AsType[mistake](err); ok {
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
	return "Something went wrong on the server, and it is logged there. Nothing was approved. Call list_open_questions before you try again."
}

// advice is what a model can do about errors that it did not make.
var advice = []struct {
	err error
	do  string
}{
	{askback.ErrNotFound, "Call list_open_questions for the ids of what is open."},
	{askback.ErrTooMany, "Wait for the answers you need, or withdraw what you no longer need; list_open_questions shows it all."},
	{askback.ErrTooFast, "Do other work first, and ask related questions in one call."},
	{askback.ErrKeyReused, "Use a new idempotency key for another question."},
	{askback.ErrBusy, "Try once more in a minute."},
	{askback.ErrFull, "Try once more in a minute."},
	{askback.ErrStopping, "Try once more in a minute."},
	{askback.ErrUnknown, "Call list_open_questions before you try again."},
	{askback.ErrDiskFull, "Tell the people you work for, and try again when there is room."},
	{askback.ErrDamaged, "Tell the people you work for: askback doctor names what is damaged."},
	{askback.ErrUnreachable, "Try once more in a minute, and tell the people you work for if it stays so."},
	{askback.ErrUnauthorized, "Tell the people you work for: the token must be replaced."},
	{askback.ErrForbidden, "Tell the people you work for: this token is not an agent's."},
}

// short cuts a text to what a tool's error may have.
func short(text string) string {
	if utf8.RuneCountInString(text) <= decode.MaxCorrection {
		return text
	}
	return string([]rune(text)[:decode.MaxCorrection-1]) + "…"
}
