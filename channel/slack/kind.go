package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
)

// Name is the name of the channel.
const Name = "slack"

// Path is the path that receives requests from Slack.
const Path = "/channels/slack"

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "Slack", Via: askback.ChannelSlack, Linked: true, Read: readSettings}

// options returns the options that are in the settings.
func (s Settings) options() Options {
	return Options{
		BotToken: s.BotToken, SigningSecret: s.SigningSecret, AppToken: s.AppToken, Channel: s.Channel, Team: s.Team,
		APIURL: s.APIURL,
	}
}

// Open implements [channels.Settings].
func (s Settings) Open(h channels.Host) channels.Channel {
	var running atomic.Pointer[channels.Engine]
	o := s.options()
	o.Log, o.Link, o.Zone = h.Log, h.Link(askback.ChannelSlack), h.Zone
	o.Person = func(member string) (name string, ok bool) { return memberOf(h.People(), member) }
	o.Thread = func(ctx context.Context, n askback.Notification) string {
		e := running.Load()
		if e == nil {
			return ""
		}
		return ThreadOf(ctx, (*e).History(), n)
	}
	app := channels.Must(New(o))
	c := channels.Channel{Sender: app, Run: func(ctx context.Context, e channels.Engine) {
		running.Store(&e)
		app.Run(ctx, e)
		app.Close()
	}}
	if s.SigningSecret != "" {
		c.Handlers = map[string]func(channels.Engine) http.Handler{
			Path: func(e channels.Engine) http.Handler { return app.Handler(e) },
		}
	}
	return c
}

// memberOf returns the name of the person with a member id. It reports false if there is no such person.
func memberOf(people []askback.Person, member string) (name string, ok bool) {
	for _, p := range people {
		if member != "" && p.Slack == member {
			return p.Name, true
		}
	}
	return "", false
}

// Receivers returns the channel in Slack, for asks that name no people. The people whom an ask names get
// direct messages.
func (s Settings) Receivers(string) []channels.Receiver {
	return []channels.Receiver{{Channel: Name, Name: Room}}
}

// Reach returns the direct messages to a person. It reports false if the person has no member id.
func (s Settings) Reach(p askback.Person) (channels.Receiver, bool) {
	return channels.Receiver{Channel: Name, Name: p.Slack, Person: p.Name, Addressed: true}, p.Slack != ""
}

// Tests implements [channels.Testing].
func (s Settings) Tests() []string { return []string{Name} }

// Test sends a test message to the channel of the settings.
func (s Settings) Test(ctx context.Context, _ string, _ channels.Host) (report string, err error) {
	c := channels.Must(New(s.options()))
	defer c.Close()
	if err := c.SendTest(ctx); err != nil {
		return "", errors.New(Kind.Title + " " + channels.NotSent(s.Channel, err))
	}
	return fmt.Sprintf("Slack accepted the message for %s. If nothing arrives, check that you look at this channel "+
		"in the same workspace.", s.Channel), nil
}
