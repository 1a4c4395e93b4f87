package txn

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// A Channel carries messages about asks and sessions to programs or people.
type Channel interface {
	// Send sends a notification once and returns the receipt of the service, or "". The error may be an
	// [askback.SendError]. After an error or a crash, Send is called again with the same delivery, although
	// the earlier call may have succeeded. A program recognizes the delivery by its ID. The question of a
	// settled ask is not sent to people. Its outcome is sent only to people who got the question.
	Send(ctx context.Context, n askback.Notification) (receipt string, err error)
}

// A SecretChannel is a [Channel] to the callbacks of asks and sessions. It signs its messages with the
// secrets of their endpoints. An engine has at most one SecretChannel.
type SecretChannel interface {
	Channel
	// SendTest sends a test message with an id to an address of an endpoint. It returns the status of the
	// reply, or 0 without a reply.
	SendTest(ctx context.Context, id, endpoint, address string, secrets []string) (code int, err error)
}

// callbackChannel returns the channel to callbacks, or nil.
func callbackChannel(all map[string]Channel) SecretChannel {
	for _, c := range all {
		if c, ok := c.(SecretChannel); ok {
			return c
		}
	}
	return nil
}

// ChannelOf returns the channel of a delivery, or nil if the engine does not have the channel.
func (db *DB) ChannelOf(d askback.Delivery) Channel {
	if !lifecycle.ToCallback(d) {
		return db.Channels[d.Channel]
	}
	if db.Callbacks == nil {
		return nil
	}
	return db.Callbacks
}

// CheckCallback returns an error if address is not "" and the engine cannot send to callbacks.
func (db *DB) CheckCallback(address string) error {
	err := db.CheckReceiver("/callback_url", address)
	if bad, ok := errors.AsType[askback.Invalid](err); ok {
		bad[0].Fix += ", or leave callback_url out and wait for the ask"
	}
	return err
}

// CheckReceiver returns an error if address is not "" and the engine cannot send to callbacks. The pointer is
// the place of the address in the request.
func (db *DB) CheckReceiver(pointer, address string) error {
	if address == "" || db.Callbacks != nil {
		return nil
	}
	return askback.Invalid{{
		Pointer: pointer, Detail: "this server sends no webhooks",
		Fix: "set channels.webhook in the settings of the server",
	}}
}

// Callback returns the address for the events of asks and sessions that name no callback, or "".
func (db *DB) Callback() string {
	if db.Callbacks == nil {
		return ""
	}
	return db.Settings.Load().CallbackURL
}

// A Callback is the address for the events of the asks of a session, and the person who named the address. If
// Of is "", an agent or the settings named it.
type Callback struct{ Address, Of string }
