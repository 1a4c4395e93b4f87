package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

type grantCommand struct {
	List   grantList   `cmd:"" help:"List standing approvals, which approve calls without asking."`
	Remove grantRemove `cmd:"" help:"Remove a standing approval. The calls that it approved need a person again."`
}

type grantList struct {
	Ended bool `help:"List expired and removed standing approvals instead."`
	JSON  bool `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the active grants. With --ended it prints the ended grants instead.
func (c *grantList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	grants, err := allGrants(ctx, conn.User, c.Ended)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, askback.GrantPage{Items: grants})
	}
	for _, g := range grants {
		printLine(io.out, grantLine(g))
	}
	return nil
}

// allGrants returns all active grants or, if ended is true, all ended grants.
func allGrants(ctx context.Context, client askback.Grants, ended bool) (all []askback.Grant, err error) {
	q := askback.GrantQuery{Ended: ended, Limit: askback.MaxLimit}
	for more := true; more; more = q.Cursor != "" {
		page, err := client.Grants(ctx, q)
		if err != nil {
			return nil, err
		}
		all, q.Cursor = append(all, page.Items...), page.NextCursor
	}
	return all, nil
}

// grantLine describes a grant in one line.
func grantLine(g askback.Grant) string {
	agent, tool := fmt.Sprintf("%q", g.Agent), fmt.Sprintf("%q", g.ToolName)
	if g.Owner != g.Agent {
		agent += fmt.Sprintf(" (token %q)", g.Owner)
	}
	if g.Server != "" {
		tool += fmt.Sprintf(" of %q", g.Server)
	}
	if g.Dangerous {
		tool += ", dangerous calls too"
	}
	what := map[askback.Scope]string{
		askback.ScopeTool: "with any arguments", askback.ScopeSession: "in session " + g.SessionID,
		askback.ScopeInput: "with arguments " + cmp.Or(abridged(string(g.Input)), g.Digest),
	}[g.Scope]
	if view.FreeText(g.ToolName) && g.Scope != askback.ScopeInput {
		what += " (this tool runs whatever its arguments say)"
	}
	until := "until " + g.ExpiresAt.Local().Format(time.DateTime)
	if !g.RevokedAt.IsZero() {
		until = "revoked"
	}
	line := fmt.Sprintf("%s  %s may run %s, %s; by %s; %s; used %d×", g.ID, agent, tool, what, g.By, until, g.Uses)
	if !g.LastUsedAt.IsZero() {
		line += ", last " + g.LastUsedAt.Local().Format(time.DateTime)
	}
	if g.MakerEnded {
		line += "; no longer in effect: the token or log-in of " + g.By + " has ended"
	}
	return safetext.Line(line).String()
}

// maxArguments is how many characters of the arguments a line shows. --json shows all.
const maxArguments = 200

func abridged(s string) string {
	if r := []rune(s); len(r) > maxArguments {
		return string(r[:maxArguments]) + "… (see all: askback grant list --json)"
	}
	return s
}

// grantID is the kind of id that the commands for standing approvals accept.
var grantID = idKind{"grt_", "standing approval", "remove", "askback grant list"}

type grantRemove struct {
	ID string `arg:"" complete:"grant" help:"Name the standing approval by its id, or the beginning or end of its id, from askback grant list."`
}

// Run revokes the grant that c.ID identifies: by its id, or by the beginning or end of the id.
func (c *grantRemove) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := grantID.find(c.ID, func() (ids []string, err error) {
		grants, err := allGrants(ctx, conn.User, false)
		for _, g := range grants {
			ids = append(ids, g.ID)
		}
		return ids, err
	})
	if err != nil {
		return err
	}
	g, err := conn.User.Revoke(ctx, id)
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return grantID.missing(id)
	case err == nil:
		note(io.err, "revoked: "+grantLine(g))
	}
	return err
}
