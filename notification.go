package askback

import "context"

// A Notification is a [Delivery] with everything that a channel needs to send it.
type Notification struct {
	Delivery
	// Ask is the present state of the ask, with PageURL. If the delivery is about a session, only PageURL is
	// set.
	Ask Ask
	// Address is where to send the message: a callback, the name of a receiver in the settings, or the stored
	// address of a person.
	Address string
	// Secrets are the secrets that sign the message, if its receiver has secrets of its own. The entry ""
	// means the secret of the channel.
	Secrets []string
	// Earlier is the receipt of the question at the same receiver, or "" if this delivery is the question.
	Earlier string
	// Record stores the receipt of this delivery before Send returns. If the process then crashes, the next
	// attempt has it as Receipt. Record may be nil.
	Record func(ctx context.Context, receipt string) error
}
