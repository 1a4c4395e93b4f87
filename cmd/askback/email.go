package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/internal/server/config"
)

// emailName is the name of the channel for mails in deliveries.
const emailName = "email"

// emailChannel returns the channel for mails of the settings, which were checked when they were
// read. The options have what the settings do not, such as the people.
func emailChannel(file config.Config, o email.Options) *email.Channel {
	c := file.Channels.Email
	o.SMTP, o.From, o.Reply, o.Inbound, o.AuthservID, o.Version = c.SMTP, c.From, c.Reply, c.Inbound, c.AuthservID, version()
	return must(email.New(o))
}

// addressesOf returns the e-mail addresses of people, by name.
func addressesOf(people []askback.Person) map[string]string {
	all := map[string]string{}
	for _, p := range people {
		if p.Email != "" {
			all[p.Name] = p.Email
		}
	}
	return all
}

// testEmail sends a test mail to each person with an address, logs in to the mailbox, and
// prints what happened.
func testEmail(ctx context.Context, io streams, file config.Config) error {
	noReply := func() ([]byte, error) { return make([]byte, 32), nil } // a test message has no reply address
	channel := emailChannel(file, email.Options{Key: noReply, People: func() map[string]string { return addressesOf(engineSettings(file).People) }})
	var sent, failed []string
	for _, p := range file.People {
		if p.Email == "" {
			continue
		}
		if err := channel.SendTest(ctx, p.Name); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", p.Name, err))
		} else {
			sent = append(sent, p.Name)
		}
	}
	if err := channel.CheckMailbox(ctx); err != nil {
		failed = append(failed, fmt.Sprintf("the mailbox for replies: %v", err))
	}
	switch {
	case len(failed) > 0:
		return exitError{exitRefused, strings.Join(failed, "\n")}
	case len(sent) == 0:
		return usage("no person in the settings has an e-mail address: write it under people")
	}
	printLine(io.out, fmt.Sprintf("The mail server accepted a message for %s. If it does not arrive, look into the folder for spam.", strings.Join(sent, ", ")))
	return nil
}
