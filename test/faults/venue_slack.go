package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/engine"
)

// A slackVenue is a workspace of Slack, over Socket Mode.
type slackVenue struct{ *slacktest.Server }

func newSlackVenue(t testing.TB) *slackVenue { return &slackVenue{slacktest.New(t)} }

var slackMembers = map[string]slacktest.User{"ana": slacktest.Ana, "ben": slacktest.Ben}

func (v *slackVenue) name() string    { return "slack" }
func (v *slackVenue) channel() string { return "slack" }

func (v *slackVenue) open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	c, err := slack.New(slack.Options{
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, Channel: slacktest.Room, Team: slacktest.Team,
		Person: slackPerson, APIURL: v.URL, Pace: time.Nanosecond, Log: log, Link: askLink,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func slackPerson(member string) (string, bool) {
	for name, u := range slackMembers {
		if u.ID == member {
			return name, true
		}
	}
	return "", false
}

func (v *slackVenue) receivers() (all []engine.Receiver) {
	for _, person := range venuePeople {
		all = append(all, engine.Receiver{Channel: "slack", Name: slackMembers[person].ID, Person: person})
	}
	return all
}

func (v *slackVenue) join(context.Context, string, askback.Contacts) error { return nil }

func (v *slackVenue) settings() string {
	return fmt.Sprintf("  slack:\n    bot_token: %q\n    app_token: %q\n    channel: %q\n    team: %q\n    api_url: %q\n",
		slacktest.BotToken, slacktest.AppToken, slacktest.RoomName, slacktest.Team, v.URL)
}

func (v *slackVenue) secrets() []string { return []string{slacktest.BotToken, slacktest.AppToken} }

func (v *slackVenue) seen(person string) (all []sight) {
	for _, m := range v.Messages() {
		if m.Channel != "D"+slackMembers[person].ID[1:] {
			continue
		}
		text := m.Shown()
		one := newSight(m.TS, text, m.Links(), m)
		one.live, one.settled = m.HasElements(), strings.HasPrefix(text, "Done: ") || strings.HasPrefix(text, "No answer needed")
		all = append(all, one)
	}
	return all
}

func (v *slackVenue) press(ctx context.Context, person string, at sight, label string) (string, error) {
	u := slackMembers[person]
	if !until(ctx, func() bool { return v.Sockets() > 0 }) {
		return "", errors.New("no connection to Slack")
	}
	m := at.raw.(slacktest.Message)
	e, block, ok := m.Button(label)
	if !ok {
		return "", errNoButton
	}
	if ack := v.Act(u, m, block, e, nil); !ack.OK || ack.Bad != nil {
		return "", fmt.Errorf("not acknowledged: %+v", ack)
	}
	return "", nil
}

// told returns what a person has read in messages that only this person sees.
func (v *slackVenue) told(person string) (text string) {
	for _, e := range v.Ephemerals() {
		if e.User == slackMembers[person].ID {
			text += e.Text + "\n"
		}
	}
	return text
}
