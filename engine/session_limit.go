package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// idleTime is how long nothing must have happened in a session before it may make room for another
// one of its agent.
const idleTime = 24 * time.Hour

// limitSessions returns [askback.ErrTooMany] if this agent has as many open sessions as it may have.
// Runs of hosted agents have a limit of their own. The turn of a session without open asks ends
// instead if nothing has happened in it for idleTime: clients that are gone end no session, and an ask
// or a message continues it.
func (c *client) limitSessions(t *tx) error {
	limit := c.engine.quota.maxSessions
	if limit == 0 {
		return nil
	}
	n, err := c.engine.store.CountOpen(t.ctx, kindSession, c.who.Name, limit)
	if err != nil || n < limit {
		return fromStore(err)
	}
	u := c.engine.quota.usage(c.who.Name)
	u.mu.Lock()
	recent := t.now.Sub(u.sessionsFull).Abs() < sessionsPause
	u.mu.Unlock()
	if !recent {
		free, err := c.freeSession(t, limit)
		if free || err != nil {
			return err
		}
		u.mu.Lock()
		u.sessionsFull = t.now
		u.mu.Unlock()
	}
	return &askback.RetryError{
		Err: askback.ErrTooMany, After: fullRetryAfter,
		Why: fmt.Sprintf("this agent has %d sessions that have not ended, as many as it may have: end some with POST /api/v1/sessions/{id}/cancel, or use them again by their key", limit),
	}
}

// sessionsPause is the minimum time between two searches for room among the sessions of an agent that
// has too many.
const sessionsPause = time.Second

// freeSession reports whether the agent may have another session. It may end the turn of one.
func (c *client) freeSession(t *tx, limit int) (bool, error) {
	n, idle := 0, ""
	for s, err := range c.engine.openSessions(t.ctx, c.who.Name) {
		switch {
		case err != nil:
			return false, err
		case s.Hosted:
			continue
		}
		if n++; idle == "" && isIdle(s, t.now) {
			idle = s.ID
		}
		if n >= limit && idle != "" {
			break
		}
	}
	if n < limit || idle == "" {
		return n < limit, nil
	}
	found, err := t.session(idle)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isIdle(found.state.Session, t.now) {
		return false, nil // it was used in the meantime
	}
	if err != nil {
		return false, err
	}
	return true, found.step(t, lifecycle.SessionCommand{
		By: askback.Actor{Kind: askback.ActorTimer}, At: t.now,
		Command: askback.EndTurn{Reason: "nothing happened for a day, and the agent has many sessions"},
	})
}

// isIdle reports whether the turn of a session may end to make room.
func isIdle(s askback.Session, now time.Time) bool {
	return !s.Ended() && s.AsksPending == 0 && now.Sub(s.UpdatedAt) >= idleTime
}

// openSessions returns the sessions of an owner that have not ended, oldest first.
func (e *Engine) openSessions(ctx context.Context, owner string) func(yield func(askback.Session, error) bool) {
	return func(yield func(askback.Session, error) bool) {
		q := store.Query{Kind: kindSession, Open: new(true), Owner: owner, Limit: store.MaxList}
		for row, err := range e.rows(ctx, q) {
			var state lifecycle.SessionState
			if err == nil {
				if state, err = decodeSession(row); err != nil {
					e.logUnreadable(row, err)
					continue
				}
			}
			if !yield(state.Session, err) {
				return
			}
		}
	}
}

// countRuns returns the number of open sessions of an owner whose agents run here, at most limit.
func (e *Engine) countRuns(ctx context.Context, owner string, limit int) (n int, err error) {
	all, err := e.store.CountOpen(ctx, kindSession, owner, limit)
	if err != nil || all < limit { // most owners have few
		return all, fromStore(err)
	}
	for s, err := range e.openSessions(ctx, owner) {
		if err != nil {
			return 0, err
		}
		if s.Hosted {
			n++
		}
		if n == limit {
			break
		}
	}
	return n, nil
}
