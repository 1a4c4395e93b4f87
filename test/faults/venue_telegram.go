package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/egress"
)

// A telegramVenue is a bot of Telegram with a chat for each person.
type telegramVenue struct{ *telegramtest.Server }

var telegramAccounts = map[string]int64{"ana": 4001, "ben": 4002}

func newTelegramVenue(t testing.TB) *telegramVenue {
	v := &telegramVenue{telegramtest.NewServer(t)}
	for _, id := range telegramAccounts {
		v.AddUser(id)
	}
	return v
}

func (v *telegramVenue) name() string    { return "telegram" }
func (v *telegramVenue) channel() string { return telegram.Name }

func (v *telegramVenue) open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	allowed, err := allowedAt(v.URL)
	if err != nil {
		return nil, nil, err
	}
	c, err := telegram.New(telegram.Options{
		Token: telegramtest.Token, URL: v.URL, Allow: []egress.Allowed{allowed}, Burst: 1 << 30, Log: log, Link: askLink,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func (v *telegramVenue) receivers() []engine.Receiver { return nil }

// join sends the code of a link to the bot.
func (v *telegramVenue) join(ctx context.Context, person string, c askback.Contacts) error {
	code, err := c.ContactCode(ctx, telegram.Name)
	if err != nil {
		return err
	}
	id := telegramAccounts[person]
	v.Write(id, id, "/start "+code.Code, 0)
	_, err = v.Wait(id, func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "This chat is linked") })
	return err
}

func (v *telegramVenue) settings() string {
	at := strings.TrimPrefix(v.URL, "http://")
	return fmt.Sprintf("  telegram:\n    token: %q\n    url: %q\n    allow: [%q]\n", telegramtest.Token, v.URL, at)
}

func (v *telegramVenue) secrets() []string { return []string{telegramtest.Token} }

func (v *telegramVenue) seen(person string) (all []sight) {
	for _, m := range v.Messages(telegramAccounts[person]) {
		one := newSight(strconv.FormatInt(m.ID, 10), m.Text, strings.Join(m.Links(), " "), m)
		one.live, one.settled = m.Live(), strings.HasPrefix(m.Text, "Done: ")
		all = append(all, one)
	}
	return all
}

func (v *telegramVenue) press(_ context.Context, person string, at sight, label string) (string, error) {
	account, m := telegramAccounts[person], at.raw.(telegramtest.Message)
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Data != "" && (b.Text == label || strings.HasSuffix(b.Text, ". "+label)) {
				popup, err := v.PressData(account, account, m.ID, b.Data)
				return popup.Text, err
			}
		}
	}
	return "", errNoButton
}
