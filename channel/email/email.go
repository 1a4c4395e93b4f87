// Package email sends asks to people by mail, and reads their replies from a mailbox. A mail has the whole
// ask or, if the ask is too long, the name of the agent and the link (F3). Text of agents is never a link
// (T7), and cannot get into the header. A reply is an answer only if it is exactly an option, a decision, or
// text where the question allows text. A dangerous call is never decided by mail.
package email

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/mail"
	"sync"
	"time"

	"github.com/askback/askback"
)

// Options configure a [Channel].
type Options struct {
	SMTP    Server
	From    string // the sender, with or without a name
	Reply   string // contains {token}; if "", people cannot answer by mail
	Inbound Server // mailbox of replies, over IMAP; the zero value means that people cannot answer by mail
	// People returns the present addresses of people, keyed by name.
	People func() map[string]string
	// AuthservID is the name of the last mail server before the mailbox. If AuthservID is not "", a reply
	// counts only if this server has confirmed that the sender is authentic.
	AuthservID string
	// Key returns at least 32 bytes that sign reply addresses. The channel calls Key before the first mail or
	// reply.
	Key func() ([]byte, error)
	// Link returns the address of the page where a person answers an ask without logging in, or "". The
	// channel does not call Link for dangerous calls.
	Link func(a askback.Ask, person string) string
	// Zone returns the time zone for messages to a person. If the name is "", several people read the messages. If
	// Zone is nil, the zone is UTC.
	Zone    func(person string) *time.Location
	Roots   *x509.CertPool // certificate authorities for the servers; nil for the authorities of the system
	Now     func() time.Time
	Log     *slog.Logger // nil logs nothing
	Version string       // version of Askback, for the User-Agent
	// Poll is the maximum time between two checks of the mailbox; 0 means five minutes. If the server
	// supports IDLE, a message is read when it arrives.
	Poll time.Duration
	// Retry is the first wait after a reply that could not be handled, or a mailbox that could not be read.
	// Zero means five seconds. Each further wait is twice as long, up to five minutes.
	Retry time.Duration
}

// A Channel sends mails and reads replies. It is safe for concurrent use.
type Channel struct {
	options Options
	from    mail.Address
	domain  string

	keyed sync.Mutex
	key   []byte
}

// New returns a Channel, or an error if the options are not valid.
func New(o Options) (*Channel, error) {
	from, err := mail.ParseAddress(o.From)
	switch {
	case err != nil || CheckAddress(from.Address) != "":
		return nil, errors.New("the sender is not an e-mail address")
	case o.SMTP.Host == "":
		return nil, errors.New("there is no server for sending")
	case o.Reply != "" && CheckReply(o.Reply) != "":
		return nil, errors.New("the reply address " + CheckReply(o.Reply))
	case o.Key == nil:
		return nil, errors.New("there is no key")
	case o.People == nil:
		return nil, errors.New("there are no people")
	}
	if o.Link == nil {
		o.Link = func(a askback.Ask, _ string) string { return a.PageURL }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Poll, o.Retry = cmp.Or(o.Poll, 5*time.Minute), cmp.Or(o.Retry, 5*time.Second)
	if o.Inbound.Host == "" {
		o.Reply = "" // no goroutine reads replies
	}
	from.Name = cmp.Or(from.Name, "Askback")
	return &Channel{options: o, from: *from, domain: domainOf(from.Address)}, nil
}

// loadKey fetches the key unless it has been fetched.
func (c *Channel) loadKey() error {
	c.keyed.Lock()
	defer c.keyed.Unlock()
	if c.key != nil {
		return nil
	}
	key, err := c.options.Key()
	if err != nil {
		return err
	}
	if len(key) < 32 {
		return errors.New("the key that signs reply addresses is too short")
	}
	c.key = key
	return nil
}

// Send sends a notification to its person. The receipt is the id of the message. A repeat has the same id, so
// that a mailbox can recognize it, and no record is needed. If the notification has a receipt already,
// nothing is sent. The errors contain no text of the server, which is only in [askback.SendError].Cause.
func (c *Channel) Send(ctx context.Context, n askback.Notification) (receipt string, err error) {
	if n.Receipt != "" {
		return n.Receipt, nil // the server has accepted the mail, and a mail cannot be edited
	}
	to, err := c.addressOf(n.Person)
	switch {
	case err != nil:
		return "", err
	case n.Ask.ID == "":
		return "", &askback.SendError{Err: errors.New("the email channel sends only asks"), Final: true}
	}
	if err := c.loadKey(); err != nil {
		return "", err
	}
	m := c.notification(n)
	m.to = to
	built, err := c.build(m)
	if err != nil {
		return "", &askback.SendError{Err: errors.New("the mail cannot be written"), Final: true, Cause: err}
	}
	if err := c.transmit(ctx, built); err != nil {
		return "", err
	}
	return m.id, nil
}

// addressOf returns the e-mail address of a person, or an error if the person has no valid address.
func (c *Channel) addressOf(person string) (string, error) {
	to, ok := c.options.People()[person]
	switch {
	case !ok:
		return "", errors.New("no e-mail address of this person is known")
	case CheckAddress(to) != "":
		return "", &askback.SendError{
			Err: errors.New("the address of this person is not an e-mail address"), Final: true,
		}
	}
	return to, nil
}

// SendTest sends a test message to a person. It returns the same errors as Send.
func (c *Channel) SendTest(ctx context.Context, person string) error {
	to, err := c.addressOf(person)
	if err != nil {
		return err
	}
	if err := c.loadKey(); err != nil {
		return err
	}
	built, err := c.build(c.testMessage(to))
	if err != nil {
		return err
	}
	return c.transmit(ctx, built)
}
