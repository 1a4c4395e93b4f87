package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/config"
)

// slackPath receives what Slack sends over HTTP.
const slackPath = "/channels/slack"

// addSlack adds the app in Slack to the channels, if the settings have one.
func (set *channelSet) addSlack(file config.Config, o channelOptions) {
	if file.Channels.Slack.BotToken == "" {
		return
	}
	var running atomic.Pointer[engine.Engine]
	options := slackOptions(file.Channels.Slack)
	options.Log, options.Person, options.Link = o.log, set.personInSlack, set.linkVia(askback.ChannelSlack)
	options.Thread = func(ctx context.Context, n askback.Notification) string {
		e := running.Load()
		if e == nil {
			return ""
		}
		return slack.ThreadOf(ctx, e.As(askback.Principal{Kind: askback.Admin, Name: "askback"}), n)
	}
	c := must(slack.New(options))
	set.send["slack"] = c
	set.run = append(set.run, func(ctx context.Context, e *engine.Engine) {
		running.Store(e)
		c.Run(ctx, e)
		c.Close()
	})
	if options.SigningSecret != "" {
		set.handlers[slackPath] = func(e *engine.Engine) http.Handler { return c.Handler(e) }
	}
}

// slackOptions returns the options of the channel to Slack, as far as they are in the settings.
func slackOptions(s config.Slack) slack.Options {
	return slack.Options{
		BotToken: s.BotToken, SigningSecret: s.SigningSecret, AppToken: s.AppToken, Channel: s.Channel, Team: s.Team, APIURL: s.APIURL,
	}
}

// testSlack sends a test message to the channel of the settings, and prints what happened.
func testSlack(ctx context.Context, io streams, s config.Slack) error {
	c := must(slack.New(slackOptions(s)))
	defer c.Close()
	if err := c.SendTest(ctx); err != nil {
		return exitError{exitRefused, fmt.Sprintf("Slack did not accept the message for %s: %s", s.Channel, failure(err))}
	}
	printLine(io.out, fmt.Sprintf("Slack accepted the message for %s. If nothing arrives, check that you look at this channel in the same workspace.", s.Channel))
	return nil
}

// slackRoom is the channel in Slack. People whom an ask names get direct messages instead.
var slackRoom = engine.Receiver{Channel: "slack", Name: slack.Room}

// personInSlack returns the name of the person with a member id in the present settings.
func (set *channelSet) personInSlack(member string) (name string, ok bool) {
	for _, r := range set.settings.Load().Receivers {
		if r.Channel == "slack" && r.Person != "" && r.Name == member {
			return r.Person, true
		}
	}
	return "", false
}
