package fakes

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/email/emailtest"
)

// The addresses of Askback in mails.
const (
	EmailFrom  = "Askback <ask@example.com>"
	EmailReply = "ask+{token}@example.com"
)

// email is a mail server with an address for each person.
type email struct {
	*emailtest.Server
	failures
	t testing.TB

	mu      sync.Mutex
	letters []emailtest.Letter // the accepted messages, decoded
	replies int
	replied map[string]string // maps the id of a reply to the id of the mail that the person replied to
}

func newEmail(t testing.TB, _ Options) Service {
	return &email{Server: emailtest.Start(t, emailtest.Options{}), t: t, replied: map[string]string{}}
}

// EmailAddress returns the address of a person.
func EmailAddress(person string) string { return person + "@example.com" }

// Describe implements [Service].
func (s *email) Describe() Description {
	user := url.UserPassword(emailtest.User, emailtest.Password).String()
	smtp, imap := "smtp://"+user+"@"+s.SMTPAddress, "imap://"+user+"@"+s.IMAPAddress
	d := Description{
		Name: "email", Channel: "email", Addresses: map[string]string{"smtp": smtp, "imap": imap},
		People: map[string]string{}, Secrets: []string{emailtest.Password},
		Settings: fmt.Sprintf("  email:\n    smtp: %q\n    from: %q\n    reply: %q\n    inbound: %q\n", smtp,
			EmailFrom, EmailReply, imap),
	}
	for _, person := range People {
		d.People[person] = "email: " + EmailAddress(person)
	}
	return d
}

// Messages implements [Service]. It returns one message for each thread: a mail cannot be changed, so the
// last mail of a thread has the current state.
func (s *email) Messages(person string, texts ...string) (all []Message, err error) {
	if err := isPerson(person); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	accepted := s.Server.Messages()
	for _, m := range accepted[len(s.letters):] {
		s.letters = append(s.letters, m.Decode(s.t))
	}
	at := map[string]int{} // the index in all, keyed by the id of the mail
	for i, in := range accepted {
		if len(in.To) != 1 || in.To[0] != EmailAddress(person) {
			continue
		}
		l := s.letters[i]
		id := l.Header.Get("Message-Id")
		m := Message{
			ID: id, Text: l.Field("Subject") + "\n" + l.Text, ReplyTo: l.ReplyTo(),
			Live: strings.Contains(l.Text, "Or reply to this mail"), Settled: strings.Contains("\n"+l.Text, "\nDone: "),
		}
		for _, word := range strings.Fields(l.Text) {
			if strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") {
				m.Links = append(m.Links, word)
			}
		}
		if i, ok := at[s.question(l.Header.Get("In-Reply-To"))]; ok {
			all[i].Live, all[i].Settled, all[i].Text = m.Live, all[i].Settled || m.Settled, all[i].Text+"\n"+m.Text
			all[i].Links = append(all[i].Links, m.Links...)
		} else if _, again := at[id]; !again { // a mailbox shows two mails with the same id as one
			at[id] = len(all)
			all = append(all, m)
		}
	}
	return only(all, texts), nil
}

// question returns the id of the mail that a reply answers. id is the id of the reply. If a person did not
// write the mail with this id, question returns id.
func (s *email) question(id string) string {
	if to, ok := s.replied[id]; ok {
		return to
	}
	return id
}

// Press implements [Service]. The person replies with the label.
func (s *email) Press(_ context.Context, person, message string, b Button) (string, error) {
	s.reply(person, message, b.Value, b.Label)
	return "", nil
}

// Write implements [Service].
func (s *email) Write(_ context.Context, person, message, text string) (string, error) {
	all, err := s.Messages(person)
	if err != nil {
		return "", err
	}
	for _, m := range all {
		if m.ID == message {
			s.reply(person, message, m.ReplyTo, text)
			return "", nil
		}
	}
	return "", fmt.Errorf("there is no mail %q to %s", message, person)
}

// reply delivers a reply of a person to a mail.
func (s *email) reply(person, message, to, text string) {
	s.mu.Lock()
	s.replies++
	id := fmt.Sprintf("<reply-%d@example.com>", s.replies)
	s.replied[id] = message
	s.mu.Unlock()
	s.Deliver(s.t, fmt.Sprintf(
		"From: %s\nTo: %s\nSubject: Re: x\nMessage-ID: %s\nContent-Type: text/plain; charset=utf-8\n\n%s\n",
		EmailAddress(person), to, id, text,
	))
}

// Fail implements [Service].
func (s *email) Fail(how channeltest.Failure, skip, count int) error {
	f := map[channeltest.Failure]emailtest.Failure{
		channeltest.TooMany: {Mail: 450}, channeltest.Broken: {Data: 451}, channeltest.LostReply: {LostReply: true},
		channeltest.Slow: {Slow: true},
	}[how]
	s.since(s.FailAs(f, skip, count))
	return nil
}

// State implements [Service].
func (s *email) State() (State, error) { return State{Failed: s.failed()}, nil }
