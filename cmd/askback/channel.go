package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// channelCommand has the commands for the ways in which questions reach people.
type channelCommand struct {
	Test   channelTest        `cmd:"" help:"Send a test message to a phone, chat or mail address of the settings."`
	Link   channelLinkCommand `cmd:"" help:"Link a chat to you, so that it gets your asks."`
	List   contactList        `cmd:"" help:"List your linked chats and browsers. An admin sees the chats and browsers of all people."`
	Remove contactRemove      `cmd:"" help:"Remove a linked chat or browser. It gets no more asks and can answer none."`
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
		printLine(io.out, safetext.Fit(safetext.Line(contactLine(ids[i], one, time.Now())), width))
	}
	return nil
}

// contactLine describes a contact in one line.
func contactLine(id string, c askback.Contact, now time.Time) string {
	line := fmt.Sprintf("%s  %-8s  %s  %s", id, c.Channel, c.Person, cmp.Or(c.Label, "(no label)"))
	switch {
	case c.Ended:
		return line + "; ended: its token or its log-in is no longer valid"
	case c.UsedAt.IsZero():
		return line + "; not used yet"
	}
	return line + "; used " + listTime(c.UsedAt, now)
}

// contactID is the kind of id that the commands for contacts accept.
var contactID = idKind{"ctc_", "contact", "remove", "askback channel list"}

type contactRemove struct {
	ID string `arg:"" complete:"contact" help:"Name the chat or browser by its id, or the beginning or end of its id, from askback channel list."`
}

// Run removes a contact.
func (c *contactRemove) Run(ctx context.Context, conn *connection.Connector) error {
	id, err := contactID.find(c.ID, func() (ids []string, err error) {
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
		return contactID.missing(id)
	}
	return err
}

// channelLinkCommand has the commands that link a chat.
type channelLinkCommand struct {
	Telegram linkTelegram `cmd:"" help:"Print a link that connects a Telegram chat to you. The chat then gets your asks and can answer them."`
}

type linkTelegram struct {
	QR bool `name:"qr" help:"Draw the link as a QR code for a phone."`
}

// Run prints the link to open or the code to send. With --qr, it draws the link.
func (c *linkTelegram) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if c.QR && !terminal.IsTerminal(io.out) {
		return usage("--qr draws on a terminal, but standard output is not a terminal; askback channel link " +
			"telegram prints the link")
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
		return drawLink(io, code.URL, fmt.Sprintf(
			"scan this code with a phone that has Telegram within %d minutes, and press Start; it works once:", minutes,
		))
	}
	note(io.err, fmt.Sprintf(
		"open this link where Telegram is and press Start, or send %q to %s, within %d minutes; it works once:", send,
		to, minutes,
	))
	printLine(io.out, code.URL)
	return nil
}

type channelTest struct {
	Name string `arg:"" help:"Test email, slack, telegram, or the receiver with this name under channels.post in the settings."`
}

// Run sends a test message to a receiver, without the server, and prints the result.
func (c *channelTest) Run(ctx context.Context, io streams, all *commands) error {
	if all.Config == "" {
		return usage(
			"no settings: name the file with --config or ASKBACK_CONFIG; it has the receivers under channels.post",
		)
	}
	file, err := all.settings()
	if err != nil {
		return err
	}
	host := channels.Host{Version: version(), User: connection.UserName(), People: func() []askback.Person {
		return engineSettings(file).People
	}}
	var names []string
	for _, s := range file.EachChannel() {
		s, ok := s.(channels.Testing)
		if !ok {
			continue
		}
		if slices.Contains(s.Tests(), c.Name) {
			all.noteOtherSettings(io)
			report, err := s.Test(ctx, c.Name, host)
			return testResult(io, report, err)
		}
		names = append(names, s.Tests()...)
	}
	if len(names) == 0 {
		return usage(all.Config + " has no receivers: write them under channels.post")
	}
	return usage(fmt.Sprintf("there is no receiver %q in %s; it has %s", c.Name, all.Config, strings.Join(names, ", ")))
}

// testResult prints the report of a test. It returns an error if the test failed or if settings are missing.
func testResult(io streams, report string, err error) error {
	var lacks channels.SettingsError
	switch {
	case errors.As(err, &lacks):
		return usage(lacks.Error())
	case err != nil:
		return exitError{exitRefused, err.Error()}
	}
	printLine(io.out, report)
	return nil
}
