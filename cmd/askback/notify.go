package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/local/connection"
)

// notifyCommand has the commands for the phones and chats of the settings.
type notifyCommand struct {
	Test notifyTestCommand `cmd:"" help:"Send a test message to a phone or a chat of the settings."`
}

type notifyTestCommand struct {
	Name string `arg:"" help:"The name of the receiver under channels.post in the settings, or email, slack or telegram."`
}

// Run sends a test message to a receiver, without the server, and prints what happened.
func (c *notifyTestCommand) Run(ctx context.Context, io streams, all *commands) error {
	if all.Config == "" {
		return usage("no settings: name the file with --config or ASKBACK_CONFIG; it has the receivers under channels.post")
	}
	file, err := all.settings()
	if err != nil {
		return err
	}
	host := channels.Host{Version: version(), User: connection.UserName(), People: func() []askback.Person { return engineSettings(file).People }}
	var names []string
	for _, s := range file.EachChannel() {
		s, ok := s.(channels.Testing)
		if !ok {
			continue
		}
		if slices.Contains(s.Tests(), c.Name) {
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

// testResult prints the report of a test.
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
