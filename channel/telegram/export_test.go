package telegram

import (
	"context"
	"time"
)

// Data returns the data of a button as the channel signs it.
func Data(token string, chatID int64, action byte, askID string, messageID int64, question, option int) string {
	return newSigner(token).sign(chatID, press{actionOf(action), askID, messageID, question, option})
}

func actionOf(b byte) action { return action(b) }

// Verify reports whether data is valid for a button in a chat.
func Verify(token string, chatID int64, data string) bool {
	_, err := newSigner(token).verify(chatID, data)
	return err == nil
}

// Units and Cut count in UTF-16 code units.
var (
	Units = units
	Cut   = cut
)

// A Limiter is the limiter of a channel.
type Limiter struct{ *limiter }

// NewLimiter returns the limiter of a channel without settings.
func NewLimiter(now func() time.Time) Limiter { return Limiter{newLimiter(now, chatBurst)} }

// Wait waits until a message to a chat may be sent.
func (l Limiter) Wait(ctx context.Context, chatID int64) error { return l.wait(ctx, chatID) }

// Hold delays all messages to a chat for a time.
func (l Limiter) Hold(chatID int64, d time.Duration) { l.hold(chatID, d) }
