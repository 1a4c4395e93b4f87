// Package runs runs the hosted agents: it performs the effects of the machine of package conversation
// and starts the runs of schedules.
package runs

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// A Service is the part of the engine that runs the hosted agents.
type Service struct {
	*txn.DB
	Options
}

// Options configure a [Service].
type Options struct {
	Runner   Runner // may be nil
	Idle     bool   // if set, schedules start no runs
	Asker    Asker
	Sessions func(askback.Principal) askback.Sessions // returns the interface of a principal to sessions
}

// An Asker opens the asks of runs.
type Asker interface {
	// Prepare checks the request of an agent and sets n. It keeps n.Directed. An error that does not apply to
	// a repeated request is in n.Late.
	Prepare(ctx context.Context, who askback.Principal, n *txn.NewAsk, r askback.Request) error
	// Open makes the ask of n in a tx.
	Open(t *txn.Tx, who askback.Principal, n *txn.NewAsk) (*askback.Ask, error)
}

// New returns the part of the engine that runs the hosted agents.
func New(db *txn.DB, o Options) *Service {
	e := &Service{DB: db, Options: o}
	txn.Handle(db, resume)
	db.Register(e.runKinds()...)
	return e
}

// A Client manages hosted agents and their runs for one principal.
type Client struct {
	service *Service
	*txn.Caller
}

// As returns the client of a caller.
func (e *Service) As(c *txn.Caller) Client { return Client{e, c} }

// runKinds returns the kinds of the records of runs and of their effects.
func (e *Service) runKinds() []txn.Kind {
	slots := runSlots
	if e.Runner == nil { // without a runner, another process performs the effects
		slots = 0
	}
	return []txn.Kind{
		{Name: runPrefix, Perform: e.performRun, Slots: slots},
		{Name: KindRun, Delete: e.deleteRun, Due: func(ctx context.Context, row store.Record) error {
			return e.Update(ctx, func(t *txn.Tx) error {
				r, err := lockRun(t, row.ID)
				if err != nil {
					return err
				}
				return r.step(t, conversation.Due{At: t.Now()})
			})
		}},
	}
}

// deleteRun returns the change that deletes a run whose session was deleted.
func (e *Service) deleteRun(ctx context.Context, row store.Record) (store.Change, error) {
	return e.DeletionAfter(ctx, row, txn.KindSession, row.ID)
}

// resume adds the effect of a settled ask of a run.
func resume(t *txn.Tx, f lifecycle.Resume) error {
	return addWork(t, kindSettled, txn.KindAsk, f.AskID, f.SessionID, runWork{})
}
