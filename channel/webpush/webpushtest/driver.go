package webpushtest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/engine"
)

// short lists the cases that do not fit into 4 KB.
var short = []string{
	"1 MB", "call of 20 kB", "call of 1 MB", "quotes and newlines", "10 000 characters", "3 800 characters",
}

// Driver returns the driver for the suite of channels.
func Driver() channeltest.Driver {
	return channeltest.Driver{
		Channel: "webpush", Short: short, RetryAfter: RetryAfter,
		Start: func(t testing.TB, s channeltest.Settings) channeltest.Service {
			d := &driver{t: t, settings: s, service: NewService(t), browsers: map[string]*Browser{}}
			d.service.Now = s.Now
			return d
		},
	}
}

// A driver is a service with a browser for each person.
type driver struct {
	t        testing.TB
	settings channeltest.Settings
	service  *Service
	browsers map[string]*Browser
}

// Open implements [channeltest.Service].
func (d *driver) Open(t testing.TB) channeltest.Channel {
	c, err := webpush.New(webpush.Options{
		Subject: channeltest.Pages, Allow: d.service.Allow(t), Roots: d.service.Roots, Now: d.settings.Now,
		Zone: d.settings.Zone, Log: d.settings.Log, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return channeltest.Channel{Send: c, Run: func(ctx context.Context, e *engine.Engine) { c.Run(ctx, e) }}
}

// Receivers implements [channeltest.Service].
func (d *driver) Receivers() []engine.Receiver { return nil }

// Join implements [channeltest.Service]. It adds a browser of the person as a contact.
func (d *driver) Join(ctx context.Context, e *engine.Engine, person string) error {
	secret, err := e.ChannelSecret(ctx, webpush.Name)
	if err != nil {
		return err
	}
	key, err := webpush.NewKey(secret)
	if err != nil {
		return err
	}
	d.browsers[person] = d.service.Subscribe(d.t, key.Public())
	_, err = e.As(askback.Principal{Kind: askback.Responder, Name: person}).AddContact(ctx, askback.ContactRequest{
		Channel: "webpush", Label: "browser of " + person, Address: d.browsers[person].Subscription(),
	})
	return err
}

// Address implements [channeltest.Service].
func (d *driver) Address(person string) string { return d.browsers[person].Subscription() }

// A Notification is a notification that a browser shows. In the service worker of the pages, it replaces a
// notification with the same tag.
type Notification struct {
	Tag, Title, Body, Path string
	Urgent, Settled        bool
}

// Shown returns the notifications that a browser shows now, in the order in which they arrived.
func (b *Browser) Shown() (all []Notification, err error) {
	for _, m := range b.Messages() {
		var n Notification
		if err := json.Unmarshal(m.Text, &n); err != nil {
			return nil, err
		}
		all = append(slices.DeleteFunc(all, func(old Notification) bool { return old.Tag == n.Tag }), n)
	}
	return all, nil
}

// Messages implements [channeltest.Service].
func (d *driver) Messages(person string) (all []channeltest.Message) {
	shown, err := d.browsers[person].Shown()
	if err != nil {
		return []channeltest.Message{{Damage: []string{err.Error()}}}
	}
	for _, n := range shown {
		all = append(all, channeltest.Message{
			ID: n.Tag, AskID: n.Tag, Text: n.Title + "\n" + n.Body, Link: channeltest.Pages + n.Path,
			Settled: n.Settled,
		})
	}
	return all
}

// Answer implements [channeltest.Service].
func (d *driver) Answer(context.Context, string, channeltest.Message, askback.Answer) (string, error) {
	return "", errors.ErrUnsupported
}

// Attack implements [channeltest.Service].
func (d *driver) Attack(context.Context, channeltest.Attack, channeltest.Message, askback.Answer) error {
	return errors.ErrUnsupported
}

// Fail implements [channeltest.Service].
func (d *driver) Fail(how channeltest.Failure, skip, count int) (failed func() int) {
	return d.service.FailAs(how, skip, count)
}

// Secrets implements [channeltest.Service].
func (d *driver) Secrets() (all []string) {
	for _, b := range d.browsers {
		all = append(all, b.Secrets()...)
	}
	return all
}
