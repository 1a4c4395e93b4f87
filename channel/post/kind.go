package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/message/answerlink"
)

// Name is the name of the channel.
const Name = "post"

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "Phone or chat", Via: askback.ChannelPush, Linked: true, Read: readSettings}

// channel returns the channel to the receivers of s, with the options o.
func (s Settings) channel(h channels.Host, o Options) *Channel {
	o.Receivers, o.Version = map[string]Receiver{}, h.Version
	for _, r := range s {
		receiver := r.Receiver
		receiver.Person = cmp.Or(r.Person, h.User)
		o.Receivers[r.Name] = receiver
	}
	return channels.Must(New(o))
}

// Open implements [channels.Settings].
func (s Settings) Open(h channels.Host) channels.Channel {
	c := s.channel(h, Options{
		Pages: h.Pages, Replies: answerlink.New(h.Key, answerlink.Reply), Zone: h.Zone, Log: h.Log,
	})
	return channels.Channel{Sender: c, Run: func(ctx context.Context, e channels.Engine) { c.Run(ctx, e) }}
}

// Receivers implements [channels.Receiving].
func (s Settings) Receivers(user string) (all []channels.Receiver) {
	for _, r := range s {
		all = append(all, channels.Receiver{Channel: Name, Name: r.Name, Person: cmp.Or(r.Person, user)})
	}
	return all
}

// Tests returns the names of the receivers.
func (s Settings) Tests() (names []string) {
	for _, r := range s {
		names = append(names, r.Name)
	}
	return names
}

// Test sends a test message to a receiver, and reads the reply topic of the receiver, if any.
func (s Settings) Test(ctx context.Context, name string, h channels.Host) (report string, err error) {
	r := s[slices.IndexFunc(s, func(r NamedReceiver) bool { return r.Name == name })]
	c := s.channel(h, Options{})
	defer c.Close()
	if err := c.SendTest(ctx, name); err != nil {
		return "", errors.New(r.Origin() + " " + channels.NotSent(name, err))
	}
	if err := c.TestReplies(ctx, name); err != nil {
		return "", fmt.Errorf(
			"%s accepted the message for %s, but the reply topic cannot be read, so buttons will not work: %s",
			r.Origin(), name, channels.Failure(err),
		)
	}
	return fmt.Sprintf("%s accepted the message for %s. %s", r.Origin(), name, r.Template.whereToLook()), nil
}

// whereToLook returns a sentence about what to check if the message does not arrive.
func (t Template) whereToLook() string {
	switch t {
	case Ntfy:
		return "If the phone shows nothing, check that its ntfy app is subscribed to exactly this server and topic."
	case HomeAssistant:
		return "If nothing arrives, check the name of the phone, or the automation that the webhook starts."
	case Teams:
		return "If nothing arrives, check the runs of the workflow."
	}
	return "If nothing arrives, check the address and the token of this receiver."
}
