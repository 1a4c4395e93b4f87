package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// kindSession is the kind of the record of a session. Its stream is its id, so the record has
// none: no list selects sessions by it, and the index by streams would have an entry more.
const kindSession = "session"

// sessionOf returns the id of the session that a new ask belongs to, and its callback. It makes the session if
// the request has a session key that is not in use. Without a key or an id, the session is
// an implicit one, which has no record. The error is [askback.Invalid] if the request names
// a session that does not exist or has another owner.
func (c *client) sessionOf(t *tx, n *newAsk, a *askback.Ask) (id string, to callback, err error) {
	switch {
	case n.sessionID != "":
		row, err := c.engine.store.Read(t.ctx, kindSession, n.sessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Owner != c.who.Name && n.asked.Call == 0 {
			err = askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours", Fix: `"session_key": "your own name for it"`,
			}}
		}
		return sessionCallback(row, err, n)
	case n.sessionKey == "":
		return ids.Swap(a.ID, ids.Session), to, nil // an implicit session, without a record
	}
	row, err := c.engine.store.ReadKey(t.ctx, kindSession, n.sessionKey)
	if !errors.Is(err, store.ErrNotFound) {
		return sessionCallback(row, err, n)
	}
	if err := c.limitSessions(t); err != nil {
		return "", to, err
	}
	made, err := c.startSession(t, askback.SessionRequest{Agent: a.Agent}, n.sessionKey)
	if err != nil {
		return "", to, err
	}
	return made.row.ID, to, nil
}

// A callback is the address that receives the events of the asks of a session, and the person who
// named it. An agent or the settings named it if of is "".
type callback struct{ address, of string }

// sessionCallback returns the id and the callback of the session of a new ask, which was read
// with the error err. If err is not nil, sessionCallback only returns it. Only the run of a
// hosted session asks in it: it would not go on after an ask of another agent.
func sessionCallback(row store.Record, err error, n *newAsk) (id string, to callback, _ error) {
	if err != nil {
		return "", to, err
	}
	state, err := decodeSession(row)
	if err == nil && state.Session.Hosted && n.asked.Call == 0 {
		err = askback.Invalid{{
			Pointer: "/session_id", Detail: "Askback runs this session itself, and only its agent asks in it", Fix: "leave out the session, or use another session_key",
		}}
	}
	return row.ID, callback{state.Callback, state.CallbackOf}, err
}

// callbackOf returns the name of the principal, if it is a person: then the callback that it names
// gets only what the person may see.
func (c *client) callbackOf() string {
	if c.who.Kind == askback.Agent {
		return ""
	}
	return c.who.Name
}

// startSession adds a new session to the tx.
func (c *client) startSession(t *tx, r askback.SessionRequest, key string) (*sessionRecord, error) {
	id, err := c.engine.ids.New(ids.Session, t.now)
	if err != nil {
		return nil, err
	}
	if r.Agent == "" {
		r.Agent = c.who.Name
	}
	one := add(t, store.Record{
		Kind: kindSession, ID: id, Key: key, Owner: c.who.Name, Agent: r.Agent, Created: t.now,
	}, lifecycle.SessionState{})
	return one, one.step(t, lifecycle.SessionStarted{
		Session:  askback.Session{ID: id, Owner: c.who.Name, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata},
		Callback: r.CallbackURL, Configured: c.engine.callback(), At: t.now,
	})
}

// Start implements [askback.Sessions].
func (c *client) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	action := access.ActStart
	if r.Hosted() {
		action = access.ActRun
	}
	if err := c.authorize(action); err != nil {
		return askback.Session{}, err
	}
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	if err := c.checkHosted(ctx, r); err != nil {
		return askback.Session{}, err
	}
	key := c.ownerKey(r.Key)
	var one askback.Session
	counted := !r.Hosted() || c.who.Kind != askback.Agent
	err := c.engine.update(ctx, func(t *tx) error {
		found, err := c.sessionByKey(t, key, r.CallbackURL)
		if !errors.Is(err, store.ErrNotFound) {
			one = found
			return err
		}
		if !counted { // not again if the update is repeated
			if err := c.engine.limitRuns(t.ctx, c.who.Name); err != nil {
				return err
			}
			counted = true
		}
		if err := c.engine.checkCallback(r.CallbackURL); err != nil {
			return err
		}
		start := c.startHosted
		if !r.Hosted() {
			if err := c.limitSessions(t); err != nil {
				return err
			}
			start = c.startSession
		}
		made, err := start(t, r, key)
		if err == nil {
			err = t.performEffects() // the run steps the session
		}
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

// sessionByKey returns the session with this key, marked as repeated, or
// [store.ErrNotFound]. It changes the callback of the session, unless callback is "".
func (c *client) sessionByKey(t *tx, key, callback string) (askback.Session, error) {
	if key == "" {
		return askback.Session{}, store.ErrNotFound
	}
	row, err := c.engine.store.ReadKey(t.ctx, kindSession, key)
	if err != nil {
		return askback.Session{}, err
	}
	state, err := decodeSession(row)
	if err == nil && callback != "" && callback != state.Callback {
		if err := c.engine.checkCallback(callback); err != nil {
			return askback.Session{}, err
		}
		var found *sessionRecord
		if found, err = t.session(row.ID); err == nil {
			err = found.step(t, lifecycle.CallbackChanged{Callback: callback, CallbackOf: c.callbackOf(), At: t.now})
		}
	}
	state.Session.Repeated = true
	return state.Session, err
}

// authorizeSession returns an error unless this principal may do an action on a
// session of this owner.
func (c *client) authorizeSession(action access.Action, owner string) error {
	relation := access.Recipient // people see all sessions, but only the asks addressed to them
	if c.who.Kind == askback.Agent {
		relation = access.Unrelated
		if owner == c.who.Name {
			relation = access.Owner
		}
	}
	return c.authorizeRelation(action, relation)
}

// Session implements [askback.Sessions].
func (c *client) Session(ctx context.Context, id string) (askback.Session, error) {
	action := access.ActFollow
	if !access.Ever(c.who.Kind, action) {
		action = access.ActSessions
	}
	one, err := c.findSession(ctx, action, id)
	if err != nil {
		return askback.Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return c.redactSession(one), nil
}

// findSession returns a session, if this principal may do an action on it. It also
// finds the implicit session of a single ask.
func (c *client) findSession(ctx context.Context, action access.Action, id string) (askback.Session, error) {
	r, err := c.engine.store.Read(ctx, kindSession, id)
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		a, err := c.engine.read(ctx, ids.Swap(id, ids.Ask))
		if err != nil {
			return askback.Session{}, err
		}
		return c.ownSession(a.state, action)
	}
	if err != nil {
		return askback.Session{}, fromStore(err)
	}
	state, err := decodeSession(r)
	if err != nil {
		return askback.Session{}, err
	}
	return state.Session, c.authorizeSession(action, state.Session.Owner)
}

// ownSession returns the implicit session of a single ask. It is waiting while the ask is
// open and ends with it. A principal that may not see the ask may see the session only with
// [access.ActSessions]. If the ask belongs to another session, the error is
// [askback.ErrNotFound].
func (c *client) ownSession(state lifecycle.AskState, action access.Action) (askback.Session, error) {
	err := c.authorizeAsk(access.ActGet, &state)
	if action == access.ActSessions { // the status of a session reveals nothing of the ask
		err = c.authorize(action)
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
	return one, c.authorizeSession(action, a.Owner)
}

// Send implements [askback.Sessions].
func (c *client) Send(ctx context.Context, id string, cmd askback.Command) (askback.Session, error) {
	if err := c.authorize(access.OfCommand(cmd)); err != nil {
		return askback.Session{}, err
	}
	if err := cmd.Check(); err != nil {
		return askback.Session{}, err
	}
	var one askback.Session
	hosted, err := c.hosts(ctx, access.OfCommand(cmd), id)
	if _, resumes := cmd.(askback.ResumeSession); err == nil && hosted && resumes && c.who.Kind == askback.Agent {
		err = c.engine.limitStarts(c.who.Name) // each turn costs as much as a run
	}
	if err != nil {
		return askback.Session{}, fmt.Errorf("send to %s: %w", id, err)
	}
	err = c.engine.update(ctx, func(t *tx) error {
		if hosted {
			one, err = c.sendHosted(t, id, cmd)
			return err
		}
		found, err := t.session(id)
		if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
			one, err = c.endOwnSession(t, ids.Swap(id, ids.Ask), cmd)
			return err
		}
		if err != nil {
			return err
		}
		if err := c.authorizeSession(access.OfCommand(cmd), found.state.Session.Owner); err != nil {
			return err
		}
		err = found.step(t, lifecycle.SessionCommand{By: c.actor(), Via: c.who.Channel, Command: cmd, At: t.now})
		one = found.state.Session
		return err
	})
	if err != nil {
		return askback.Session{}, fmt.Errorf("send to %s: %w", id, err)
	}
	return one, nil
}

// hosts reports whether a session is that of a hosted run. If it is, the principal may do the
// action on it.
func (c *client) hosts(ctx context.Context, action access.Action, id string) (bool, error) {
	row, err := c.engine.store.Read(ctx, kindSession, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fromStore(err)
	}
	state, err := decodeSession(row)
	if err != nil || !state.Session.Hosted {
		return false, err
	}
	return true, c.authorizeSession(action, state.Session.Owner)
}

// endOwnSession handles a command to the implicit session of a single ask. EndTurn and
// EndSession cancel the ask, which ends the session. Other commands are an error, because
// the session has no record that could store them.
func (c *client) endOwnSession(t *tx, ask string, cmd askback.Command) (askback.Session, error) {
	a, err := t.askNow(ask)
	if err != nil {
		return askback.Session{}, err
	}
	if _, err := c.ownSession(a.state, access.OfCommand(cmd)); err != nil {
		return askback.Session{}, err
	}
	in := lifecycle.Cancelled{By: c.actor(), Via: c.who.Channel, At: t.now}
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
	return c.ownSession(a.state, access.OfCommand(cmd))
}
