// Package send performs effects. It sends the deliveries of asks and sessions through the channels, repeats
// them after failures, and manages the endpoints of callbacks.
package send

import (
	"context"
	"time"

	"github.com/askback/askback/engine/internal/txn"
)

// A Service is the part of the engine that performs effects: deliveries through channels, and the effects of
// other kinds.
type Service struct {
	*txn.DB
	Options

	tested recentTests
}

// Options configure a [Service].
type Options struct {
	Performer  Performer // performs the effects that are not deliveries; may be nil
	Idle       bool      // if set, no effects are performed
	OwnSecrets bool      // if set, each endpoint gets a secret of its own when it is first used
	Contacts   Contacts
}

// Contacts is the interface to people and their contacts.
type Contacts interface {
	// IsPerson reports whether a person with this name may answer.
	IsPerson(ctx context.Context, name string) (bool, error)
	// ContactAddress returns the address of a contact, for a message that is sent now. The error may be an
	// [askback.SendError].
	ContactAddress(ctx context.Context, id string, now time.Time) (string, error)
	// ContactReplied records that an attempt to send to a contact ended with err.
	ContactReplied(ctx context.Context, id string, err error, now time.Time)
}

// New returns the part of the engine that performs effects.
func New(db *txn.DB, o Options) *Service {
	txn.Handle(db, queueDelivery)
	return &Service{DB: db, Options: o}
}

// A Client manages deliveries and endpoints for one principal.
type Client struct {
	service *Service
	*txn.Caller
}

// As returns the client of a caller.
func (e *Service) As(c *txn.Caller) Client { return Client{e, c} }
