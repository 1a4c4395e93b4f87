package email

import (
	"context"
	"strings"
)

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
