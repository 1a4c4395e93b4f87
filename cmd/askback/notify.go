package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
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
	if c.Name == telegram.Name && file.Channels.Telegram.Token != "" {
		return testTelegram(ctx, io, file.Channels.Telegram)
	}
	if c.Name == emailName && file.Channels.Email.Enabled {
		return testEmail(ctx, io, file)
	}
	var names []string
	for _, r := range file.Channels.Post {
		if names = append(names, r.Name); r.Name == c.Name {
			channel := postChannel(file.Channels, post.Options{})
			defer channel.Close()
			if err := channel.SendTest(ctx, c.Name); err != nil {
				return exitError{exitRefused, fmt.Sprintf("%s did not accept the message for %s: %s", r.Origin(), c.Name, failure(err))}
			}
			if err := channel.TestReplies(ctx, c.Name); err != nil {
				return exitError{exitRefused, fmt.Sprintf("%s accepted the message for %s, but the reply topic cannot be read, so that buttons will not answer: %s", r.Origin(), c.Name, failure(err))}
			}
			printLine(io.out, fmt.Sprintf("%s accepted the message for %s. %s", r.Origin(), c.Name, whereToLook(r.Template)))
			return nil
		}
	}
	if slack := file.Channels.Slack; slack.BotToken != "" {
		if c.Name == "slack" {
			return testSlack(ctx, io, slack)
		}
		names = append(names, "slack")
	}
	if len(names) == 0 {
		return usage(all.Config + " has no receivers: write them under channels.post")
	}
	return usage(fmt.Sprintf("there is no receiver %q in %s; it has %s", c.Name, all.Config, strings.Join(names, ", ")))
}

// failure describes why a test message was not sent. An address that could not be used is named,
// which agents are not told: this command has no log, and its user has the settings.
func failure(err error) string {
	var send *askback.SendError
	if errors.Is(err, egress.ErrAddress) && errors.As(err, &send) && send.Cause != nil {
		return "no reply: " + send.Cause.Error() + "; correct the address, or allow it with allow in the settings of the channel"
	}
	return err.Error()
}

// whereToLook returns what to check if the message does not arrive.
func whereToLook(t post.Template) string {
	switch t {
	case post.Ntfy:
		return "If the phone shows nothing, check that its ntfy app is subscribed to exactly this server and topic."
	case post.HomeAssistant:
		return "If nothing arrives, check the name of the phone, or the automation that the webhook starts."
	case post.Teams:
		return "If nothing arrives, look at the runs of the workflow."
	}
	return "If nothing arrives, check that the address and the token are those of this receiver."
}

// postChannel returns the channel to the receivers of the settings, with some options.
func postChannel(c config.Channels, o post.Options) *post.Channel {
	o.Receivers, o.Version = map[string]post.Receiver{}, version()
	for _, r := range c.Post {
		receiver := r.Receiver
		receiver.Person = cmp.Or(r.Person, connection.UserName())
		o.Receivers[r.Name] = receiver
	}
	return must(post.New(o))
}
