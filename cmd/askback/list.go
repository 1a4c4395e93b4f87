package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

type listCommand struct {
	Status string `default:"pending" enum:"pending,answered,declined,cancelled,expired,all" help:"Which ones: ${enum}."`
	Agent  string `placeholder:"NAME" help:"Only what this agent asks."`
	Limit  int    `default:"50" help:"At most so many."`
	Cursor string `help:"Go on after a list that was cut."`
	JSON   bool   `name:"json" help:"Print what the API gives."`
}

// Run lists asks.
func (c *listCommand) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, serving{}, func(d *desk) error {
		page, err := d.user.List(ctx, askback.Query{
			Status: askback.Status(c.Status), Agent: c.Agent, Limit: c.Limit, Cursor: c.Cursor,
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(io.out, page)
		}
		if len(page.Items) == 0 {
			say(io.err, "nothing here: "+d.where())
			return nil
		}
		for _, ask := range page.Items {
			v := view.Of(ask)
			fmt.Fprintf(io.out, "%s  %-9s  %4s  %s: %s\n", v.ID, ask.Status, elapsed(time.Since(ask.CreatedAt)), v.From(), v.Headline())
		}
		if page.NextCursor != "" {
			say(io.err, "there are more: --cursor "+page.NextCursor)
		}
		return nil
	})
}

type showCommand struct {
	ID   string `arg:"" name:"ask" help:"Its id."`
	JSON bool   `name:"json" help:"Print what the API gives."`
}

// Run shows an ask.
func (c *showCommand) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, serving{}, func(d *desk) error {
		ask, err := d.user.Get(ctx, strings.TrimSpace(c.ID))
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(io.out, ask)
		}
		return terminal.Show(io.out, view.Of(ask), terminal.Screen(io.out))
	})
}
