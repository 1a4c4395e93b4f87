package main

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/view"
)

type reassignCommand struct {
	ID       string   `arg:"" name:"ask" complete:"pending" help:"Id of the ask, the beginning or end of it, or latest for the newest open one."`
	To       []string `arg:"" name:"person" complete:"person" help:"Person who may answer it from now on, or a group after @."`
	Delegate bool     `help:"Replace only yourself; the other people may still answer."`
}

// Run gives an ask to other people and prints who may answer it.
func (c *reassignCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	find := lookup{client: conn.User, verb: "reassign"}
	id, err := find.find(ctx, c.ID)
	if err != nil {
		return err
	}
	ask, err := conn.User.Reassign(ctx, id, askback.Reassignment{To: c.To, Delegate: c.Delegate})
	if err == nil {
		note(io.err, "it is now for "+view.Of(ask).Recipients().String())
		return nil
	}
	return reportSettled(io, ask, find.explain(err, c.ID))
}
