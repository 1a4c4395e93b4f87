package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// sessionOf returns the id of the session that a new ask belongs to, and the callback of the session. It sets the
// title of the session in the ask. It creates the session if the request has a session key that is not in use.
// Without a key or an id, the session is implicit and has no record. The error is an [askback.Invalid] if the session
// in the request does not exist, has another owner, or belongs to a hosted agent.
func (c *client) sessionOf(t *txn.Tx, n *txn.NewAsk, a *askback.Ask) (id string, to txn.Callback, err error) {
	switch {
	case n.SessionID != "":
		row, err := c.engine.db.Store.Read(t.Context(), txn.KindSession, n.SessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Owner != c.Who.Name && n.Asked.Call == 0 {
			err = askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours",
				Fix: `"session_key": "your own name for it"`,
			}}
		}
		return sessionCallback(row, err, n, a)
	case n.SessionKey == "":
		return ids.Swap(a.ID, ids.Session), to, nil // an implicit session, without a record
	}
	row, err := c.engine.db.Store.ReadKey(t.Context(), txn.KindSession, n.SessionKey)
	if !errors.Is(err, store.ErrNotFound) {
		return sessionCallback(row, err, n, a)
	}
	if err := c.limitSessions(t); err != nil {
		return "", to, err
	}
	made, err := c.startSession(t, askback.SessionRequest{Agent: a.Agent}, n.SessionKey)
	if err != nil {
		return "", to, err
	}
	return made.Row.ID, to, nil
}

// sessionCallback returns the id and the callback of the session in row, and sets the title of the session in the
// ask, unless a run has set the subject. The arguments row and err are the result of reading the session for a new
// ask. If err is not nil, sessionCallback only returns err. In a hosted session only its run may ask, because an
// ask of another agent would not resume the run.
func sessionCallback(
	row store.Record, err error, n *txn.NewAsk, a *askback.Ask,
) (id string, to txn.Callback, _ error) {
	if err != nil {
		return "", to, err
	}
	state, err := txn.DecodeSession(row)
	if err == nil && state.Session.Hosted && n.Asked.Call == 0 {
		err = askback.Invalid{{
			Pointer: "/session_id", Detail: "only the hosted agent of this session may ask in it",
			Fix: "leave out the session, or use another session_key",
		}}
	}
	a.SessionTitle = cmp.Or(a.SessionTitle, state.Session.Title)
	return row.ID, txn.Callback{Address: state.Callback, Of: state.CallbackOf}, err
}

// startSession adds a new session to the tx.
func (c *client) startSession(t *txn.Tx, r askback.SessionRequest, key string) (*txn.SessionRecord, error) {
	id, err := c.engine.db.IDs.New(ids.Session, t.Now())
	if err != nil {
		return nil, err
	}
	if r.Agent == "" {
		r.Agent = c.Who.Name
	}
	one := txn.Add(t, store.Record{
		Kind: txn.KindSession, ID: id, Key: key, Owner: c.Who.Name, Agent: r.Agent, Created: t.Now(),
	}, lifecycle.SessionState{})
	return one, one.Step(t, lifecycle.SessionStarted{
		Session:  askback.Session{ID: id, Owner: c.Who.Name, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata},
		Callback: r.CallbackURL, Configured: c.engine.db.Callback(), At: t.Now(),
	})
}

// Start implements [askback.Sessions].
func (c *client) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	action := access.ActStart
	if r.Hosted() {
		action = access.ActRun
	}
	if err := c.Authorize(action); err != nil {
		return askback.Session{}, err
	}
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	if err := c.CheckHosted(ctx, r); err != nil {
		return askback.Session{}, err
	}
	key := c.OwnerKey(r.Key)
	var one askback.Session
	counted := !r.Hosted() || c.Who.Kind != askback.Agent
	err := c.engine.db.Update(ctx, func(t *txn.Tx) error {
		found, err := c.sessionByKey(t, key, r.CallbackURL)
		if !errors.Is(err, store.ErrNotFound) {
			one = found
			return err
		}
		if !counted { // a repeated update must not count the run again
			if err := c.engine.runs.LimitRuns(t.Context(), c.Who.Name); err != nil {
				return err
			}
			counted = true
		}
		if err := c.engine.db.CheckCallback(r.CallbackURL); err != nil {
			return err
		}
		start := c.StartHosted
		if !r.Hosted() {
			if err := c.limitSessions(t); err != nil {
				return err
			}
			start = c.startSession
		}
		made, err := start(t, r, key)
		if err == nil {
			err = t.PerformEffects() // the run steps the session
		}
		if err != nil {
			return err
		}
		one = made.State.Session
		return nil
	})
	if err != nil {
		return askback.Session{}, fmt.Errorf("start: %w", err)
	}
	return one, nil
}

// sessionByKey returns the session with this key, marked as repeated, or
// [store.ErrNotFound]. It changes the callback of the session, unless callback is "".
func (c *client) sessionByKey(t *txn.Tx, key, callback string) (askback.Session, error) {
	if key == "" {
		return askback.Session{}, store.ErrNotFound
	}
	row, err := c.engine.db.Store.ReadKey(t.Context(), txn.KindSession, key)
	if err != nil {
		return askback.Session{}, err
	}
	state, err := txn.DecodeSession(row)
	if err == nil && callback != "" && callback != state.Callback {
		if err := c.engine.db.CheckCallback(callback); err != nil {
			return askback.Session{}, err
		}
		var found *txn.SessionRecord
		if found, err = t.Session(row.ID); err == nil {
			err = found.Step(t, lifecycle.CallbackChanged{Callback: callback, CallbackOf: c.CallbackOf(), At: t.Now()})
		}
	}
	state.Session.Repeated = true
	return state.Session, err
}

// Session implements [askback.Sessions].
func (c *client) Session(ctx context.Context, id string) (askback.Session, error) {
	action := access.ActFollow
	if !access.Ever(c.Who.Kind, action) {
		action = access.ActSessions
	}
	one, err := c.FindSession(ctx, action, id)
	if err != nil {
		return askback.Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return c.RedactSession(one), nil
}

// Send implements [askback.Sessions].
func (c *client) Send(ctx context.Context, id string, cmd askback.Command) (askback.Session, error) {
	if err := c.Authorize(access.OfCommand(cmd)); err != nil {
		return askback.Session{}, err
	}
	if err := cmd.Check(); err != nil {
		return askback.Session{}, err
	}
	var one askback.Session
	hosted, err := c.hosts(ctx, access.OfCommand(cmd), id)
	if _, resumes := cmd.(askback.ResumeSession); err == nil && hosted && resumes && c.Who.Kind == askback.Agent {
		err = c.engine.runs.LimitStarts(c.Who.Name) // each turn counts as a start, because it costs as much
	}
	if err != nil {
		return askback.Session{}, fmt.Errorf("send to %s: %w", id, err)
	}
	err = c.engine.db.Update(ctx, func(t *txn.Tx) error {
		if hosted {
			one, err = c.SendHosted(t, id, cmd)
			return err
		}
		found, err := t.Session(id)
		if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
			one, err = c.endOwnSession(t, ids.Swap(id, ids.Ask), cmd)
			return err
		}
		if err != nil {
			return err
		}
		if err := c.AuthorizeSession(access.OfCommand(cmd), found.State.Session.Owner); err != nil {
			return err
		}
		err = found.Step(t, lifecycle.SessionCommand{By: c.Actor(), Via: c.Who.Channel, Command: cmd, At: t.Now()})
		one = found.State.Session
		return err
	})
	if err != nil {
		return askback.Session{}, fmt.Errorf("send to %s: %w", id, err)
	}
	return one, nil
}

// hosts reports whether a session belongs to a hosted run. If so, hosts also checks that the principal may do
// the action on the session.
func (c *client) hosts(ctx context.Context, action access.Action, id string) (bool, error) {
	row, err := c.engine.db.Store.Read(ctx, txn.KindSession, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, txn.FromStore(err)
	}
	state, err := txn.DecodeSession(row)
	if err != nil || !state.Session.Hosted {
		return false, err
	}
	return true, c.AuthorizeSession(action, state.Session.Owner)
}

// endOwnSession handles a command to the implicit session of a single ask. EndTurn and EndSession cancel the
// ask, which ends the session. For any other command the result is an error, because the session has no
// record that could store the command.
func (c *client) endOwnSession(t *txn.Tx, ask string, cmd askback.Command) (askback.Session, error) {
	a, err := t.AskNow(ask)
	if err != nil {
		return askback.Session{}, err
	}
	if _, err := c.OwnSession(a.State, access.OfCommand(cmd)); err != nil {
		return askback.Session{}, err
	}
	in := lifecycle.Cancelled{By: c.Actor(), Via: c.Who.Channel, At: t.Now()}
	switch cmd := cmd.(type) {
	case askback.EndTurn:
		in.Reason = cmd.Reason
	case askback.EndSession:
		in.Reason = cmd.Reason
	default:
		return askback.Session{}, askback.Invalid{{
			Detail: "this session belongs to a single ask, and ends with it",
			Fix:    "start a session, or name one by session_key",
		}}
	}
	if err := a.Step(t, in); err != nil && !errors.Is(err, askback.ErrSettled) {
		return askback.Session{}, err
	}
	return c.OwnSession(a.State, access.OfCommand(cmd))
}
