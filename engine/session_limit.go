package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// idleTime is how long a session must be idle before it may make room for another session of its agent.
const idleTime = 24 * time.Hour

// limitSessions returns [askback.ErrTooMany] if this agent has the maximum number of open sessions. Runs of
// hosted agents have a separate limit. If a session without open asks has been idle for idleTime,
// limitSessions ends its turn to make room. Clients that have gone away end no session. An ask or a message
// continues a session whose turn was ended.
func (c *client) limitSessions(t *txn.Tx) error {
	limit := c.engine.db.Quota.MaxSessions
	if limit == 0 {
		return nil
	}
	n, err := c.engine.db.Store.CountOpen(t.Context(), txn.KindSession, c.Who.Name, limit)
	if err != nil || n < limit {
		return txn.FromStore(err)
	}
	u := c.engine.db.Quota.Usage(c.Who.Name)
	u.Mu.Lock()
	recent := t.Now().Sub(u.SessionsFull).Abs() < sessionsPause
	u.Mu.Unlock()
	if !recent {
		free, err := c.freeSession(t, limit)
		if free || err != nil {
			return err
		}
		u.Mu.Lock()
		u.SessionsFull = t.Now()
		u.Mu.Unlock()
	}
	return &askback.RetryError{
		Err: askback.ErrTooMany, After: txn.FullRetryAfter,
		Why: fmt.Sprintf("this agent has %d open sessions, the maximum: end some with POST "+
			"/api/v1/sessions/{id}/cancel, or reuse them by their keys", limit),
	}
}

// sessionsPause is the minimum time between two searches for idle sessions of an agent that has too many.
const sessionsPause = time.Second

// freeSession reports whether the agent may have another session. It may end the turn of an idle session to
// make room.
func (c *client) freeSession(t *txn.Tx, limit int) (bool, error) {
	n, idle := 0, ""
	for s, err := range c.engine.db.OpenSessions(t.Context(), c.Who.Name) {
		switch {
		case err != nil:
			return false, err
		case s.Hosted:
			continue
		}
		if n++; idle == "" && isIdle(s, t.Now()) {
			idle = s.ID
		}
		if n >= limit && idle != "" {
			break
		}
	}
	if n < limit || idle == "" {
		return n < limit, nil
	}
	found, err := t.Session(idle)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isIdle(found.State.Session, t.Now()) {
		return false, nil // the session was used in the meantime
	}
	if err != nil {
		return false, err
	}
	return true, found.Step(t, lifecycle.SessionCommand{
		By: askback.Actor{Kind: askback.ActorTimer}, At: t.Now(),
		Command: askback.EndTurn{Reason: "nothing happened for a day, and the agent has many sessions"},
	})
}

// isIdle reports whether the turn of a session may end to make room.
func isIdle(s askback.Session, now time.Time) bool {
	return !s.Ended() && s.AsksPending == 0 && now.Sub(s.UpdatedAt) >= idleTime
}
