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
	if terminal.StreamOptions(io.out) != nil {
		ids = shortIDs(ids)
	}
	rows := make([][]string, len(tokens))
	for i, t := range tokens {
		rows[i] = tokenRow(ids[i], t, time.Now())
	}
	printTable(io, tokenHeadings, rows)
	return nil
}

// tokenHeadings are the headings of the columns of tokenRow.
var tokenHeadings = []string{"ID", "KIND", "NAME", "VALID", "USED BY", "ADDED", "LAST USED"}

// tokenRow describes a token in one row.
func tokenRow(id string, t askback.Token, now time.Time) []string {
	used := "never"
	if !t.LastUsedAt.IsZero() {
		used = listTime(t.LastUsedAt, now)
	}
	return []string{
		id, string(t.Kind), safetext.Name(t.Name).String(), validity(t, now), usedBy(t),
		listTime(t.CreatedAt, now), used,
	}
}

// usedBy returns the client that uses a token, to distinguish the browsers of a person from each other and from
// their terminal.
func usedBy(t askback.Token) string {
	switch t.Channel {
	case askback.ChannelWeb:
		words := cmp.Or(t.Browser.Name, "unknown browser")
		if t.Browser.Address != "" {
			words += " from " + t.Browser.Address
		}
		return words
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
		return "until " + listTime(t.ExpiresAt, now)
	}
	return "expired"
}

// tokenID is the kind of id that the commands for tokens accept.
var tokenID = idKind{"tok_", "token", "remove", "askback token list"}

type tokenRemove struct {
	ID        string `arg:"" optional:"" complete:"token" help:"Name the token by its id, or the beginning or end of its id, from askback token list."`
	AllLogins string `placeholder:"PERSON" complete:"person" help:"End all log-ins of this person's browsers, such as after a laptop or phone was lost."`
}

// Run revokes the token that c.ID identifies by its id, or by the beginning or end of the id. With --all-logins,
// it revokes the log-ins of a person.
func (c *tokenRemove) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	switch {
	case c.AllLogins != "" && c.ID != "":
		return usage("name a token, or a person with --all-logins, not both")
	case c.AllLogins != "":
		return endLogins(ctx, io, conn, c.AllLogins)
	case c.ID == "":
		return usage("missing <id>; see askback token remove --help")
	}
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

// endLogins revokes the log-ins of a person's browsers, and prints which other tokens the person has.
func endLogins(ctx context.Context, io streams, conn *connection.Connector, person string) error {
	tokens, err := conn.User.Tokens(ctx)
	if err != nil {
		return err
	}
	ended, others, now := 0, 0, time.Now()
	for _, t := range tokens {
		valid := t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
		switch {
		case t.Name != person || !valid || t.Kind == askback.Agent:
		case t.Channel != askback.ChannelWeb:
			others++
		default:
			if _, err := conn.User.RevokeToken(ctx, t.ID); err != nil {
				return err
			}
			ended++
		}
	}
	name := safetext.Name(person).String()
	if ended == 0 && others == 0 {
		return exitError{exitRefused, "there is no log-in of " + name + "; askback token list lists them"}
	}
	note(io.err, fmt.Sprintf("ended %s of %s", view.Count(ended, "log-in"), name))
	if others > 0 {
		note(io.err, fmt.Sprintf("%s of %s can still be used, also to log in again: askback token list lists them",
			view.Count(others, "token"), name))
	}
	return nil
}
