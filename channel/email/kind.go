package email

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels"
)

// Name is the name of the channel.
const Name = "email"

// Kind describes the channel to the program.
var Kind = channels.Kind{Name: Name, Title: "E-mail", Via: askback.ChannelEmail, Linked: true, Read: readSettings}

// mails returns the channel for the settings, which signs reply addresses with key.
func (s Settings) mails(h channels.Host, key func() ([]byte, error)) *Channel {
	return channels.Must(New(Options{
		SMTP: s.SMTP, From: s.From, Reply: s.Reply, Inbound: s.Inbound, AuthservID: s.AuthservID,
		Key: key, Link: h.Link(askback.ChannelEmail), Zone: h.Zone, Log: h.Log, Version: h.Version,
		People: func() map[string]string { return addressesOf(h.People()) },
	}))
}

// addressesOf returns the e-mail addresses of people, keyed by name. People without an address are omitted.
func addressesOf(people []askback.Person) map[string]string {
	all := map[string]string{}
	for _, p := range people {
		if p.Email != "" {
			all[p.Name] = p.Email
		}
	}
	return all
}

// Open implements [channels.Settings].
func (s Settings) Open(h channels.Host) channels.Channel {
	mails := s.mails(h, h.Key)
	return channels.Channel{Sender: mails, Run: func(ctx context.Context, e channels.Engine) { mails.Run(ctx, e) }}
}

// Reach implements [channels.Reaching].
func (s Settings) Reach(p askback.Person) (channels.Receiver, bool) {
	return channels.Receiver{Channel: Name, Name: p.Name, Person: p.Name}, p.Email != ""
}

// Tests implements [channels.Testing].
func (s Settings) Tests() []string { return []string{Name} }

// Test sends a test mail to each person with an address, and logs in to the mailbox for replies, if any.
func (s Settings) Test(ctx context.Context, _ string, h channels.Host) (report string, err error) {
	mails := s.mails(h, func() ([]byte, error) { return make([]byte, 32), nil }) // a test message has no reply address
	var sent, failed []string
	for _, p := range h.People() {
		if p.Email == "" {
			continue
		}
		if err := mails.SendTest(ctx, p.Name); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", p.Name, err))
		} else {
			sent = append(sent, p.Name)
		}
	}
	if err := mails.CheckMailbox(ctx); err != nil {
		failed = append(failed, fmt.Sprintf("the mailbox for replies: %v", err))
	}
	switch {
	case len(failed) > 0:
		return "", errors.New(strings.Join(failed, "\n"))
	case len(sent) == 0:
		return "", channels.SettingsError("no person in the settings has an e-mail address: write it under people")
	}
	return fmt.Sprintf("The mail server accepted a message for %s. If it does not arrive, check the spam folder.",
		strings.Join(sent, ", ")), nil
}
