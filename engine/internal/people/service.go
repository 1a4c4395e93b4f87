// Package people determines who is asked. It has the people, groups and routes of the settings and of the
// API. It computes the recipients and approvers of asks, and keeps the contacts at which people are reached.
package people

import (
	"context"
	"sync/atomic"

	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// A Service is the part of the engine for people: the directory, the recipients and approvers of asks, and
// the contacts.
type Service struct {
	*txn.DB
	*auth.Authority
	Options

	directory   directories
	applied     atomic.Pointer[current] // the effective settings, with data that only this package needs
	contacts    contacts
	hasContacts bool // whether a channel carries asks to contacts
	guesses     guesses
	tokens      tokenNames
}

// Options configure a [Service].
type Options struct {
	// Changed is called each time the effective settings change. It may be nil.
	Changed func(txn.Settings)
	// RouteChannels are the names of the channels that a route of the API may name. If it is nil, a route may
	// name any channel.
	RouteChannels []string
	// Recipients returns the people and groups that the asks of each hosted agent name, keyed by the name of
	// the agent.
	Recipients func() map[string][]string
}

// New returns the part of the engine for people. It makes the authority that checks secrets.
func New(db *txn.DB, o Options) *Service {
	e := &Service{DB: db, Options: o}
	for _, c := range db.Channels {
		_, coded := c.(CodeChannel)
		_, added := c.(AddressChannel)
		e.hasContacts = e.hasContacts || coded || added
	}
	e.Authority = auth.New(auth.Options{
		Store: storeReader{db.Store}, Rows: db.Rows, Now: db.Clock, Rand: db.Rand, IDs: db.IDs,
		Unreadable: db.LogUnreadable,
		Update: func(ctx context.Context, fn func(context.Context, auth.Tx) error) error {
			return db.Update(ctx, func(t *txn.Tx) error { return fn(t.Context(), t) })
		},
		People: e.signInPeople,
	})
	db.Current, db.Valid = e.settingsNow, e.RootValid
	for _, expires := range []string{auth.KindToken, auth.KindLogin, kindContactCode} {
		db.Register(txn.Kind{Name: expires, Due: db.DeleteExpired})
	}
	return e
}

// settingsNow returns the effective settings. See current.
func (e *Service) settingsNow(ctx context.Context) (*txn.Settings, error) {
	s, err := e.current(ctx)
	if err != nil {
		return nil, err
	}
	return &s.Settings, nil
}

// A Client manages people and contacts for one principal.
type Client struct {
	service *Service
	*txn.Caller
}

// As returns the client of a caller.
func (e *Service) As(c *txn.Caller) Client { return Client{e, c} }

// A storeReader reads from a store and returns the errors of package askback.
type storeReader struct{ store txn.Store }

func (r storeReader) Read(ctx context.Context, kind, id string) (store.Record, error) {
	row, err := r.store.Read(ctx, kind, id)
	return row, txn.FromStore(err)
}

func (r storeReader) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	row, err := r.store.ReadKey(ctx, kind, key)
	return row, txn.FromStore(err)
}
