package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// webhookCommand has the commands for the webhooks that the server sends.
type webhookCommand struct {
	List   webhookList   `cmd:"" help:"List the receivers: programs that get events by HTTP."`
	Add    webhookAdd    `cmd:"" help:"Add a receiver and print the secret of its signatures. It is shown only once."`
	Pause  webhookPause  `cmd:"" help:"Pause a receiver. The server keeps its messages."`
	Resume webhookResume `cmd:"" help:"Resume a paused or disabled receiver, and send it the kept messages."`
	Rotate webhookRotate `cmd:"" help:"Replace the secret of a receiver and print the new secret. It is shown only once."`
	Test   webhookTest   `cmd:"" help:"Send a test message to a receiver and print its reply."`
	Resend webhookResend `cmd:"" help:"Retry every message to a receiver that the server stopped retrying."`
	Remove webhookRemove `cmd:"" help:"Remove a receiver and its secret."`

	Secret webhookSecretCommand `cmd:"" help:"Print a new secret for channels.webhook.secret in the settings."`

	Deliveries webhookDeliveries `cmd:"" help:"List messages to programs, phones and chats, by default the messages that did not arrive."`
	Retry      webhookRetry      `cmd:"" help:"Retry one message that the server stopped retrying."`
}

type webhookList struct {
	Owner  string `complete:"agent" placeholder:"NAME" help:"List only receivers for asks of the agent with this token name."`
	Status string `values:"active,paused,disabled" placeholder:"STATUS" help:"List only receivers with this status: active, paused or disabled."`
	JSON   bool   `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the endpoints, one per line.
func (c *webhookList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	all, err := allEndpoints(ctx, conn.User,
		askback.EndpointQuery{Owner: c.Owner, Status: askback.EndpointStatus(c.Status)})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, askback.EndpointPage{Items: all})
	}
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	width := math.MaxInt
	if screen := terminal.StreamOptions(io.out); screen != nil {
		ids, width = shortIDs(ids), screen.Width()-1
	}
	for i, e := range all {
		printLine(io.out, safetext.Fit(safetext.Line(endpointLine(ids[i], e, time.Now())), width))
	}
	return nil
}

// allEndpoints returns the endpoints that a query selects.
func allEndpoints(
	ctx context.Context, client askback.Endpoints, q askback.EndpointQuery,
) (all []askback.Endpoint, err error) {
	q.Limit = askback.MaxLimit
	for more := true; more; more = q.Cursor != "" {
		page, err := client.Endpoints(ctx, q)
		if err != nil {
			return nil, err
		}
		all, q.Cursor = append(all, page.Items...), page.NextCursor
	}
	return all, nil
}

// endpointOwner returns the owner of an endpoint as text for people.
func endpointOwner(e askback.Endpoint) string {
	return cmp.Or(e.Owner, "(all others)") // the endpoint for asks that name no callback
}

// endpointLine describes an endpoint in one line. The most important facts come first, because the line may
// be cut at its end.
func endpointLine(id string, e askback.Endpoint, now time.Time) string {
	line := fmt.Sprintf("%s  %-8s  %s  %s", id, e.Status, e.Origin, endpointOwner(e))
	day := func(at time.Time) string { return listTime(at, now) }
	switch {
	case e.Reason != "":
		line += "; " + e.Reason
	case e.Status == askback.EndpointPaused:
		line += "; by " + e.By + ", " + day(e.ChangedAt)
	case !e.FailingSince.IsZero():
		line += "; failing since " + day(e.FailingSince)
	}
	if e.SecretAt.IsZero() {
		line += "; secret of the settings"
	} else {
		line += "; secret of " + day(e.SecretAt)
	}
	if now.Before(e.OldSecretUntil) {
		line += ", the old secret until " + day(e.OldSecretUntil)
	}
	return line
}

type webhookAdd struct {
	URL   string `arg:"" name:"url" help:"Add the receiver at this address. Test messages go there."`
	Owner string `complete:"agent" placeholder:"NAME" help:"Send only events of this agent's asks. By default: your own asks if you are an agent, else asks without a callback address."`
}

// Run creates an endpoint and prints its secret.
func (c *webhookAdd) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	e, secret, err := conn.User.CreateEndpoint(ctx, askback.EndpointRequest{URL: c.URL, Owner: c.Owner})
	if err != nil {
		return err
	}
	return printSecret(io, e, secret)
}

// printSecret prints a new secret, and a note about it.
func printSecret(io streams, e askback.Endpoint, secret string) error {
	note(io.err, fmt.Sprintf("%s for %s; this is the only time its secret is shown:", e.ID, e.Origin))
	if terminal.IsTerminal(io.out) {
		printLine(io.out, secret)
		return nil
	}
	_, err := fmt.Fprintln(io.out, secret)
	return err
}

// An endpointArg names an endpoint on the command line.
type endpointArg struct {
	ID string `arg:"" complete:"endpoint" help:"Name the receiver by its id, or the beginning or end of its id, from askback webhook list."`
}

// change calls do with the id of the endpoint, and prints the changed endpoint.
func (a endpointArg) change(
	ctx context.Context, io streams, conn *connection.Connector,
	do func(context.Context, string) (askback.Endpoint, error),
) error {
	id, err := a.find(ctx, conn)
	if err != nil {
		return err
	}
	e, err := do(ctx, id)
	if err != nil {
		return unknownEndpoint(id, err)
	}
	note(io.err, endpointLine(e.ID, e, time.Now()))
	return nil
}

// endpointID is the kind of id that the commands for webhook endpoints accept.
var endpointID = idKind{"whe_", "receiver", "change", "askback webhook list"}

// find returns the id of the endpoint, which the user may have shortened.
func (a endpointArg) find(ctx context.Context, conn *connection.Connector) (string, error) {
	return endpointID.find(a.ID, func() (ids []string, err error) {
		all, err := allEndpoints(ctx, conn.User, askback.EndpointQuery{})
		for _, e := range all {
			ids = append(ids, e.ID)
		}
		return ids, err
	})
}

// unknownEndpoint replaces the error for an endpoint that the user cannot see with an error that names the
// endpoint. It returns other errors unchanged.
func unknownEndpoint(id string, err error) error {
	if errors.Is(err, askback.ErrNotFound) {
		return endpointID.missing(id)
	}
	return err
}

type webhookPause struct{ endpointArg }

// Run pauses an endpoint.
func (c *webhookPause) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	return c.change(ctx, io, conn, conn.User.PauseEndpoint)
}

type webhookResume struct{ endpointArg }

// Run resumes an endpoint.
func (c *webhookResume) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	return c.change(ctx, io, conn, conn.User.ResumeEndpoint)
}

type webhookRemove struct{ endpointArg }

// Run deletes an endpoint.
func (c *webhookRemove) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := c.find(ctx, conn)
	if err != nil {
		return err
	}
	_, err = conn.User.DeleteEndpoint(ctx, id)
	return unknownEndpoint(id, err)
}

type webhookRotate struct{ endpointArg }

// Run replaces the secret of an endpoint and prints the new secret.
func (c *webhookRotate) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := c.find(ctx, conn)
	if err != nil {
		return err
	}
	e, secret, err := conn.User.RotateEndpoint(ctx, id)
	if err != nil {
		return unknownEndpoint(id, err)
	}
	if err := printSecret(io, e, secret); err != nil {
		return err
	}
	note(io.err, "the old secret also signs until "+e.OldSecretUntil.Local().Format(time.DateTime))
	return nil
}

type webhookTest struct{ endpointArg }

// Run sends a test message. It returns an error if the receiver does not accept the message.
func (c *webhookTest) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := c.find(ctx, conn)
	if err != nil {
		return err
	}
	t, err := conn.User.TestEndpoint(ctx, id)
	switch {
	case err != nil:
		return unknownEndpoint(id, err)
	case !t.Accepted:
		return exitError{exitRefused, "not accepted: " + t.Error}
	}
	printLine(io.out, strings.TrimSpace(fmt.Sprintf("accepted: %d %s", t.Code, http.StatusText(t.Code)))+
		fmt.Sprintf(", in %d ms", t.Duration.Milliseconds()))
	return nil
}

type webhookResend struct {
	endpointArg
	Since string `placeholder:"TIME" help:"Retry only messages that the server stopped retrying within this time, such as 2h. By default, retry all of them."`

	since time.Duration
}

// AfterApply parses --since. kong calls it before the command connects.
func (c *webhookResend) AfterApply() (err error) {
	c.since, err = duration("--since", c.Since, "2h or 3d")
	return err
}

// Run queues the deliveries that were given up.
func (c *webhookResend) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	id, err := c.find(ctx, conn)
	if err != nil {
		return err
	}
	var since time.Time
	if c.since != 0 {
		since = time.Now().Add(-c.since)
	}
	n, err := conn.User.ResendToEndpoint(ctx, id, since)
	if err != nil {
		return unknownEndpoint(id, err)
	}
	printLine(io.out, fmt.Sprintf("%d queued", n))
	return nil
}

type webhookSecretCommand struct{}

// Run prints a new secret. It stores nothing.
func (webhookSecretCommand) Run(io streams) error {
	secret, err := webhook.NewSecret(rand.Reader)
	if err != nil {
		return err
	}
	printLine(io.out, secret)
	return nil
}
