package fakes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/telegram/telegramtest"
)

// telegramAccounts are the accounts of the people, which are also their chats with the bot.
var telegramAccounts = map[string]int64{"ana": 4001, "ben": 4002}

// telegram is a bot of Telegram with a chat for each person.
type telegram struct {
	*telegramtest.Server
	failures
}

func newTelegram(t testing.TB, _ Options) Service {
	s := &telegram{Server: telegramtest.NewServer(t)}
	for _, id := range telegramAccounts {
		s.AddUser(id)
	}
	return s
}

// Describe implements [Service].
func (s *telegram) Describe() Description {
	return Description{
		Name: "telegram", Channel: "telegram", Addresses: map[string]string{"api": s.URL},
		Secrets: []string{telegramtest.Token},
		Settings: fmt.Sprintf("  telegram:\n    token: %q\n    url: %q\n    allow: [%q]\n", telegramtest.Token, s.URL,
			strings.TrimPrefix(s.URL, "http://")),
	}
}

// Messages implements [Service].
func (s *telegram) Messages(person string, texts ...string) (all []Message, err error) {
	if err := isPerson(person); err != nil {
		return nil, err
	}
	for _, in := range s.Server.Messages(telegramAccounts[person]) {
		m := Message{
			ID: strconv.FormatInt(in.ID, 10), Text: in.Text, Links: in.Links(), Live: in.Live(),
			Settled: strings.HasPrefix(in.Text, "Done: "),
		}
		m.Ask = askIDs.FindString(strings.Join(m.Links, " "))
		for _, row := range in.Buttons {
			for _, b := range row {
				if b.Data != "" {
					m.Buttons = append(m.Buttons, Button{b.Text, b.Data})
				}
			}
		}
		all = append(all, m)
	}
	return only(all, texts), nil
}

// Press implements [Service].
func (s *telegram) Press(_ context.Context, person, message string, b Button) (string, error) {
	id, err := strconv.ParseInt(message, 10, 64)
	if err != nil {
		return "", err
	}
	account := telegramAccounts[person]
	popup, err := s.PressData(account, account, id, b.Value)
	return popup.Text, err
}

// Write implements [Service].
func (s *telegram) Write(_ context.Context, person, message, text string) (string, error) {
	var to int64
	if message != "" {
		var err error
		if to, err = strconv.ParseInt(message, 10, 64); err != nil {
			return "", err
		}
	}
	account := telegramAccounts[person]
	s.Server.Write(account, account, text, to)
	return "", nil
}

// Fail implements [Service].
func (s *telegram) Fail(how channeltest.Failure, skip, count int) error {
	s.since(s.Server.Fail(telegramtest.Failure(how), skip, count))
	return nil
}

// State implements [Service].
func (s *telegram) State() (State, error) {
	return State{Failed: s.failed(), Rejected: s.Rejected()}, nil
}
