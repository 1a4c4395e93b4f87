package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

type grantCommand struct {
	List   grantList   `cmd:"" help:"List the standing approvals that hold."`
	Revoke grantRevoke `cmd:"" help:"End one at once."`
}

type grantList struct {
	Ended bool `help:"Those that are over, or revoked, instead."`
	JSON  bool `name:"json" help:"Print what the API gives."`
}

// Run lists grants.
func (c *grantList) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, serving{}, func(d *desk) error {
		var all askback.GrantPage
		q := askback.GrantQuery{Ended: c.Ended, Limit: askback.MaxLimit}
		for more := true; more; more = q.Cursor != "" {
			page, err := d.user.Grants(ctx, q)
			if err != nil {
				return err
			}
			all.Items, q.Cursor = append(all.Items, page.Items...), page.NextCursor
		}
		if c.JSON {
			return printJSON(io.out, all)
		}
		for _, g := range all.Items {
			fmt.Fprintln(io.out, standingApproval(g))
		}
		return nil
	})
}

// standingApproval is a grant in one line.
func standingApproval(g askback.Grant) string {
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
		askback.ScopeTool: "whatever its arguments", askback.ScopeSession: "in session " + g.SessionID,
		askback.ScopeInput: "with arguments " + cmp.Or(abridged(string(g.Input)), g.Digest),
	}[g.Scope]
	if view.FreeText(g.ToolName) && g.Scope != askback.ScopeInput {
		what += " (this tool does whatever its text says)"
	}
	until := "until " + g.ExpiresAt.Local().Format(time.DateTime)
	if !g.RevokedAt.IsZero() {
		until = "revoked"
	}
	line := fmt.Sprintf("%s  %s may run %s, %s; by %s; %s; used %d×", g.ID, agent, tool, what, g.By, until, g.Uses)
	return safetext.Line(line).String()
}

// maxArguments is how many characters of the arguments a line shows; --json has them all.
const maxArguments = 200

func abridged(s string) string {
	if r := []rune(s); len(r) > maxArguments {
		return string(r[:maxArguments]) + "… (the rest: askback grant list --json)"
	}
	return s
}

type grantRevoke struct {
	ID string `arg:"" help:"Its id, as grant list shows it."`
}

// Run revokes a grant.
func (c *grantRevoke) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, serving{}, func(d *desk) error {
		g, err := d.user.Revoke(ctx, c.ID)
		if err == nil {
			say(io.err, "ended: "+standingApproval(g))
		}
		return err
	})
}
