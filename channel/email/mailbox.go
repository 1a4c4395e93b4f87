package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"github.com/askback/askback/internal/pause"
)

// Limits of time and size for a mailbox.
const (
	commandTimeout = 2 * time.Minute // maximum time for the commands about one batch of messages
	lastRetry      = 5 * time.Minute // maximum wait after an error
	batch          = 100             // maximum number of headers that are read with one command
	maxHeader      = 256 << 10       // maximum size of a header in bytes; all headers of a batch are in memory
)

// Run reads replies from the mailbox until ctx ends. Without a mailbox it returns immediately. After an
// answer is stored, Run marks its message as seen in the mailbox. So nothing else needs to be stored, and
// several servers can read the same mailbox.
func (c *Channel) Run(ctx context.Context, e Engine) {
	if c.options.Reply == "" {
		return
	}
	box := &mailbox{c: c, e: e, changed: make(chan struct{}, 1)}
	waits := pause.Backoff{First: c.options.Retry, Max: lastRetry}
	for {
		worked, err := box.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		c.options.Log.Warn("the mailbox for replies cannot be read", "server", c.options.Inbound.Address(), "error",
			err)
		if worked {
			waits.Reset()
		}
		if waits.Wait(ctx) != nil {
			return
		}
	}
}

// CheckMailbox logs in to the mailbox for replies. Without a mailbox it returns nil.
func (c *Channel) CheckMailbox(ctx context.Context) error {
	if c.options.Reply == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	box := &mailbox{c: c, changed: make(chan struct{}, 1)}
	if err := box.open(ctx); err != nil {
		return err
	}
	return box.client.Close()
}

// A mailbox is an open mailbox in which replies arrive.
type mailbox struct {
	c       *Channel
	e       Engine
	client  *imapclient.Client
	changed chan struct{} // the server has reported a change
	timer   *time.Timer   // ends the connection if the server is too slow

	// State of messages, keyed by UID. The state is dropped when the UIDs are no longer valid.
	validity uint32
	skip     map[imap.UID]bool    // unseen messages that are not handled again
	failed   map[imap.UID]failure // replies that will be handled again after an error
}

// A failure describes a message that could not be handled.
type failure struct {
	pause time.Duration // time until the next attempt
	next  time.Time
}

// connect reads the mailbox until ctx ends or the connection breaks. The result worked is true if the mailbox
// could be read.
func (b *mailbox) connect(ctx context.Context) (worked bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.timer = time.AfterFunc(commandTimeout, cancel)
	defer b.timer.Stop()
	if err := b.open(ctx); err != nil {
		return false, err
	}
	defer b.client.Close()
	for {
		next, err := b.sweep(ctx)
		if err != nil {
			return worked, fmt.Errorf("read the mailbox: %w", plain(err))
		}
		worked = true
		b.timer.Stop()
		if err := b.wait(ctx, min(next, b.c.options.Poll)); err != nil {
			return worked, fmt.Errorf("wait for a message: %w", plain(err))
		}
	}
}

// plain returns err without text of the server. An error of the server becomes its type and code.
func plain(err error) error {
	var of *imap.Error
	if errors.As(err, &of) {
		return fmt.Errorf("the server replied %s %s", of.Type, of.Code)
	}
	return err
}

// open connects, logs in and selects the mailbox. The connection ends when ctx ends.
func (b *mailbox) open(ctx context.Context) error {
	s := b.c.options.Inbound
	conn, err := (&net.Dialer{Timeout: sendTimeout / 2}).DialContext(ctx, "tcp", s.Address())
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	config := b.c.tlsConfig(s.Host)
	options := &imapclient.Options{TLSConfig: config, UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(*imapclient.UnilateralDataMailbox) { b.notify() },
	}}
	switch s.TLS {
	case ImplicitTLS:
		b.client = imapclient.New(tls.Client(conn, config), options)
	case StartTLS:
		if b.client, err = imapclient.NewStartTLS(conn, options); err != nil {
			conn.Close()
			return fmt.Errorf("begin encryption: %w", plain(err))
		}
	default:
		b.client = imapclient.New(conn, options)
	}
	if err := b.logIn(s); err != nil {
		b.client.Close()
		return err
	}
	return nil
}

// logIn logs in and selects the mailbox. If the UIDs are no longer valid, it drops the state of messages. Its
// errors contain no text of the server, because the server could repeat the password.
func (b *mailbox) logIn(s Server) error {
	err := b.client.WaitGreeting()
	if err != nil {
		return fmt.Errorf("read the greeting: %w", plain(err))
	}
	if b.client.Caps().Has(imap.AuthCap("PLAIN")) {
		err = b.client.Authenticate(sasl.NewPlainClient("", s.User, s.Password))
	} else {
		err = b.client.Login(s.User, s.Password).Wait()
	}
	if err != nil {
		return fmt.Errorf("log in: check the user and the password: %w", plain(err))
	}
	name := s.Mailbox
	if name == "" {
		name = "INBOX"
	}
	selected, err := b.client.Select(name, nil).Wait()
	if err != nil {
		return fmt.Errorf("select the mailbox: %w", plain(err))
	}
	if b.skip == nil || b.validity != selected.UIDValidity {
		b.validity, b.skip, b.failed = selected.UIDValidity, map[imap.UID]bool{}, map[imap.UID]failure{}
	}
	return nil
}

func (b *mailbox) notify() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// wait returns when the server has reported a change of the mailbox, or after d.
func (b *mailbox) wait(ctx context.Context, d time.Duration) error {
	if !b.client.Caps().Has(imap.CapIdle) {
		return pause.For(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	idle, err := b.client.Idle()
	if err != nil {
		return err
	}
	select {
	case <-b.changed:
	case <-timer.C:
	case <-b.client.Closed():
		return errors.New("the server closed the connection")
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := idle.Close(); err != nil {
		return err
	}
	return idle.Wait()
}

// sweep handles the messages that have not been seen. The result next is the maximum wait before the next
// sweep, which is short if a message could not be handled now. An error is an error of the mailbox.
func (b *mailbox) sweep(ctx context.Context) (next time.Duration, err error) {
	b.timer.Reset(commandTimeout)
	select {
	case <-b.changed:
	default:
	}
	found, err := b.client.UIDSearch(&imap.SearchCriteria{NotFlag: []imap.Flag{imap.FlagSeen}}, nil).Wait()
	if err != nil {
		return 0, err
	}
	b.forget(found.AllUIDs())
	uids := slices.DeleteFunc(found.AllUIDs(),
		func(uid imap.UID) bool { return b.skip[uid] || time.Now().Before(b.failed[uid].next) })
	for some := range slices.Chunk(uids, batch) {
		b.timer.Reset(commandTimeout)
		headers, err := b.client.Fetch(imap.UIDSetNum(some...), &imap.FetchOptions{
			UID: true, BodySection: []*imap.FetchItemBodySection{{
				Specifier: imap.PartSpecifierHeader, Peek: true, Partial: &imap.SectionPartial{Size: maxHeader},
			}},
		}).Collect()
		if err != nil {
			return 0, err
		}
		for _, m := range headers {
			if err := b.handleOne(ctx, m.UID, bodyOf(m)); err != nil {
				return 0, err
			}
		}
	}
	next = b.c.options.Poll
	for _, f := range b.failed {
		next = min(next, max(0, time.Until(f.next)))
	}
	return next, nil
}

// forget removes the state of messages that are not in unseen, because a program has marked or deleted these
// messages. So the state does not grow with the mailbox.
func (b *mailbox) forget(unseen []imap.UID) {
	left := make(map[imap.UID]bool, len(unseen))
	for _, uid := range unseen {
		left[uid] = true
	}
	maps.DeleteFunc(b.failed, func(uid imap.UID, _ failure) bool { return !left[uid] })
	maps.DeleteFunc(b.skip, func(uid imap.UID, _ bool) bool { return !left[uid] })
}

// bodyOf returns the only part of a message that was fetched, or nil.
func bodyOf(m *imapclient.FetchMessageBuffer) []byte {
	for _, section := range m.BodySection {
		return section.Bytes
	}
	return nil
}

// handleOne handles the message with the header raw. An error is an error of the mailbox.
func (b *mailbox) handleOne(ctx context.Context, uid imap.UID, raw []byte) error {
	header, err := parseHeader(raw)
	if err != nil || len(raw) >= maxHeader { // the rest of the header could have another sender
		b.skip[uid] = true
		return nil
	}
	m := received{header: header, id: strings.TrimSpace(header.Get("Message-Id"))}
	if m.id == "" {
		m.id = fmt.Sprintf("%d/%d", b.validity, uid)
	}
	var broken error // error of the mailbox
	m.body = func() ([]byte, error) {
		raw, err := b.fetch(uid)
		broken = err
		return raw, err
	}
	m.again = func(ask, person string) (n int, err error) {
		n, broken = b.countAgain(ask, person)
		return n, broken
	}
	disposal, err := b.c.handle(ctx, b.e, m)
	switch {
	case broken != nil:
		return broken
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		b.postpone(uid, err)
		return nil
	case disposal == foreign:
		b.skip[uid] = true
		return nil
	}
	return b.mark(uid, disposal)
}

// postpone records that a message could not be handled now because of err. Each further pause is twice as
// long, up to lastRetry.
func (b *mailbox) postpone(uid imap.UID, err error) {
	pause := min(max(b.c.options.Retry, 2*b.failed[uid].pause), lastRetry)
	b.failed[uid] = failure{pause, time.Now().Add(pause)}
	b.c.options.Log.Warn("a reply by mail could not be handled; it is tried again", "error", err, "after", pause)
}

// mark marks a message as seen. If a letter was sent that asks again, mark also marks the message as
// answered.
func (b *mailbox) mark(uid imap.UID, d disposal) error {
	flags := []imap.Flag{imap.FlagSeen}
	if d == askedAgain {
		flags = append(flags, imap.FlagAnswered)
	}
	delete(b.failed, uid)
	b.skip[uid] = true
	return b.client.Store(imap.UIDSetNum(uid), &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: flags},
		nil).Close()
}

// fetch returns the beginning of a message, or nil if the message does not exist.
func (b *mailbox) fetch(uid imap.UID) ([]byte, error) {
	part := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: maxIncoming}}
	messages, err := b.client.Fetch(imap.UIDSetNum(uid),
		&imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{part}}).Collect()
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return bodyOf(messages[0]), nil
}

// countAgain returns how often a person was asked again about an ask, because a reply was not an answer. The
// search is for whole tokens, because some servers find only whole words.
func (b *mailbox) countAgain(ask, person string) (n int, err error) {
	for again := range maxAgain + 1 {
		has := func(field string) imap.SearchCriteria {
			return imap.SearchCriteria{
				Header: []imap.SearchCriteriaHeaderField{{Key: field, Value: b.c.replyToken(ask, person, again)}},
			}
		}
		found, err := b.client.UIDSearch(&imap.SearchCriteria{
			Flag: []imap.Flag{imap.FlagAnswered}, Or: [][2]imap.SearchCriteria{{has("To"), has("Delivered-To")}},
		}, nil).Wait()
		if err != nil {
			return 0, err
		}
		n += len(found.AllUIDs())
	}
	return n, nil
}
