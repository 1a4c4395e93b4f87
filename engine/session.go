package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

const kindSession = "session"

// A sessionRef is the session that a new ask belongs to. It is zero for an ask
// with a session of its own: that one has no record, its id follows from the
// id of the ask.
type sessionRef struct {
	existingID string                 // set if the session exists
	record     *store.Record          // set if the session is new
	state      lifecycle.SessionState // the state of record
}

// session returns the session that a new ask belongs to, and sets its id in the ask.
func (s *client) session(ctx context.Context, a *asking) (sessionRef, error) {
	ask := &a.asked.Ask
	switch {
	case a.sessionID != "":
		r, err := s.engine.store.Read(ctx, kindSession, a.sessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && r.Owner != s.who.Name {
			return sessionRef{}, askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours", Fix: `"session_key": "your own name for it"`,
			}}
		}
		ask.SessionID = a.sessionID
		return sessionRef{existingID: a.sessionID}, err
	case a.sessionKey == "":
		ask.SessionID = ids.Swap(ask.ID, ids.Session)
		return sessionRef{}, nil
	}
	r, err := s.engine.store.ReadKey(ctx, kindSession, a.sessionKey)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		ask.SessionID = r.ID
		return sessionRef{existingID: r.ID}, err
	}
	made, err := s.newSession(askback.SessionRequest{Agent: ask.Agent}, a.sessionKey, a.asked.At)
	ask.SessionID = made.state.Session.ID
	return made, err
}

// newSession returns a new session. It commits nothing.
func (s *client) newSession(r askback.SessionRequest, key string, now time.Time) (sessionRef, error) {
	id, err := ids.New(ids.Session, now, s.engine.rand)
	if err != nil {
		return sessionRef{}, err
	}
	if r.Agent == "" {
		r.Agent = s.who.Name
	}
	one := askback.Session{ID: id, Owner: s.who.Name, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata}
	state, _, _, err := lifecycle.StepSession(lifecycle.SessionState{}, lifecycle.SessionStarted{Session: one, At: now})
	return sessionRef{
		record: &store.Record{Kind: kindSession, ID: id, Stream: id, Key: key, Owner: s.who.Name, Agent: r.Agent, Created: now},
		state:  state,
	}, err
}

// hasOwnSession reports whether an ask has a session of its own, without a record.
func hasOwnSession(a askback.Ask) bool { return a.SessionID == ids.Swap(a.ID, ids.Session) }

// addToSession adds the session of a new ask to the change that opens it. A new
// session is started first. The caller calls unlock after the commit.
func (e *Engine) addToSession(ctx context.Context, c *change, at sessionRef, a askback.Ask, now time.Time) (unlock func(), err error) {
	unlock = func() {}
	if hasOwnSession(a) {
		return unlock, nil
	}
	r, state := at.record, at.state
	var history []lifecycle.Event
	if r != nil {
		started := state.Session
		history = append(history, lifecycle.Event{Type: askback.EventSessionStarted, Session: &started})
	} else if unlock, r, state, err = e.lockSession(ctx, at.existingID); err != nil {
		return unlock, err
	}
	events := []lifecycle.SessionInput{lifecycle.AskOpened{Ask: a, At: now}}
	if a.Settled() {
		events = append(events, lifecycle.AskClosed{Ask: a, At: now})
	}
	for _, ev := range events {
		next, entries, _, err := lifecycle.StepSession(state, ev)
		if err != nil {
			return unlock, err
		}
		state, history = next, append(history, entries...)
	}
	return unlock, c.session(*r, state, history, now)
}

// lockSession locks a session and reads it.
func (e *Engine) lockSession(ctx context.Context, id string) (unlock func(), r *store.Record, state lifecycle.SessionState, err error) {
	if unlock, err = e.locks.lock(ctx, id); err != nil {
		return func() {}, nil, state, err
	}
	read, err := e.store.Read(ctx, kindSession, id)
	if err != nil {
		return unlock, nil, state, err
	}
	state, err = lifecycle.DecodeSession(read.Fixed, read.State)
	read.Fixed, read.State = nil, nil
	return unlock, &read, state, err
}

// session adds a session with its next state to the change. For a new session, its
// first line of history comes before the lines of its asks.
func (c *change) session(r store.Record, next lifecycle.SessionState, history []lifecycle.Event, now time.Time) (err error) {
	one := next.Session
	r.Open, r.Status, r.Updated = !one.Ended(), string(one.Status), now
	if r.Version == 0 {
		if r.Fixed, err = lifecycle.EncodeSessionFixed(next); err != nil {
			return err
		}
	}
	if r.State, err = lifecycle.EncodeSession(next); err != nil {
		return err
	}
	c.put(r)
	asks := c.Events
	if r.Version == 0 {
		c.Events = nil
		if err := c.addEvents(r.ID, r.ID, history[:1], now); err != nil {
			return err
		}
		c.Events, history = append(c.Events, asks...), history[1:]
	}
	return c.addEvents(r.ID, r.ID, history, now)
}

// closeInSession adds the session of an ask to the change that settles the ask. If a
// deadline fails the session, its other open asks are cancelled in the same change.
func (e *Engine) closeInSession(ctx context.Context, c *change, a askback.Ask, now time.Time) (unlock func(), err error) {
	unlock = func() {}
	if hasOwnSession(a) {
		return unlock, nil
	}
	unlock, r, state, err := e.lockSession(ctx, a.SessionID)
	if errors.Is(err, store.ErrNotFound) {
		return unlock, nil // the session was deleted, but not the ask
	}
	if err != nil {
		return unlock, err
	}
	next, history, cancel, err := lifecycle.StepSession(state, lifecycle.AskClosed{Ask: a, At: now})
	if err != nil {
		return unlock, err
	}
	if err := c.session(*r, next, history, now); err != nil || cancel == nil {
		return unlock, err
	}
	return unlock, e.cancelOpenAsks(ctx, c, a.SessionID, a.ID, *cancel, now)
}

// cancelOpenAsks adds the cancellation of a session's open asks to the change. It
// does not lock them: settling one of them needs the lock of the session, and any
// other concurrent step is a conflict.
func (e *Engine) cancelOpenAsks(ctx context.Context, c *change, session, except string, w lifecycle.Withdrawal, now time.Time) error {
	open := true
	q := store.Query{Kind: kindAsk, Stream: session, Open: &open, Limit: listChunk}
	for {
		records, err := e.store.List(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range records {
			if q.After = r.ID; r.ID == except {
				continue
			}
			k, err := decode(r)
			if err != nil {
				return err
			}
			next, history, err := lifecycle.Step(k.state, lifecycle.Cancelled{By: w.By, Via: w.Via, Reason: w.Reason, At: now})
			if err != nil {
				return err
			}
			if err := c.ask(k.record, next, history, now); err != nil {
				return err
			}
		}
		if len(records) < q.Limit {
			return nil
		}
	}
}

// Start implements [askback.Sessions].
func (s *client) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	if err := s.authorize(askback.ActStart); err != nil {
		return askback.Session{}, err
	}
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	key := ""
	if r.Key != "" {
		key = s.ownerKey(r.Key)
	}
	for range askTries {
		found, err := s.sessionByKey(ctx, key)
		if !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
		made, err := s.start(ctx, r, key)
		if !errors.Is(err, store.ErrConflict) {
			return made, fromStore(err)
		}
	}
	return askback.Session{}, fmt.Errorf("start: %w", askback.ErrBusy)
}

// sessionByKey returns the session with a key.
func (s *client) sessionByKey(ctx context.Context, key string) (askback.Session, error) {
	if key == "" {
		return askback.Session{}, store.ErrNotFound
	}
	r, err := s.engine.store.ReadKey(ctx, kindSession, key)
	if errors.Is(err, store.ErrNotFound) {
		return askback.Session{}, err
	}
	if err != nil {
		return askback.Session{}, fromStore(err)
	}
	state, err := lifecycle.DecodeSession(r.Fixed, r.State)
	state.Session.Repeated = true
	return state.Session, err
}

func (s *client) start(ctx context.Context, r askback.SessionRequest, key string) (askback.Session, error) {
	now := s.engine.clock()
	at, err := s.newSession(r, key, now)
	if err != nil {
		return askback.Session{}, err
	}
	started := at.state.Session
	var c change
	if err := c.session(*at.record, at.state, []lifecycle.Event{{Type: askback.EventSessionStarted, Session: &started}}, now); err != nil {
		return askback.Session{}, err
	}
	return at.state.Session, s.engine.finish(ctx, c)
}

// authorizeSession returns an error unless this principal may do an action on a
// session of this owner.
func (s *client) authorizeSession(action askback.Action, owner string) error {
	relation := askback.Recipient // people see all sessions, but only the asks addressed to them
	if s.who.Kind == askback.Agent {
		relation = askback.Unrelated
		if owner == s.who.Name {
			relation = askback.Owner
		}
	}
	return s.authorizeRelation(action, relation)
}

// Session implements [askback.Sessions].
func (s *client) Session(ctx context.Context, id string) (askback.Session, error) {
	action := askback.ActFollow
	if !access.Ever(s.who.Kind, action) {
		action = askback.ActSessions
	}
	one, err := s.findSession(ctx, action, id)
	if err != nil {
		return askback.Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return s.redactSession(one), nil
}

// findSession returns a session, if this principal may do an action on it. It also
// finds the session that a single ask has of its own.
func (s *client) findSession(ctx context.Context, action askback.Action, id string) (askback.Session, error) {
	r, err := s.engine.store.Read(ctx, kindSession, id)
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		return s.ownSession(ctx, action, ids.Swap(id, ids.Ask))
	}
	if err != nil {
		return askback.Session{}, fromStore(err)
	}
	state, err := lifecycle.DecodeSession(r.Fixed, r.State)
	if err != nil {
		return askback.Session{}, err
	}
	return state.Session, s.authorizeSession(action, state.Session.Owner)
}

// ownSession returns the session of an ask that has one of its own. It is waiting
// while the ask is open and ends with it. A principal that may not see the ask may
// not see the session.
func (s *client) ownSession(ctx context.Context, action askback.Action, ask string) (askback.Session, error) {
	k, err := s.engine.read(ctx, ask)
	switch {
	case err != nil:
	case action == askback.ActSessions: // the status of a session reveals nothing of the ask
		err = s.authorize(action)
	default:
		err = s.authorizeAsk(askback.ActGet, k.state)
	}
	if err == nil && !hasOwnSession(k.state.Ask) {
		err = askback.ErrNotFound
	}
	if err != nil {
		return askback.Session{}, err
	}
	a := k.state.Ask
	one := askback.Session{
		ID: a.SessionID, Agent: a.Agent, Owner: a.Owner, Title: a.Title, Status: askback.SessionWaiting,
		AsksPending: 1, AsksTotal: 1, CreatedAt: a.CreatedAt, UpdatedAt: a.CreatedAt,
	}
	if o := a.Outcome; o != nil {
		one.Status, one.AsksPending, one.UpdatedAt, one.CompletedAt = askback.SessionCompleted, 0, o.At, o.At
		if o.Status == askback.Expired && a.OnTimeout == askback.OnTimeoutFail {
			one.Status, one.Error = askback.SessionFailed, o.Reason
		}
	}
	return one, s.authorizeSession(action, a.Owner)
}

// Send implements [askback.Sessions].
func (s *client) Send(ctx context.Context, id string, t askback.Command) (askback.Session, error) {
	if err := s.authorize(t.Action()); err != nil {
		return askback.Session{}, err
	}
	if err := t.Check(); err != nil {
		return askback.Session{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		one, err := s.tell(limited, id, t)
		if !errors.Is(err, store.ErrConflict) {
			if err != nil {
				return askback.Session{}, fmt.Errorf("tell %s: %w", id, timeoutCause(limited, fromStore(err)))
			}
			return one, nil
		}
		if err := backOff(limited, attempt); err != nil {
			return askback.Session{}, err
		}
	}
}

func (s *client) tell(ctx context.Context, id string, t askback.Command) (askback.Session, error) {
	unlock, r, state, err := s.engine.lockSession(ctx, id)
	defer unlock()
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		return s.endOwnSession(ctx, ids.Swap(id, ids.Ask), t)
	}
	if err != nil {
		return askback.Session{}, err
	}
	if err := s.authorizeSession(t.Action(), state.Session.Owner); err != nil {
		return askback.Session{}, err
	}
	now := s.engine.nowAfter(*r)
	by := askback.Actor{Kind: askback.ActorPerson, Name: s.who.Name}
	if s.who.Kind == askback.Agent {
		by.Kind = askback.ActorAgent
	}
	next, history, w, err := lifecycle.StepSession(state, lifecycle.SessionCommand{By: by, Via: s.who.Channel, Command: t, At: now})
	if err != nil || len(history) == 0 {
		return state.Session, err
	}
	var c change
	if err := c.session(*r, next, history, now); err != nil {
		return state.Session, err
	}
	if w != nil {
		if err := s.engine.cancelOpenAsks(ctx, &c, id, "", *w, now); err != nil {
			return state.Session, err
		}
	}
	return next.Session, s.engine.finish(ctx, c)
}

// endOwnSession ends the session that an ask has of its own by cancelling the ask. It
// returns an error for any other input: no run reads it.
func (s *client) endOwnSession(ctx context.Context, ask string, t askback.Command) (askback.Session, error) {
	one, err := s.ownSession(ctx, t.Action(), ask)
	if err != nil {
		return askback.Session{}, err
	}
	reason := ""
	switch t := t.(type) {
	case askback.EndTurn:
		reason = t.Reason
	case askback.EndSession:
		reason = t.Reason
	default:
		return one, askback.Invalid{{Detail: "this session is that of a single ask, and ends with it", Fix: "start a session, or name one by session_key"}}
	}
	by := askback.Actor{Kind: askback.ActorPerson, Name: s.who.Name}
	if s.who.Kind == askback.Agent {
		by.Kind = askback.ActorAgent
	}
	_, err = s.engine.step(ctx, ask, func(_ lifecycle.State, now time.Time) (lifecycle.Input, error) {
		return lifecycle.Cancelled{By: by, Via: s.who.Channel, Reason: reason, At: now}, nil
	})
	if err != nil && !errors.Is(err, askback.ErrSettled) {
		return one, err
	}
	return s.ownSession(ctx, t.Action(), ask)
}
