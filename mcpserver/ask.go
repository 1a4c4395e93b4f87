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
	k := c.key(tool, c.input())
	if c.req.Params.RequestState != "" {
		return c.afterPage(ctx, k)
	}
	ask, err := c.attachFresh(ctx, k, r)
	switch {
	case err != nil:
		return nil, err
	case ask.Settled():
		return c.told(ctx, ask, k)
	case c.declaresTasks():
		return c.task(ctx, ask)
	case c.declaresPages() && ask.PageURL != "":
		return c.showPage(ask, k), nil
	}
	return c.bounded(ctx, ask, k, c.patience())
}

// bounded is what every client understands: a wait, and then what there is.
func (c *call) bounded(ctx context.Context, ask askback.Ask, k key, most time.Duration) (*mcp.CallToolResult, error) {
	now, err := c.wait(ctx, ask, most)
	if err != nil {
		return nil, err
	}
	return c.told(ctx, now, k)
}

// attachFresh attaches, but passes over approvals that were given before, by
// whatever process.
func (c *call) attachFresh(ctx context.Context, k key, r askback.Request) (askback.Ask, error) {
	for range maxRounds {
		ask, err := c.attach(ctx, k, r)
		if err != nil || k.own || !spendable(ask) {
			return ask, err
		}
		err = c.spend(ctx, c.who, ask)
		if !errors.Is(err, askback.ErrConsumed) {
			return ask, err
		}
		c.memory.tell(k.mark(ask.ID))
	}
	return askback.Ask{}, askback.ErrTooFast
}

// declaresPages says whether this request can show a person a page.
func (c *call) declaresPages() bool {
	elicitation, _ := declared(c.req.Params.Meta, mcp.MetaKeyClientCapabilities)["elicitation"].(map[string]any)
	return c.modern() && elicitation["url"] != nil
}

// page names the one thing a round asks the client for.
const page = "page"

// showPage asks the client to show the page of an ask. Its address logs nobody
// in: whoever opens it shows there who they are.
func (c *call) showPage(ask askback.Ask, k key) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{page: &mcp.ElicitParams{
			Mode: "url", URL: ask.PageURL, Message: "An agent asks you something. It is answered on this page.",
		}},
		RequestState: c.seal.state(c.who.name, k.base, ask.ID, time.Now()),
	}
}

// afterPage goes on after a round with the page. What the client says about it
// decides nothing: only an answer on a page, or elsewhere, is one.
func (c *call) afterPage(ctx context.Context, k key) (*mcp.CallToolResult, error) {
	id, err := c.seal.openState(c.req.Params.RequestState, c.who.name, k.base, time.Now())
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	ask, err := c.who.seat.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	ask = c.linked(ask)
	if said, ok := c.req.Params.InputResponses[page].(*mcp.ElicitResult); ok && said.Action != "accept" {
		return c.told(ctx, ask, k) // nobody looks now, so there is nothing to wait for here
	}
	return c.bounded(ctx, ask, k, c.patience())
}
