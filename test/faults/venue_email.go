package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/email"
	"github.com/askback/askback/channel/email/emailtest"
	"github.com/askback/askback/engine"
)

// An emailVenue is a mail server with an address for each person.
type emailVenue struct {
	*emailtest.Server
	t       testing.TB
	replies atomic.Int64
	replied sync.Map // ids of mails, by those of the replies
}

func newEmailVenue(t testing.TB) *emailVenue {
	return &emailVenue{Server: emailtest.Start(t, emailtest.Options{}), t: t}
}

func (v *emailVenue) name() string    { return "email" }
func (v *emailVenue) channel() string { return "email" }

// servers returns the addresses of the servers, with the password.
func (v *emailVenue) servers() (smtp, imap string) {
	user := url.UserPassword(emailtest.User, emailtest.Password).String()
	return "smtp://" + user + "@" + v.SMTPAddress, "imap://" + user + "@" + v.IMAPAddress
}

const (
	emailFrom  = "Askback <ask@example.com>"
	emailReply = "ask+{token}@example.com"
)

func (v *emailVenue) open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	o := email.Options{
		From: emailFrom, Reply: emailReply, People: map[string]string{}, Link: askLink, Log: log,
		Key: func() ([]byte, error) { return bytes.Repeat([]byte{5}, 32), nil },
	}
	for _, person := range venuePeople {
		o.People[person] = person + "@example.com"
	}
	smtp, imap := v.servers()
	for _, s := range []struct {
		protocol, address string
		dst               *email.Server
	}{{"smtp", smtp, &o.SMTP}, {"imap", imap, &o.Inbound}} {
		server, problem := email.ParseServer(s.protocol, s.address)
		if problem != "" {
			return nil, nil, fmt.Errorf("the server for %s %s", s.protocol, problem)
		}
		*s.dst = server
	}
	c, err := email.New(o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { c.Run(ctx, e) }, nil
}

func (v *emailVenue) receivers() (all []engine.Receiver) {
	for _, person := range venuePeople {
		all = append(all, engine.Receiver{Channel: "email", Name: person, Person: person})
	}
	return all
}

func (v *emailVenue) join(context.Context, string, askback.Contacts) error { return nil }

func (v *emailVenue) settings() string {
	smtp, imap := v.servers()
	return fmt.Sprintf("  email:\n    smtp: %q\n    from: %q\n    reply: %q\n    inbound: %q\n", smtp, emailFrom, emailReply, imap)
}

func (v *emailVenue) secrets() []string { return []string{emailtest.Password} }

// seen returns one sight for each thread. A mail cannot be changed, so what the person knows is
// what the last one says.
func (v *emailVenue) seen(person string) (all []sight) {
	at := map[string]int{} // by id of the mail
	for _, m := range v.Messages() {
		if len(m.To) != 1 || m.To[0] != person+"@example.com" {
			continue
		}
		l := m.Decode(v.t)
		id := l.Header.Get("Message-Id")
		one := newSight(id, l.Field("Subject")+"\n"+l.Text, "", l)
		one.live, one.settled = strings.Contains(l.Text, "Or reply to this mail"), strings.Contains("\n"+l.Text, "\nDone: ")
		if i, ok := at[v.question(l.Header.Get("In-Reply-To"))]; ok {
			all[i].live, all[i].settled, all[i].text = one.live, all[i].settled || one.settled, all[i].text+"\n"+one.text
		} else if _, again := at[id]; !again { // a mailbox shows two with the same id as one
			at[id] = len(all)
			all = append(all, one)
		}
	}
	return all
}

// question returns the id of the mail to which a person has replied with an id, or that id.
func (v *emailVenue) question(id string) string {
	if to, ok := v.replied.Load(id); ok {
		return to.(string)
	}
	return id
}

func (v *emailVenue) press(_ context.Context, person string, at sight, label string) (string, error) {
	id := fmt.Sprintf("<reply-%d@example.com>", v.replies.Add(1))
	v.replied.Store(id, at.id)
	v.Deliver(v.t, fmt.Sprintf("From: %s@example.com\nTo: %s\nSubject: Re: x\nMessage-ID: %s\n\n%s\n",
		person, at.raw.(emailtest.Letter).ReplyTo(), id, label))
	return "", nil
}
