package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

const kindSession = "session"

// sessionOf returns the id of the session that a new ask belongs to. It makes that
// session if the request has a new key for one.
func (s *client) sessionOf(t *tx, n newAsk, a askback.Ask) (string, error) {
	switch {
	case n.sessionID != "":
		row, err := s.engine.store.Read(t.ctx, kindSession, n.sessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Owner != s.who.Name {
			err = askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours", Fix: `"session_key": "your own name for it"`,
			}}
		}
		return n.sessionID, err
	case n.sessionKey == "":
		return ids.Swap(a.ID, ids.Session), nil // a session of its own, without a record
	}
	row, err := s.engine.store.ReadKey(t.ctx, kindSession, n.sessionKey)
	if !errors.Is(err, store.ErrNotFound) {
		return row.ID, err
	}
	made, err := s.startSession(t, askback.SessionRequest{Agent: a.Agent}, n.sessionKey)
	if err != nil {
		return "", err
	}
	return made.row.ID, nil
}

// startSession makes a new session.
func (s *client) startSession(t *tx, r askback.SessionRequest, key string) (*sessionRecord, error) {
	id, err := ids.New(ids.Session, t.now, s.engine.rand)
	if err != nil {
		return nil, err
	}
	if r.Agent == "" {
		r.Agent = s.who.Name
	}
	one := add(t, store.Record{
		Kind: kindSession, ID: id, Stream: id, Key: key, Owner: s.who.Name, Agent: r.Agent, Created: t.now,
	}, lifecycle.SessionState{})
	return one, one.step(t, lifecycle.SessionStarted{At: t.now, Session: askback.Session{
		ID: id, Owner: s.who.Name, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata,
	}})
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
	var one askback.Session
	err := s.engine.update(ctx, func(t *tx) error {
		found, err := s.sessionByKey(t.ctx, key)
		if !errors.Is(err, store.ErrNotFound) {
			one = found
			return err
		}
		made, err := s.startSession(t, r, key)
		if err != nil {
			return err
		}
		one = made.state.Session
		return nil
	})
	if err != nil {
		return askback.Session{}, fmt.Errorf("start: %w", err)
	}
	return one, nil
}

// sessionByKey returns the session with a key.
func (s *client) sessionByKey(ctx context.Context, key string) (askback.Session, error) {
	if key == "" {
		return askback.Session{}, store.ErrNotFound
	}
	row, err := s.engine.store.ReadKey(ctx, kindSession, key)
	if err != nil {
		return askback.Session{}, err
	}
	state, err := decodeSession(row)
	state.Session.Repeated = true
	return state.Session, err
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
	state, err := decodeSession(r)
	if err != nil {
		return askback.Session{}, err
	}
	return state.Session, s.authorizeSession(action, state.Session.Owner)
}

// ownSession returns the session of an ask that has one of its own. A principal that may
// not see the ask may not see the session.
func (s *client) ownSession(ctx context.Context, action askback.Action, ask string) (askback.Session, error) {
	a, err := s.engine.read(ctx, ask)
	if err != nil {
		return askback.Session{}, err
	}
	return s.ownSessionOf(a.state, action)
}

// ownSessionOf returns the session that an ask has of its own. It is waiting while the
// ask is open and ends with it.
func (s *client) ownSessionOf(state lifecycle.AskState, action askback.Action) (askback.Session, error) {
	err := s.authorizeAsk(askback.ActGet, state)
	if action == askback.ActSessions { // the status of a session reveals nothing of the ask
		err = s.authorize(action)
	}
	if err == nil && !state.OwnSession() {
		err = askback.ErrNotFound
	}
	if err != nil {
		return askback.Session{}, err
	}
	a := state.Ask
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
func (s *client) Send(ctx context.Context, id string, cmd askback.Command) (askback.Session, error) {
	if err := s.authorize(cmd.Action()); err != nil {
		return askback.Session{}, err
	}
	if err := cmd.Check(); err != nil {
		return askback.Session{}, err
	}
	var one askback.Session
	err := s.engine.update(ctx, func(t *tx) error {
		found, err := t.session(id)
		if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
			one, err = s.endOwnSession(t, ids.Swap(id, ids.Ask), cmd)
			return err
		}
		if err != nil {
			return err
		}
		if err := s.authorizeSession(cmd.Action(), found.state.Session.Owner); err != nil {
			return err
		}
		err = found.step(t, lifecycle.SessionCommand{By: s.actor(), Via: s.who.Channel, Command: cmd, At: t.now})
		one = found.state.Session
		return err
	})
	if err != nil {
		return askback.Session{}, fmt.Errorf("send to %s: %w", id, err)
	}
	return one, nil
}

// endOwnSession ends the session that an ask has of its own by cancelling the ask. It
// returns an error for any other command: no run reads it.
func (s *client) endOwnSession(t *tx, ask string, cmd askback.Command) (askback.Session, error) {
	a, err := t.ask(ask)
	if err != nil {
		return askback.Session{}, err
	}
	if _, err := s.ownSessionOf(a.state, cmd.Action()); err != nil {
		return askback.Session{}, err
	}
	in := lifecycle.Cancelled{By: s.actor(), Via: s.who.Channel, At: t.now}
	switch cmd := cmd.(type) {
	case askback.EndTurn:
		in.Reason = cmd.Reason
	case askback.EndSession:
		in.Reason = cmd.Reason
	default:
		return askback.Session{}, askback.Invalid{{Detail: "this session is that of a single ask, and ends with it", Fix: "start a session, or name one by session_key"}}
	}
	if err := a.step(t, in); err != nil && !errors.Is(err, askback.ErrSettled) {
		return askback.Session{}, err
	}
	return s.ownSessionOf(a.state, cmd.Action())
}
