package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/internal/server/config"
)

// telegramChannel returns the bot of the settings, which were checked when they were read. The
// link of a person needs no log-in. In a group, where others read it, the link is that of the
// page that needs one.
func telegramChannel(c config.Telegram, link func(a askback.Ask, person string) string, log *slog.Logger) *telegram.Channel {
	return must(telegram.New(telegram.Options{
		Token: c.Token, URL: c.URL, Allow: c.Allow, Groups: c.Groups, Log: log, Zone: time.Local,
		Link: func(a askback.Ask, person string) string {
			if person == "" {
				return a.PageURL
			}
			return link(a, person)
		},
	}))
}

// testTelegram asks Telegram who the bot is, sends a test message to the groups of the
// settings, and prints what happened.
func testTelegram(ctx context.Context, io streams, c config.Telegram) error {
	bot := telegramChannel(c, nil, nil)
	defer bot.Close()
	name, err := bot.Check(ctx)
	if err != nil {
		return exitError{exitRefused, fmt.Sprintf("the bot of channels.telegram does not work: %s", failure(err))}
	}
	var failed []string
	for _, group := range c.Groups {
		if err := bot.SendTest(ctx, group); err != nil {
			failed = append(failed, fmt.Sprintf("group %s: %v; is %s a member of it?", strconv.FormatInt(group, 10), err, name))
		}
	}
	if len(failed) > 0 {
		return exitError{exitRefused, strings.Join(failed, "\n")}
	}
	printLine(io.out, fmt.Sprintf("The token is that of %s. To get questions in a chat with it, run askback link telegram.", name))
	return nil
}
