package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

type webhookDeliveries struct {
	Status string `enum:"failed,queued,waiting,sent,skipped," default:"" placeholder:"STATUS" help:"List messages with this status: failed (no longer retried), queued, waiting (for an earlier message of its ask), sent or skipped (no longer needed)."`
	Ask    string `placeholder:"ID" complete:"ask" help:"List only messages about this ask, in every status."`
	Limit  int    `default:"50" help:"List at most this many messages, from 1 to 200."`
	Cursor string `help:"Continue the list after this cursor, which the previous page printed."`
	JSON   bool   `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints a page of deliveries, newest first.
func (c *webhookDeliveries) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	q := askback.DeliveryQuery{Status: askback.DeliveryStatus(c.Status), Cursor: c.Cursor, Limit: c.Limit}
	if c.Ask != "" {
		id, err := lookup{client: conn.User, verb: "see"}.find(ctx, c.Ask)
		if err != nil {
			return err
		}
		q.AskID = id
	}
	page, err := conn.User.Deliveries(ctx, q)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, page)
	}
	for _, d := range page.Items {
		printLine(io.out, deliveryLine(d, time.Now()))
	}
	switch {
	case page.NextCursor != "":
		note(io.err, "there may be more; continue with --cursor "+page.NextCursor)
	case len(page.Items) == 0 && q == (askback.DeliveryQuery{Limit: c.Limit}):
		note(io.err, "Everything has arrived. To list what was sent: askback webhook deliveries --status sent")
	case len(page.Items) == 0:
		note(io.err, "No such deliveries.")
	}
	return nil
}

// deliveryLine describes a delivery in one line.
func deliveryLine(d askback.Delivery, now time.Time) string {
	about := d.AskID
	if about == "" {
		about = d.SessionID
	}
	line := fmt.Sprintf("%s  %-7s  %4s  %s  %s, to %q", d.ID, d.Status, elapsed(now.Sub(d.At)), about,
		view.EventWords(d.Event), d.Target)
	if d.Attempts > 1 || d.Attempts == 1 && d.Status != askback.DeliverySent {
		line += "; " + view.Count(d.Attempts, "attempt")
	}
	if !d.SeenAt.IsZero() {
		line += "; seen " + d.SeenAt.Local().Format(time.DateTime)
	}
	if !d.RetryAt.IsZero() {
		line += "; next " + d.RetryAt.Local().Format(time.DateTime)
	}
	if d.EndpointID != "" {
		line += fmt.Sprintf("; its receiver %s is %s", d.EndpointID, d.EndpointStatus)
	}
	if d.Error != "" {
		line += fmt.Sprintf("; %q", d.Error)
	}
	return safetext.Line(line).String()
}

type webhookRetry struct {
	ID string `arg:"" complete:"delivery" help:"Name the message by its id, from askback webhook deliveries --status failed."`
}

// Run sends a delivery again that was given up.
func (c *webhookRetry) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	d, err := conn.User.RetryDelivery(ctx, strings.TrimSpace(c.ID))
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return exitError{exitRefused, "there is no failed message with the id " + safetext.Line(c.ID).String() +
			"; askback webhook deliveries --status failed shows the ids"}
	case err == nil:
		note(io.err, "sent again: "+deliveryLine(d, time.Now()))
	}
	return err
}

// withDeliveries returns the view of an ask with its deliveries, if the user may see them.
func withDeliveries(ctx context.Context, client askback.Deliveries, id string, v view.Ask) view.Ask {
	page, err := client.Deliveries(ctx, askback.DeliveryQuery{AskID: id, Limit: askback.MaxLimit})
	if err != nil {
		return v // the user may not see them, or the server is too old; the ask matters more
	}
	slices.Reverse(page.Items)
	v.Deliveries = view.DeliveriesOf(page.Items, kinds.Titles())
	return v
}
