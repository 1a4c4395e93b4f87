package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// A Load is a set of counts of the present work of an engine, for metrics.
type Load struct {
	Now     time.Time // the time of the counts
	Pending int       // open asks
	Oldest  time.Time // when the oldest open ask was made; zero without an open ask
	Calls   int       // calls of Wait in this process
	Streams int       // event streams in this process
	Effects Effects
}

// Effects counts messages and other effects that have not succeeded yet.
type Effects struct {
	Waiting int // effects that wait for their first or next attempt
	Claimed int // effects that are being performed
	Dead    int // given up
}

// Load returns the load of the engine. The numbers of asks and effects are read from the store, so they are
// the same in all processes that share the store.
func (e *Engine) Load(ctx context.Context) (Load, error) {
	totals, err := e.db.Store.Totals(ctx, txn.KindAsk)
	if err != nil {
		return Load{}, fmt.Errorf("load: %w", txn.FromStore(err))
	}
	l := Load{Now: e.db.Clock(), Pending: totals.Open, Effects: Effects{totals.Waiting, totals.Claimed, totals.Dead}}
	first, err := e.db.Store.List(ctx, store.Query{Kind: txn.KindAsk, Open: new(true), Limit: 1})
	if err != nil {
		return Load{}, fmt.Errorf("load: %w", txn.FromStore(err))
	}
	if len(first) > 0 {
		l.Oldest = first[0].Created
	}
	l.Calls, l.Streams = e.db.Hub.Counts()
	return l, nil
}
