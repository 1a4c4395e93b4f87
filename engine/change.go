package engine

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// A change is what one step commits: the records it moves, the lines of history
// it writes, and what is told when that is durable.
type change struct {
	store.Change
	asks []moved
	due  []time.Time
}

// moved is an ask that a change moves.
type moved struct {
	record  store.Record // without its version raised
	state   lifecycle.State
	history []lifecycle.Entry
	closes  bool // it was open before
}

// ask adds an ask that was stepped. Its record is as it was read, or new.
func (c *change) ask(r store.Record, next lifecycle.State, history []lifecycle.Entry, now time.Time) error {
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
	made, err := granted(r.Stream, history)
	if err != nil {
		return err
	}
	c.put(r)
	c.put(made...)
	c.asks = append(c.asks, moved{r, next, history, closes})
	return c.say(next.Ask.SessionID, next.Ask.ID, history, now)
}

func (c *change) put(records ...store.Record) {
	for _, r := range records {
		c.Put = append(c.Put, r)
		if !r.Due.IsZero() {
			c.due = append(c.due, r.Due)
		}
	}
}

// say adds lines of history.
func (c *change) say(stream, subject string, history []lifecycle.Entry, now time.Time) error {
	for _, h := range history {
		data, err := encode(h) // arguments stay as they were written
		if err != nil {
			return err
		}
		c.Events = append(c.Events, store.Event{Stream: stream, Subject: subject, Type: h.Type, At: now, Data: data})
	}
	return nil
}

// finish commits a change, and then tells of it.
func (e *Engine) finish(ctx context.Context, c change) error {
	if err := e.commit(ctx, c.Change); err != nil {
		for _, m := range c.asks[min(1, len(c.asks)):] {
			e.cache.drop(m.record.ID) // it may be another's version that is known here
		}
		if errors.Is(err, store.ErrUnknown) {
			e.hub.moved(c.streams()) // who follows sees for himself
		}
		return err
	}
	for _, at := range c.due {
		e.due.set(at)
	}
	for _, m := range c.asks {
		if m.closes {
			e.quota.settled(m.record.Owner)
		}
		e.keep(m.record, m.state)
		e.publish(m.state.Ask, m.history)
	}
	e.hub.moved(c.streams())
	return nil
}

// streams are those to which a change adds lines.
func (c *change) streams() map[string]struct{} {
	streams := map[string]struct{}{}
	for _, ev := range c.Events {
		streams[ev.Stream] = struct{}{}
	}
	return streams
}

// publish tells those who wait here, after the commit.
func (e *Engine) publish(a askback.Ask, history []lifecycle.Entry) {
	if a.Settled() {
		e.hub.settled(a)
	}
	if e.observer == nil {
		return
	}
	for _, h := range history {
		e.observer.Committed(h.Type, a.Clone())
	}
}
