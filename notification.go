package askback

import "context"

// A Notification is a [Delivery] with everything that a channel needs to send it.
type Notification struct {
	Delivery
	Ask     Ask      // as it is now, with PageURL; only PageURL if the delivery is about a session
	Address string   // where to send it: a callback, the name of a receiver in the settings, or what a channel stored for a person
	Secrets []string // that sign it, if its receiver has secrets of its own; one that is "" is that of the channel
	Earlier string   // the receipt of the question at the same receiver, if this delivery is not the question; "": it has none
	// Record stores the receipt of this delivery before Send returns. If the process then
	// crashes, the next attempt has it as Receipt. It may be nil.
	Record func(ctx context.Context, receipt string) error
}
