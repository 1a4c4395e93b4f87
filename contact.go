package askback

import (
	"context"
	"time"

	"github.com/askback/askback/internal/limits"
)

// A Contact is a place where a person gets asks and answers them: a chat, or a browser that shows
// notifications. The person has added it, so it is not in the settings. Its address is never returned to a
// client. A contact is bound to the token or the sign-in with which it was added. After the token is revoked,
// or the person may no longer sign in, the contact receives and answers nothing.
type Contact struct {
	ID        string    `api:"id"`           // the id of the contact
	Person    string    `api:"person"`       // the name of the person who reads it
	Channel   string    `api:"channel"`      // the channel that carries asks to it: telegram or webpush
	Label     string    `api:"label"`        // its description for people: a chat, or a browser and its system
	CreatedAt time.Time `api:"created_at"`   // the time when it was added
	UsedAt    time.Time `api:"last_used_at"` // the time of the last message to or from the contact; zero: not known
	Ended     bool      `api:"ended"`        // the token or the sign-in to which it is bound has ended
}

// A ContactRequest describes the [Contact] to add.
type ContactRequest struct {
	Channel string `request:"channel"`
	Label   string `request:"label"`
	// Address is where messages are sent. For webpush, it is the JSON of the subscription.
	Address string `request:"address"`
}

// Check returns an [Invalid] if the request is not valid. It does not check the channel and
// the address, except for their length.
func (r ContactRequest) Check() error {
	var bad problems
	checkName(&bad, "/channel", r.Channel, limits.MaxName)
	checkName(&bad, "/label", r.Label, limits.MaxName)
	checkText(&bad, "/address", r.Address, limits.MaxContactAddress)
	if r.Channel == "" {
		bad.add("/channel", "is missing", `"channel": "webpush"`)
	}
	if r.Address == "" {
		bad.add("/address", "is missing", "send the push subscription of the browser as a JSON string")
	}
	return bad.err()
}

// A ContactCode is a code that links a chat to a person. The person sends the code in the chat. It can be
// used once.
type ContactCode struct {
	Code      string    `api:"code"`       // the code, which the person sends
	Channel   string    `api:"channel"`    // the channel of the chat
	To        string    `api:"to,null"`    // where to send the code, such as @askback_bot; "": not known
	URL       string    `api:"url,null"`   // a page that sends the code, or ""
	ExpiresAt time.Time `api:"expires_at"` // the time until which the code is valid
}

// Contacts is the interface to the places where people get asks. A person sees and changes their own
// contacts. An admin sees and removes all contacts. The methods may return the errors that every method of
// [Asker] may return.
type Contacts interface {
	// Contacts returns the contacts, oldest first.
	Contacts(ctx context.Context) ([]Contact, error)
	// AddContact adds a contact of this person. If a contact with this address exists, it becomes a contact
	// of this person, bound to the token of this call. The error is an [Invalid] if addresses of the channel
	// must be linked by a code.
	AddContact(ctx context.Context, r ContactRequest) (Contact, error)
	// DeleteContact removes a contact. Messages that wait for the contact are given up.
	DeleteContact(ctx context.Context, id string) (Contact, error)
	// ContactCode returns a code that links a chat of a channel to this person.
	ContactCode(ctx context.Context, channel string) (ContactCode, error)
}
