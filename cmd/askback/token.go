package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

type tokenCommand struct {
	Add    tokenAdd    `cmd:"" help:"Add a token for an agent or a person, and print it. It is shown only once."`
	List   tokenList   `cmd:"" help:"List tokens, without their secrets."`
	Remove tokenRemove `cmd:"" help:"Remove a token. Programs and browsers that use it lose access immediately."`
}

type tokenAdd struct {
	Kind    string `required:"" enum:"agent,responder,operator,admin" help:"Choose the rights: agent (ask), responder (answer), operator (read counts and tokens, no questions) or admin (answer, operate, add tokens and people)."`
	Name    string `required:"" help:"Name the agent or person who uses the token."`
	Expires string `placeholder:"TIME" help:"Expire after this time, such as 30d. By default, never expire."`

	expires time.Duration
}

// AfterApply parses --expires. kong calls it before the command connects.
func (c *tokenAdd) AfterApply() (err error) {
	c.expires, err = duration("--expires", c.Expires, "12h or 30d")
	return err
}

// Run creates a token and prints it.
func (c *tokenAdd) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	r := askback.TokenRequest{Kind: askback.Kind(c.Kind), Name: c.Name, ExpiresIn: c.expires}
	t, secret, err := conn.User.CreateToken(ctx, r)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("%s for %s %s; this is the only time it is shown", t.ID, t.Kind, t.Name)
	if terminal.IsTerminal(io.out) {
		note(io.err, about+":")
		printLine(io.out, secret)
		return nil
	}
	note(io.err, about+": printed to standard output")
	_, err = fmt.Fprintln(io.out, secret)
	return err
}

type tokenList struct {
	JSON bool `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the tokens, one per line.
func (c *tokenList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	tokens, err := conn.User.Tokens(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, struct {
			Items []askback.Token `json:"items"`
		}{append([]askback.Token{}, tokens...)})
	}
	ids := make([]string, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	width := math.MaxInt
	if screen := terminal.StreamOptions(io.out); screen != nil {
		ids, width = shortIDs(ids), screen.Width()-1
	}
	for i, t := range tokens {
		printLine(io.out, safetext.Fit(safetext.Line(tokenLine(ids[i], t, time.Now())), width))
	}
	return nil
}

// tokenLine describes a token in one line.
func tokenLine(id string, t askback.Token, now time.Time) string {
	line := fmt.Sprintf("%s  %-9s  %s  %s  %s, %s", id, t.Kind, safetext.Name(t.Name), validity(t, now), usedBy(t),
		t.CreatedAt.Local().Format("2 Jan 15:04"))
	if !t.LastUsedAt.IsZero() {
		line += "; used " + t.LastUsedAt.Local().Format("2 Jan 15:04")
	}
	return line
}

// usedBy returns the kind of client that uses a token, to distinguish the browsers of a person from their
// terminal.
func usedBy(t askback.Token) string {
	switch t.Channel {
	case askback.ChannelWeb:
		return "browser"
	case askback.ChannelTerminal:
		return "terminal"
	}
	return "program"
}

// validity describes whether a token is revoked or expired, or how long it is valid.
func validity(t askback.Token, now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case t.ExpiresAt.IsZero():
		return "for good"
	case now.Before(t.ExpiresAt):
		return "until " + t.ExpiresAt.Local().Format(time.DateTime)
	}
	return "expired"
}

// tokenID is the kind of id that the commands for tokens accept.
var tokenID = idKind{"tok_", "token", "remove", "askback token list"}

type tokenRemove struct {
	ID string `arg:"" complete:"token" help:"Name the token by its id, or the beginning or end of its id, from askback token list."`
}

// Run revokes the token that c.ID identifies: by its id, or by the beginning or end of the id.
func (c *tokenRemove) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := tokenID.find(c.ID, func() (ids []string, err error) {
		tokens, err := conn.User.Tokens(ctx)
		for _, t := range tokens {
			ids = append(ids, t.ID)
		}
		return ids, err
	})
	if err != nil {
		return err
	}
	if _, err = conn.User.RevokeToken(ctx, id); errors.Is(err, askback.ErrNotFound) {
		return tokenID.missing(id)
	}
	return err
}
