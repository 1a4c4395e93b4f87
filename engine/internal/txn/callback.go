package txn

import (
	"context"

	"github.com/askback/askback"
)

// A Channel carries messages about asks and sessions to programs or people.
type Channel interface {
	// Send sends a notification once and returns what the service calls the message, or "".
	// The error may be an [askback.SendError]. After an error or a crash Send is called again
	// with the same delivery, although it may have succeeded; a program recognizes its ID. The
	// question of a settled ask is sent to no person, and its outcome to none who did not get
	// the question.
	Send(ctx context.Context, n askback.Notification) (receipt string, err error)
}

// ChannelWebhook is the name of the channel to the callback of an ask or a session.
const ChannelWebhook = "webhook"

// CheckCallback returns an error if a request has a callback and the engine cannot send to it.
func (db *DB) CheckCallback(address string) error {
	return db.CheckReceiver("/callback_url", address)
}

// CheckReceiver returns an error if there is an address at a pointer of a request, and the
// engine cannot send to it.
func (db *DB) CheckReceiver(pointer, address string) error {
	if address == "" || db.Channels[ChannelWebhook] != nil {
		return nil
	}
	return askback.Invalid{{
		Pointer: pointer, Detail: "this server sends no webhooks", Fix: "set channels.webhook in its settings, or wait for the ask",
	}}
}

// Callback returns the address that receives the events of asks and sessions that name none, or "".
func (db *DB) Callback() string {
	if db.Channels[ChannelWebhook] == nil {
		return ""
	}
	return db.Settings.Load().CallbackURL
}

// A Callback is the address that receives the events of the asks of a session, and the person who
// named it. An agent or the settings named it if of is "".
type Callback struct{ Address, Of string }
