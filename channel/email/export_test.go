package email

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A Mailbox is a connection to the mailbox for replies.
type Mailbox struct{ *mailbox }

// Connect connects to the mailbox.
func (c *Channel) Connect(t testing.TB, e Engine) Mailbox {
	b := &mailbox{c: c, e: e, changed: make(chan struct{}, 1), timer: time.NewTimer(commandTimeout)}
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.client.Close() })
	return Mailbox{b}
}

// Sweep handles the messages that have not been seen, and returns the number of messages with stored state.
func (m Mailbox) Sweep(t testing.TB) int {
	if _, err := m.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return len(m.skip) + len(m.failed)
}

// Handle handles a message as if it were in the mailbox.
func (c *Channel) Handle(ctx context.Context, e Engine, raw []byte) error {
	h, err := parseHeader(raw)
	if err != nil {
		return nil
	}
	_, err = c.handle(ctx, e, received{
		header: h, id: strings.TrimSpace(h.Get("Message-Id")),
		body:  func() ([]byte, error) { return raw, nil },
		again: func(string, string) (int, error) { return maxAgain, nil },
	})
	return err
}
