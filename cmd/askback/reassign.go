package main

import (
	"context"
	"errors"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/view"
)

type reassignCommand struct {
	ID       string   `arg:"" name:"ask" complete:"pending" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	To       []string `arg:"" name:"person" complete:"person" help:"Ask these people instead, or a group as @NAME."`
	Delegate bool     `help:"Replace only yourself. The other people may still answer."`
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
	var invalid askback.Invalid
	if errors.As(err, &invalid) {
		for i := range invalid { // the people are arguments here, not the flag --to
			invalid[i].Pointer = strings.Replace(invalid[i].Pointer, "/to", "/people", 1)
		}
		return invalid
	}
	return reportSettled(io, ask, find.explain(err, c.ID))
}
