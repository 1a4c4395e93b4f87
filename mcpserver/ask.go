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

// askQuestions implements ask_user_question (A1, C1).
func (c *call) askQuestions(ctx context.Context) (*mcp.CallToolResult, error) {
	return c.ask(ctx, asktool.AskUserQuestion, asktool.Questions)
}

// askConfirmation implements confirm_action (C3).
func (c *call) askConfirmation(ctx context.Context) (*mcp.CallToolResult, error) {
	return c.ask(ctx, asktool.ConfirmAction, asktool.Confirmation)
}

// ask records the ask of a call, or finds it if it exists, and replies in the best form
// that this request supports.
func (c *call) ask(
	ctx context.Context, tool string, read func([]byte) (askback.Request, error),
) (*mcp.CallToolResult, error) {
	r, err := read(c.input())
	if err != nil {
		return nil, err
	}
	k, started := c.key(tool, c.input()), time.Now()
	r.Agent = c.label(k)
	resumed := c.req.Params.RequestState != ""
	for range maxSkips {
		var ask askback.Ask
		if resumed {
			ask, err = c.askOfPage(ctx, k)
			resumed = err != nil || !c.isDone(k, ask)
		}
		if !resumed {
			ask, err = c.attach(ctx, k, r)
		}
		if err != nil {
			return nil, err
		}
		result, err := c.reply(ctx, ask, k, started, resumed)
		if !approvalGone(err) {
			return result, err
		}
		// Another call consumed this approval, or its grant has ended: ask again (F7).
		if err := c.skip(ctx, k, ask); err != nil {
			return nil, err
		}
		resumed = false
	}
	return nil, askback.ErrTooFast
}

// isDone reports whether the outcome of an ask was delivered. The same call then makes a new ask. With an
// idempotency key of the client, isDone always returns false.
func (c *call) isDone(k key, ask askback.Ask) bool {
	return ask.Settled() && !k.explicit && c.delivered(k, ask)
}

// approvalGone reports whether err means that an approval can no longer be consumed.
func approvalGone(err error) bool {
	return errors.Is(err, askback.ErrConsumed) || errors.Is(err, askback.ErrNotApproved)
}

// reply returns the best form of reply that this request supports. A call that is resumed
// after a page is not shown the page again.
func (c *call) reply(
	ctx context.Context, ask askback.Ask, k key, started time.Time, resumed bool,
) (*mcp.CallToolResult, error) {
	switch {
	case ask.Settled():
		return c.result(ctx, ask, k)
	case c.acceptsTask():
		return c.task(ctx, ask)
	case c.canShowPage() && ask.PageURL != "" && !resumed:
		return c.showPage(ask, k), nil
	}
	return c.waitReply(ctx, ask, k, started, c.maxWait())
}

// waitReply waits for an outcome and returns it, or a pending result if the wait ends first.
// Every client supports this form of reply. The limit counts from the start of the call.
func (c *call) waitReply(
	ctx context.Context, ask askback.Ask, k key, started time.Time, limit time.Duration,
) (*mcp.CallToolResult, error) {
	now, err := c.wait(ctx, ask, started, limit)
	if err != nil {
		return nil, err
	}
	return c.result(ctx, now, k)
}

// canShowPage reports whether this request declares elicitation by URL, in a revision without
// sessions, and its client is known to show pages well.
func (c *call) canShowPage() bool {
	elicitation, _ := declared(c.req.Params.Meta, mcp.MetaKeyClientCapabilities)["elicitation"].(map[string]any)
	return c.isStateless() && elicitation["url"] != nil && programOf(c.clientName()).pages
}

// pageInput is the name of the only input request in a reply.
const pageInput = "page"

// showPage asks the client to show the page of an ask. The URL grants no access: the person
// who opens it must log in. The Rust SDK requires the ElicitationID of revision 2025-11-25.
func (c *call) showPage(ask askback.Ask, k key) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{pageInput: &mcp.ElicitParams{
			Mode: "url", URL: ask.PageURL, ElicitationID: ask.ID,
			Message: "An agent asks you something. Answer it on this page.",
		}},
		RequestState: c.signer.newState(c.caller.name, k.base, ask.ID, time.Now()),
	}
}

// askOfPage returns the ask whose page the client was asked to show. The client's report about the page is
// not an answer and does not end the wait. If the requestState is not valid, the error is a protocol error.
func (c *call) askOfPage(ctx context.Context, k key) (askback.Ask, error) {
	id, err := c.signer.parseState(c.req.Params.RequestState, c.caller.name, k.base, time.Now())
	if err != nil {
		return askback.Ask{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	ask, err := c.caller.client.Get(ctx, id)
	return c.withPageURL(ask), err
}
