package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/view"
)

type snoozeCommand struct {
	ID   string `arg:"" name:"ask" complete:"pending" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	When string `arg:"" optional:"" name:"time" values:"1h,evening,tomorrow,monday" help:"Show the ask again at this time: 1h, 18:00, evening, tomorrow, monday or 2026-11-24T09:00, in this computer's time zone."`
	Off  bool   `help:"End the snooze and show the ask again now."`
}

// Run snoozes an ask or ends its snooze, and prints until when.
func (c *snoozeCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if (c.When == "") != c.Off {
		return usage("give the time when the ask comes back, such as 1h, 18:00 or tomorrow, or --off")
	}
	now := time.Now()
	until, err := now, error(nil)
	if !c.Off {
		if until, err = view.ParseSnooze(c.When, now, time.Local); err != nil {
			return usage(err.Error())
		}
	}
	find := lookup{client: conn.User, verb: "snooze"}
	ask, err := find.get(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Off {
		if err := conn.User.Unsnooze(ctx, ask.ID); err != nil {
			return err
		}
		note(io.err, ask.ID+" is in your list")
		return nil
	}
	s, err := conn.User.Snooze(ctx, ask.ID, until)
	if errors.Is(err, askback.ErrSettled) {
		if now, err := conn.User.Get(ctx, ask.ID); err == nil {
			ask = now
		}
		return exitError{exitRefused, "too late: " + ending(ask)}
	}
	if err != nil {
		return err
	}
	text := ask.ID + " is snoozed until " + view.FormatSnooze(s.Until, now, time.Local)
	if !ask.Deadline.IsZero() && ask.Deadline.Before(s.Until) {
		text += "; its deadline is earlier: " + view.FormatTime(ask.Deadline, time.Local)
	}
	note(io.err, text)
	return nil
}

// noteSnoozed prints how many asks the list of open asks has omitted. An error is ignored,
// because the list was printed.
func noteSnoozed(ctx context.Context, io streams, client askback.Inbox, agent string) {
	page, err := client.List(ctx, askback.Query{Snoozed: new(true), Agent: agent, Limit: askback.MaxLimit})
	if n := len(page.Items); err == nil && n > 0 {
		more := ""
		if page.NextCursor != "" {
			more = "more than "
		}
		note(io.err, fmt.Sprintf("%s%d snoozed: --snoozed shows them", more, n))
	}
}

// snoozeMark returns two spaces and the time until which an ask is or was snoozed. It returns "" if the ask
// has no snooze.
func snoozeMark(page askback.Page, id string, now time.Time) string {
	for _, s := range page.Snoozes {
		if s.AskID == id {
			return "  (snoozed until " + view.FormatSnooze(s.Until, now, time.Local) + ")"
		}
	}
	return ""
}
