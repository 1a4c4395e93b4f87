package engine

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// A change is a unit of work: records and lines of history that are committed
// together, and what is published after the commit.
type change struct {
	store.Change
	asks []updatedAsk
	due  []time.Time // deadlines of the records
}

// updatedAsk is an ask in a change, with its new state and new lines of history.
type updatedAsk struct {
	record  store.Record // with the version before the commit
	state   lifecycle.State
	history []lifecycle.Event
	closes  bool // the change settles the ask
}

// ask adds an ask with its next state to the change. r is the record as it was
// read, or a new one.
func (c *change) ask(r store.Record, next lifecycle.State, history []lifecycle.Event, now time.Time) error {
	closes := r.Open && next.Ask.Settled()
	describe(&r, next, now)
	var err error
	if r.Version == 0 {
		if r.Fixed, err = lifecycle.EncodeFixed(next); err != nil {
			return err
		}
	}
	if r.State, err = lifecycle.Encode(next); err != nil {
		return err
	}
	made, err := grantRecords(r.Stream, history)
	if err != nil {
		return err
	}
	c.put(r)
	c.put(made...)
	c.asks = append(c.asks, updatedAsk{r, next, history, closes})
	return c.addEvents(next.Ask.SessionID, next.Ask.ID, history, now)
}

// put adds records to the change.
func (c *change) put(records ...store.Record) {
	for _, r := range records {
		c.Put = append(c.Put, r)
		if !r.Due.IsZero() {
			c.due = append(c.due, r.Due)
		}
	}
}

// addEvents adds lines of history to the change.
func (c *change) addEvents(stream, subject string, history []lifecycle.Event, now time.Time) error {
	for _, h := range history {
		data, err := encode(h) // not json.Marshal, which would escape the arguments of tools
		if err != nil {
			return err
		}
		c.Events = append(c.Events, store.Event{Stream: stream, Subject: subject, Type: string(h.Type), At: now, Data: data})
	}
	return nil
}

// finish commits a change and publishes it.
func (e *Engine) finish(ctx context.Context, c change) error {
	if err := e.commit(ctx, c.Change); err != nil {
		for _, m := range c.asks[min(1, len(c.asks)):] {
			e.cache.drop(m.record.ID) // the cached version may be older than that of another process
		}
		if errors.Is(err, store.ErrUnknown) {
			e.hub.wakeFollowers(c.streams()) // followers read whether it was committed
		}
		return err
	}
	for _, at := range c.due {
		e.due.set(at)
	}
	for _, m := range c.asks {
		if m.closes {
			e.quota.release(m.record.Owner)
		}
		e.cacheCommitted(m.record, m.state)
		e.publish(m.state.Ask, m.history)
	}
	e.hub.wakeFollowers(c.streams())
	return nil
}

// streams returns the streams to which the change adds lines.
func (c *change) streams() map[string]struct{} {
	streams := map[string]struct{}{}
	for _, ev := range c.Events {
		streams[ev.Stream] = struct{}{}
	}
	return streams
}

// publish notifies waiters and the observer. It is called after the commit.
func (e *Engine) publish(a askback.Ask, history []lifecycle.Event) {
	if a.Settled() {
		e.hub.notifyWaiters(a)
	}
	if e.observer == nil {
		return
	}
	for _, h := range history {
		e.observer.Committed(h.Type, a.Clone())
	}
}
