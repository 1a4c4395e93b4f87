package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/service"
	"github.com/askback/askback/internal/text/qrcode"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/web"
)

type loginCommand struct {
	QR bool `name:"qr" help:"Draw the link as a QR code for a phone."`
}

// Run prints a link that logs one browser in, or draws it as a QR code.
func (c loginCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if c.QR && !terminal.IsTerminal(io.out) {
		return usage("--qr draws on a terminal, but standard output is not a terminal; askback login prints the link")
	}
	pages, err := conn.Pages(ctx)
	if err != nil {
		return err
	}
	if pages == "" {
		text := "no server is running to log in to: start askback serve first"
		if name := service.OtherUser(); name != "" {
			text += fmt.Sprintf("; for the server of this system, run sudo -u %s askback login", name)
		}
		return exitError{exitRefused, text}
	}
	if c.QR {
		if err := checkPhone(pages); err != nil {
			return err
		}
	}
	secret, err := conn.User.LoginSecret(ctx)
	if err != nil {
		return err
	}
	link, minutes := pages+web.LoginPath(secret), int(limits.LoginTime.Minutes())
	if c.QR {
		return drawLink(io, link,
			fmt.Sprintf("scan this code with a phone within %d minutes; it logs in one browser, once:", minutes))
	}
	note(io.err, fmt.Sprintf("open this link within %d minutes; it works once:", minutes))
	printLine(io.out, link)
	return nil
}

// checkPhone returns an error if a phone cannot reach the pages, or cannot log in there.
func checkPhone(pages string) error {
	u, err := url.Parse(pages)
	if err == nil && u.Scheme == "https" && !egress.IsLoopback(u.Host) {
		return nil
	}
	why := "a phone cannot reach " + pages + ", which is an address of this machine only"
	if err != nil || !egress.IsLoopback(u.Host) {
		why = "a phone cannot log in at " + pages + ", since browsers keep log-ins only over https"
	}
	return exitError{exitRefused, why + ": give the server an https address with askback serve --public-url; " +
		"docs/phone.md in the clone has the steps, as has https://github.com/askback/askback/blob/main/docs/phone.md"}
}

// drawLink draws a link as a QR code below a line that explains it. It returns an error if the window is too
// small.
func drawLink(io streams, link, explanation string) error {
	code, err := qrcode.Encode(link)
	if err != nil {
		return err
	}
	columns, rows := code.Size()
	rows++ // a row for the next prompt of the shell
	screen := terminal.StreamOptions(io.out)
	width, height := screen.Width(), terminal.Rows(io.out)
	if width < columns || height < rows {
		return exitError{
			exitRefused,
			fmt.Sprintf("the window has %d columns and %d rows, and the QR code needs %d and %d: "+
				"make it larger or its text smaller, or send yourself the link that is printed without --qr", width,
				height, columns, rows),
		}
	}
	note(io.err, explanation)
	_, err = fmt.Fprintln(io.out, strings.Join(code.Draw(screen.Style), "\n"))
	return err
}
