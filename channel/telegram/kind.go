package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
)

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "Telegram", Via: askback.ChannelTelegram, Linked: true, Read: readSettings}

// bot returns the channel. The link for a person needs no log-in. In a group, where other people can open the
// link, the link is to a page that requires a log-in.
func (s Settings) bot(h channels.Host) *Channel {
	link := h.Link(askback.ChannelTelegram)
	return channels.Must(New(Options{
		Token: s.Token, URL: s.URL, Allow: s.Allow, Groups: s.Groups, Log: h.Log, Zone: h.Zone,
		Link: func(a askback.Ask, person string) string {
			if person == "" {
				return a.PageURL
			}
			return link(a, person)
		},
	}))
}

// Open implements [channels.Settings].
func (s Settings) Open(h channels.Host) channels.Channel {
	bot := s.bot(h)
	return channels.Channel{Sender: bot, Run: func(ctx context.Context, e channels.Engine) { bot.Run(ctx, e) }}
}

// Receivers returns the groups of the settings.
func (s Settings) Receivers(string) (all []channels.Receiver) {
	for _, id := range s.Groups {
		all = append(all, channels.Receiver{Channel: Name, Name: strconv.FormatInt(id, 10)})
	}
	return all
}

// Tests implements [channels.Testing].
func (s Settings) Tests() []string { return []string{Name} }

// Test requests the account of the bot, and sends a test message to each group.
func (s Settings) Test(ctx context.Context, _ string, h channels.Host) (report string, err error) {
	bot := s.bot(h)
	defer bot.Close()
	name, err := bot.Check(ctx)
	if err != nil {
		return "", fmt.Errorf("the bot of channels.telegram does not work: %s", channels.Failure(err))
	}
	var failed []string
	for _, group := range s.Groups {
		if err := bot.SendTest(ctx, group); err != nil {
			failed = append(failed,
				fmt.Sprintf("group %s: %v; is %s a member of it?", strconv.FormatInt(group, 10), err, name))
		}
	}
	if len(failed) > 0 {
		return "", errors.New(strings.Join(failed, "\n"))
	}
	return fmt.Sprintf(
		"The token belongs to %s. To get questions in a chat with it, run askback channel link telegram.", name,
	), nil
}
