package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
)

// askQuestions is ask_user_question (A1, C1).
func (c *call) askQuestions(ctx context.Context) (*mcp.CallToolResult, error) {
	return c.ask(ctx, asktool.AskUserQuestion, asktool.Questions)
}

// askConfirmation is confirm_action (C3).
func (c *call) askConfirmation(ctx context.Context) (*mcp.CallToolResult, error) {
	return c.ask(ctx, asktool.ConfirmAction, asktool.Confirmation)
}

// ask writes an ask, or finds it, and replies by what this request declares.
func (c *call) ask(ctx context.Context, tool string, read func([]byte) (askback.Request, error)) (*mcp.CallToolResult, error) {
	r, err := read(c.input())
	if err != nil {
		return nil, err
	}
	k, begun := c.key(tool, c.input()), time.Now()
	r.Agent = c.label(k)
	back := c.req.Params.RequestState != ""
	for range maxRounds {
		var ask askback.Ask
		if back {
			ask, err = c.shown(ctx, k)
			back = err != nil || !c.done(k, ask)
		}
		if !back {
			ask, err = c.attach(ctx, k, r)
		}
		if err != nil {
			return nil, err
		}
		result, err := c.reply(ctx, ask, k, begun, back)
		if !taken(err) {
			return result, err
		}
		// Another call was given this approval, or the grant that gave it ended:
		// this one asks for its own (F7).
		if err := c.passOver(ctx, k, ask); err != nil {
			return nil, err
		}
		back = false
	}
	return nil, askback.ErrTooFast
}

// done reports whether an ask is over for the calls of a key: its outcome was given.
func (c *call) done(k key, ask askback.Ask) bool { return ask.Settled() && !k.own && c.given(k, ask) }

// taken says that an approval can be given to nobody any more.
func taken(err error) bool {
	return errors.Is(err, askback.ErrConsumed) || errors.Is(err, askback.ErrNotApproved)
}

// reply is the richest reply that this request declares. A call that comes back from
// a round is not shown the page again. One that passed over an ask has waited already,
// and not longer than its client does.
func (c *call) reply(ctx context.Context, ask askback.Ask, k key, begun time.Time, back bool) (*mcp.CallToolResult, error) {
	switch {
	case ask.Settled():
		return c.told(ctx, ask, k)
	case c.declaresTasks():
		return c.task(ctx, ask)
	case c.declaresPages() && ask.PageURL != "" && !back:
		return c.showPage(ask, k), nil
	}
	return c.boundedBy(ctx, ask, k, begun, c.patience())
}

// bounded is what every client understands: a wait, and then what there is.
func (c *call) bounded(ctx context.Context, ask askback.Ask, k key, most time.Duration) (*mcp.CallToolResult, error) {
	return c.boundedBy(ctx, ask, k, time.Now(), most)
}

// boundedBy is the same for a call that began before.
func (c *call) boundedBy(ctx context.Context, ask askback.Ask, k key, begun time.Time, most time.Duration) (*mcp.CallToolResult, error) {
	now, err := c.wait(ctx, ask, begun, most)
	if err != nil {
		return nil, err
	}
	return c.told(ctx, now, k)
}

// declaresPages reports whether this request can show its user a page, and its client
// is known to do that well.
func (c *call) declaresPages() bool {
	elicitation, _ := declared(c.req.Params.Meta, mcp.MetaKeyClientCapabilities)["elicitation"].(map[string]any)
	return c.modern() && elicitation["url"] != nil && programOf(c.client()).pages
}

// page names the one thing a round asks the client for.
const page = "page"

// showPage asks the client to show the page of an ask. Its address logs
// no one in: the person who opens it logs in there. The id is required by the Rust SDK,
// which reads a page as revision 2025-11-25 has it.
func (c *call) showPage(ask askback.Ask, k key) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{page: &mcp.ElicitParams{
			Mode: "url", URL: ask.PageURL, ElicitationID: ask.ID, Message: "An agent asks you something. It is answered on this page.",
		}},
		RequestState: c.seal.state(c.who.name, k.base, ask.ID, time.Now()),
	}
}

// shown is the ask whose page a client was asked to show in the round before. What
// the client says about it decides nothing, and does not end the wait either: only an
// answer on a page, or elsewhere, is one.
func (c *call) shown(ctx context.Context, k key) (askback.Ask, error) {
	id, err := c.seal.openState(c.req.Params.RequestState, c.who.name, k.base, time.Now())
	if err != nil {
		return askback.Ask{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	ask, err := c.who.seat.Get(ctx, id)
	return c.linked(ask), err
}
