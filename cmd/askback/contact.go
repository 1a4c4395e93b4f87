package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// contactCommand has the commands for the chats and browsers where people get asks.
type contactCommand struct {
	List   contactList   `cmd:"" help:"List the chats and browsers that get your asks; an admin lists those of all people."`
	Remove contactRemove `cmd:"" help:"Remove a chat or a browser: it gets no further ask, and answers none."`
}

type contactList struct {
	JSON bool `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the contacts, one per line.
func (c *contactList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	all, err := conn.User.Contacts(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, struct {
			Items []askback.Contact `json:"items"`
		}{append([]askback.Contact{}, all...)})
	}
	ids := make([]string, len(all))
	for i, one := range all {
		ids[i] = one.ID
	}
	width := math.MaxInt
	if screen := terminal.StreamOptions(io.out); screen != nil {
		ids, width = shortIDs(ids), screen.Width()-1
	}
	for i, one := range all {
		printLine(io.out, safetext.Fit(safetext.Line(contactLine(ids[i], one)), width))
	}
	return nil
}

// contactLine describes a contact in one line.
func contactLine(id string, c askback.Contact) string {
	line := fmt.Sprintf("%s  %-8s  %s  %s", id, c.Channel, c.Person, cmp.Or(c.Label, "(no label)"))
	switch {
	case c.Ended:
		return line + "; ended: its token or its sign-in is no longer valid"
	case c.UsedAt.IsZero():
		return line + "; not used yet"
	}
	return line + "; used " + c.UsedAt.Local().Format("2 Jan 15:04")
}

type contactRemove struct {
	ID string `arg:"" complete:"contact" help:"Id of the contact, or the beginning or end of it, from askback contact list."`
}

// Run removes a contact.
func (c *contactRemove) Run(ctx context.Context, conn *connection.Connector) error {
	id, err := findID(c.ID, "ctc_", "contact", "remove", func() (ids []string, err error) {
		all, err := conn.User.Contacts(ctx)
		for _, one := range all {
			ids = append(ids, one.ID)
		}
		return ids, err
	})
	if err != nil {
		return err
	}
	if _, err = conn.User.DeleteContact(ctx, id); errors.Is(err, askback.ErrNotFound) {
		return exitError{exitRefused, "there is no contact " + id + " that you may remove"}
	}
	return err
}

// linkCommand has the commands that link a chat.
type linkCommand struct {
	Telegram linkTelegram `cmd:"" help:"Print a code that links a chat of Telegram to you: it then gets your asks, and answers them."`
}

type linkTelegram struct {
	QR bool `name:"qr" help:"Draw the link as a QR code, for a phone."`
}

// Run prints what to open or to send, or draws it.
func (c *linkTelegram) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if c.QR && !terminal.IsTerminal(io.out) {
		return usage("--qr draws on a terminal, and standard output is not one; askback link telegram prints the link")
	}
	code, err := conn.User.ContactCode(ctx, "telegram")
	if err != nil {
		return err
	}
	minutes, send := int(limits.ContactCodeTime.Minutes()), "/start "+code.Code
	to := safetext.Line(cmp.Or(code.To, "the bot whose token is in the settings"))
	switch {
	case code.URL == "":
		note(io.err, fmt.Sprintf("send this to %s within %d minutes; it works once:", to, minutes))
		printLine(io.out, send)
		return nil
	case c.QR:
		return drawLink(io, code.URL, fmt.Sprintf("scan this code with a phone that has Telegram within %d minutes, and press Start; it works once:", minutes))
	}
	note(io.err, fmt.Sprintf("open this link where Telegram is and press Start, or send %q to %s, within %d minutes; it works once:", send, to, minutes))
	printLine(io.out, code.URL)
	return nil
}
