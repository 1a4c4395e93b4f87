package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/terminal"
)

type inboxCommand struct {
	Plain bool `env:"ASKBACK_PLAIN" help:"Print the list of open asks instead, as for a screen reader."`
}

// Run shows the open asks until the user leaves. If no terminal can show the inbox, it prints the open asks
// as askback list does.
func (c *inboxCommand) Run(ctx context.Context, io streams, all *commands) (err error) {
	conn, err := all.connector(ctx, io.err, instance.KindAsk)
	if err != nil {
		return err
	}
	defer func() { err = thenClose(io, conn, err) }()
	tty, lock, err := c.openTerminal(io)
	if err != nil {
		return err
	}
	if tty == nil {
		return printInbox(ctx, io, conn)
	}
	defer func() {
		_ = tty.Close()
		if lock != nil {
			_ = lock.Release()
		}
	}()
	o := &terminal.InboxOptions{Options: *tty.Options(), Name: conn.UserName(), Open: pageOpener(conn)}
	err = terminal.NewInbox(tty, conn.User, o).Run(ctx)
	if errors.Is(err, terminal.ErrNoInput) { // the terminal was continued in the background
		return nil
	}
	return err
}

// openTerminal opens the terminal of the process and locks the terminal. The terminal is nil if it cannot
// show the inbox. The lock is nil if terminals cannot be distinguished.
func (c *inboxCommand) openTerminal(io streams) (*terminal.TTY, *instance.Lock, error) {
	if c.Plain || !terminal.IsTerminal(io.in) || !terminal.IsTerminal(io.out) {
		return nil, nil, nil
	}
	tty, err := terminal.Open()
	if err != nil {
		return nil, nil, nil // a terminal of another session
	}
	if !tty.Foreground() || !tty.ShowsPanels() {
		return nil, nil, tty.Close()
	}
	path, err := terminalLockFile(io.in)
	var lock *instance.Lock
	if err == nil && path != "" {
		lock, err = instance.Hold(path)
	}
	if errors.Is(err, instance.ErrHeld) {
		err = exitError{
			exitRefused, "another askback asks a question in this terminal: answer it, or use another terminal",
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, tty.Close())
	}
	return tty, lock, nil
}

// printInbox prints the list of open asks, and how to answer them.
func printInbox(ctx context.Context, io streams, conn *connection.Connector) error {
	list := listCommand{Status: string(askback.Pending), Limit: askback.DefaultLimit}
	if err := list.Run(ctx, io, conn); err != nil {
		return err
	}
	note(io.err,
		"to read one: askback show ASK; to answer it: askback answer ASK ANSWER, or --approve or --deny for a call")
	return nil
}

// pageOpener returns a function that opens the page of an ask in the user's browser.
func pageOpener(conn *connection.Connector) func(context.Context, askback.Ask) (string, error) {
	return func(_ context.Context, a askback.Ask) (string, error) {
		address := conn.PageURL(a)
		if address == "" {
			return "", errors.New("no server with pages is running; askback serve starts one")
		}
		return address, openBrowser(address)
	}
}

// openBrowser starts the user's browser with an address, without its output.
func openBrowser(address string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	if browser := os.Getenv("BROWSER"); browser != "" {
		name = browser
	}
	cmd := exec.Command(name, address)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
