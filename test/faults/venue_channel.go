package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/test/kit/fakes"
)

// open returns the channel to a venue for an engine of this process, configured to be fast. It also returns
// the function that receives answers.
func (v *venue) open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	switch v.name {
	case "ntfy":
		return v.openPost(log)
	case "slack":
		return v.openSlack(log)
	case "telegram":
		return v.openTelegram(log)
	case "email":
		return v.openEmail(log)
	}
	return v.openPush(log)
}

func linkKey() ([]byte, error) { return bytes.Repeat([]byte{9}, 32), nil }

func (v *venue) openPost(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	o := post.Options{
		Receivers: map[string]post.Receiver{}, Log: log,
		Pages: answerlink.New(linkKey, answerlink.Page), Replies: answerlink.New(linkKey, answerlink.Reply),
	}
	for _, person := range fakes.People {
		address := v.addresses[person]
		allowed, err := allowedAt(address)
		if err != nil {
			return nil, nil, err
		}
		o.Receivers[person+"-phone"] = post.Receiver{
			Template: post.Ntfy, URL: address + "/questions", Token: fakes.NtfyToken(person),
			ReplyTopic: fakes.NtfyReplies, Person: person, Allow: []egress.Allowed{allowed},
		}
	}
	c, err := post.New(o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func (v *venue) openSlack(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	c, err := slack.New(slack.Options{
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, Channel: slacktest.Room, Team: slacktest.Team,
		Person: slackPerson, APIURL: v.addresses["api"], Pace: time.Nanosecond, Log: log, Link: askLink,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func slackPerson(member string) (string, bool) {
	for name, u := range fakes.SlackMembers {
		if u.ID == member {
			return name, true
		}
	}
	return "", false
}

func (v *venue) openTelegram(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	allowed, err := allowedAt(v.addresses["api"])
	if err != nil {
		return nil, nil, err
	}
	c, err := telegram.New(telegram.Options{
		Token: telegramtest.Token, URL: v.addresses["api"], Allow: []egress.Allowed{allowed}, Burst: 1 << 30, Log: log,
		Link: askLink,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func (v *venue) openEmail(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	o := email.Options{From: fakes.EmailFrom, Reply: fakes.EmailReply, Link: askLink, Log: log, Key: linkKey}
	people := map[string]string{}
	for _, person := range fakes.People {
		people[person] = fakes.EmailAddress(person)
	}
	o.People = func() map[string]string { return people }
	for protocol, dst := range map[string]*email.Server{"smtp": &o.SMTP, "imap": &o.Inbound} {
		server, problem := email.ParseServer(protocol, v.addresses[protocol])
		if problem != "" {
			return nil, nil, fmt.Errorf("the server for %s %s", protocol, problem)
		}
		*dst = server
	}
	c, err := email.New(o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { c.Run(ctx, e) }, nil
}

func (v *venue) openPush(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	address := v.addresses["service"]
	allowed, err := allowedAt(address)
	if err != nil {
		return nil, nil, err
	}
	c, err := webpush.New(webpush.Options{
		Subject: publicPages, Allow: []egress.Allowed{allowed}, Roots: v.roots(), Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	v.push = c
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

// receivers returns the receivers of the settings.
func (v *venue) receivers() (all []engine.Receiver) {
	for _, person := range fakes.People {
		switch v.name {
		case "ntfy":
			all = append(all, engine.Receiver{Channel: v.channel, Name: person + "-phone", Person: person})
		case "slack":
			all = append(all, engine.Receiver{Channel: v.channel, Name: fakes.SlackMembers[person].ID, Person: person})
		case "email":
			all = append(all, engine.Receiver{Channel: v.channel, Name: person, Person: person})
		}
	}
	return all
}

// allowedAt returns the entry for a service on this machine.
func allowedAt(address string) (egress.Allowed, error) {
	u, err := url.Parse(address)
	if err != nil {
		return egress.Allowed{}, err
	}
	return egress.ParseAllowed(u.Host)
}
