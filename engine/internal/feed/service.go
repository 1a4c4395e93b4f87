// Package feed provides what principals read: lists, searches, figures and streams of events, each with only
// the parts that the principal may see. It also stores the snoozes of people.
package feed

import (
	"context"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/txn"
)

// A Service is the part of the engine that reads the stored asks, sessions and events. It also stores
// snoozes.
type Service struct {
	*txn.DB
	*auth.Authority

	runs     Runs
	shared   eventPages
	indexing sync.Mutex // held while documents are added to the index
}

// Runs is the interface to the hosted runs.
type Runs interface {
	// IsHosted reports whether a hosted agent has a session.
	IsHosted(ctx context.Context, session string) (bool, error)
	// OpenCalls returns the calls of the run of a session that have no result yet. It returns nil if there is
	// no such run, or if the run cannot be read.
	OpenCalls(ctx context.Context, session string) ([]conversation.Open, error)
	// AsksOf returns an ask that has the agent of the run of a session, its owner, and the recipients that it
	// names. It also reports whether the run may ask people. The ask is nil if the run or its definition is
	// not known.
	AsksOf(ctx context.Context, session string) (a *askback.Ask, asks bool, err error)
}

// New returns a [Service] for the asks, sessions and events of db, and registers the records of snoozes.
func New(db *txn.DB, tokens *auth.Authority, runs Runs) *Service {
	e := &Service{DB: db, Authority: tokens, runs: runs, shared: eventPages{all: map[pageKey]*eventPage{}}}
	db.Hub.Forget = e.shared.clear
	db.Register(txn.Kind{Name: kindSnooze, Due: db.DeleteExpired})
	return e
}

// A Client reads asks, sessions, events and statistics for one principal. It also snoozes asks.
type Client struct {
	service *Service
	*txn.Caller
}

// As returns the client of a caller.
func (e *Service) As(c *txn.Caller) Client { return Client{e, c} }
