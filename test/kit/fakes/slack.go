package fakes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/internal/pause"
)

// SlackMembers maps the people to members of the workspace.
var SlackMembers = map[string]slacktest.User{"ana": slacktest.Ana, "ben": slacktest.Ben}

// slack is a workspace of Slack, over Socket Mode.
type slack struct {
	*slacktest.Server
	failures
	failing channeltest.Failing
}

func newSlack(t testing.TB, _ Options) Service {
	s := &slack{Server: slacktest.New(t)}
	s.Fault = func(method string) (slacktest.Fault, bool) {
		if method != "chat.postMessage" && method != "chat.update" {
			return slacktest.Fault{}, false
		}
		how := s.failing.Next()
		f, ok := map[channeltest.Failure]slacktest.Fault{
			channeltest.TooMany: {RetryAfter: 2}, channeltest.Broken: {Status: 500},
			channeltest.LostReply: {Lost: true}, channeltest.Slow: {Hold: make(chan struct{})},
		}[how]
		return f, ok
	}
	return s
}

// Describe implements [Service].
func (s *slack) Describe() Description {
	d := Description{
		Name: "slack", Channel: "slack", Addresses: map[string]string{"api": s.URL}, People: map[string]string{},
		Secrets: []string{slacktest.BotToken, slacktest.AppToken},
		Settings: fmt.Sprintf(
			"  slack:\n    bot_token: %q\n    app_token: %q\n    channel: %q\n    team: %q\n    api_url: %q\n",
			slacktest.BotToken, slacktest.AppToken, slacktest.RoomName, slacktest.Team, s.URL),
	}
	for person, u := range SlackMembers {
		d.People[person] = "slack: " + u.ID
	}
	return d
}

// A pressedElement is a button of Slack.
type pressedElement struct {
	Block   string
	Element slacktest.Element
}

// Messages implements [Service].
func (s *slack) Messages(person string, texts ...string) (all []Message, err error) {
	if err := isPerson(person); err != nil {
		return nil, err
	}
	for _, posted := range s.Server.Messages() {
		if posted.Channel != "D"+SlackMembers[person].ID[1:] {
			continue
		}
		text, links := posted.Shown(), posted.Links()
		m := Message{ID: posted.TS, Ask: askIDs.FindString(links), Text: text, Live: posted.HasElements()}
		m.Settled = strings.HasPrefix(text, "Done: ") || strings.HasPrefix(text, "No answer needed")
		if links != "" {
			m.Links = strings.Fields(links)
		}
		for _, b := range posted.Blocks {
			for _, e := range b.Elements {
				if e.Type != "button" || e.URL != "" {
					continue
				}
				value, err := json.Marshal(pressedElement{b.BlockID, e})
				if err != nil {
					return nil, err
				}
				m.Buttons = append(m.Buttons, Button{e.Text.Text, string(value)})
			}
		}
		all = append(all, m)
	}
	for i, e := range s.Ephemerals() {
		if e.User == SlackMembers[person].ID {
			all = append(all, Message{ID: "private " + strconv.Itoa(i), Text: e.Text, Private: true})
		}
	}
	return only(all, texts), nil
}

// Press implements [Service].
func (s *slack) Press(ctx context.Context, person, message string, b Button) (string, error) {
	for s.Sockets() == 0 {
		if pause.For(ctx, time.Millisecond) != nil {
			return "", errors.New("no connection to Slack")
		}
	}
	var pressed pressedElement
	if err := json.Unmarshal([]byte(b.Value), &pressed); err != nil {
		return "", err
	}
	all := s.Server.Messages()
	i := slices.IndexFunc(all, func(m slacktest.Message) bool { return m.TS == message })
	if i < 0 {
		return "", errors.New("there is no such message")
	}
	if ack := s.Act(SlackMembers[person], all[i], pressed.Block, pressed.Element, nil); !ack.OK || ack.Bad != nil {
		return "", fmt.Errorf("not acknowledged: %+v", ack)
	}
	return "", nil
}

// Write implements [Service].
func (s *slack) Write(context.Context, string, string, string) (string, error) {
	return "", errUnsupported
}

// Fail implements [Service].
func (s *slack) Fail(how channeltest.Failure, skip, count int) error {
	s.since(s.failing.Fail(how, skip, count))
	return nil
}

// State implements [Service].
func (s *slack) State() (State, error) { return State{Failed: s.failed()}, nil }
