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

// A place is the session in which an ask is made. One of its own has no record:
// its id follows from the ask's, and what there is to know from the ask.
type place struct {
	old string                 // the id of one that exists
	new *store.Record          // its record,
	is  lifecycle.SessionState // and what it means
}

// session finds the session an ask belongs to.
func (s *seat) session(ctx context.Context, a *asking) (place, error) {
	ask := &a.asked.Ask
	switch {
	case a.sessionID != "":
		r, err := s.engine.store.Read(ctx, kindSession, a.sessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && r.Owner != s.who.Name {
			return place{}, askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours", Fix: `"session_key": "your own name for it"`,
			}}
		}
		ask.SessionID = a.sessionID
		return place{old: a.sessionID}, err
	case a.sessionKey == "":
		ask.SessionID = ids.Swap(ask.ID, ids.Session)
		return place{}, nil
	}
	r, err := s.engine.store.ReadKey(ctx, kindSession, a.sessionKey)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		ask.SessionID = r.ID
		return place{old: r.ID}, err
	}
	made, err := s.begin(askback.SessionRequest{Agent: ask.Agent}, a.sessionKey, a.asked.At)
	ask.SessionID = made.is.Session.ID
	return made, err
}

// begin makes a session that is not kept yet.
func (s *seat) begin(r askback.SessionRequest, key string, now time.Time) (place, error) {
	id, err := ids.New(ids.Session, now, s.engine.rand)
	if err != nil {
		return place{}, err
	}
	if r.Agent == "" {
		r.Agent = s.who.Name
	}
	one := askback.Session{ID: id, Owner: s.who.Name, Agent: r.Agent, Title: r.Title, Metadata: r.Metadata}
	is, _, _, err := lifecycle.StepSession(lifecycle.SessionState{}, lifecycle.SessionStarted{Session: one, At: now})
	return place{
		new: &store.Record{Kind: kindSession, ID: id, Stream: id, Key: key, Owner: s.who.Name, Agent: r.Agent, Created: now},
		is:  is,
	}, err
}

// own says whether an ask has a session of its own, without a record.
func own(a askback.Ask) bool { return a.SessionID == ids.Swap(a.ID, ids.Session) }

// join adds to the change that opens an ask what it means for its session, and
// first of all the session where it is new. leave comes after the commit.
func (e *Engine) join(ctx context.Context, c *change, at place, a askback.Ask, now time.Time) (leave func(), err error) {
	leave = func() {}
	if own(a) {
		return leave, nil
	}
	r, is := at.new, at.is
	var history []lifecycle.Entry
	if r != nil {
		was := is.Session
		history = append(history, lifecycle.Entry{Type: "session_started", Session: &was})
	} else if leave, r, is, err = e.enter(ctx, at.old); err != nil {
		return leave, err
	}
	events := []lifecycle.SessionEvent{lifecycle.AskOpened{Ask: a, At: now}}
	if a.Settled() {
		events = append(events, lifecycle.AskClosed{Ask: a, At: now})
	}
	for _, ev := range events {
		next, said, _, err := lifecycle.StepSession(is, ev)
		if err != nil {
			return leave, err
		}
		is, history = next, append(history, said...)
	}
	return leave, c.session(*r, is, history, now)
}

// enter waits for its turn with a session and reads it.
func (e *Engine) enter(ctx context.Context, id string) (leave func(), r *store.Record, is lifecycle.SessionState, err error) {
	if leave, err = e.turns.enter(ctx, id); err != nil {
		return func() {}, nil, is, err
	}
	read, err := e.store.Read(ctx, kindSession, id)
	if err != nil {
		return leave, nil, is, err
	}
	is, err = lifecycle.DecodeSession(read.Fixed, read.State)
	read.Fixed, read.State = nil, nil
	return leave, &read, is, err
}

// session adds a session that was stepped. What it says of itself comes before
// what its asks say, where it is new.
func (c *change) session(r store.Record, next lifecycle.SessionState, history []lifecycle.Entry, now time.Time) (err error) {
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
		if err := c.say(r.ID, r.ID, history[:1], now); err != nil {
			return err
		}
		c.Events, history = append(c.Events, asks...), history[1:]
	}
	return c.say(r.ID, r.ID, history, now)
}

// close adds to the change that settles an ask what it means for its session:
// a deadline may fail the run, and with it what else it asked.
func (e *Engine) close(ctx context.Context, c *change, a askback.Ask, now time.Time) (leave func(), err error) {
	leave = func() {}
	if own(a) {
		return leave, nil
	}
	leave, r, is, err := e.enter(ctx, a.SessionID)
	if errors.Is(err, store.ErrNotFound) {
		return leave, nil // it was cleaned away; the ask was not
	}
	if err != nil {
		return leave, err
	}
	next, history, cancel, err := lifecycle.StepSession(is, lifecycle.AskClosed{Ask: a, At: now})
	if err != nil {
		return leave, err
	}
	if err := c.session(*r, next, history, now); err != nil || cancel == nil {
		return leave, err
	}
	return leave, e.withdraw(ctx, c, a.SessionID, a.ID, *cancel, now)
}

// withdraw adds the cancelling of what a session still asks. These asks are
// stepped without a turn of their own: whoever settles one of them waits for the
// session, and whatever else happens to it meanwhile is a conflict.
func (e *Engine) withdraw(ctx context.Context, c *change, session, but string, w lifecycle.Withdrawal, now time.Time) error {
	open := true
	q := store.Query{Kind: kindAsk, Stream: session, Open: &open, Limit: listChunk}
	for {
		records, err := e.store.List(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range records {
			if q.After = r.ID; r.ID == but {
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
func (s *seat) Start(ctx context.Context, r askback.SessionRequest) (askback.Session, error) {
	if err := s.mayEver(askback.ActStart); err != nil {
		return askback.Session{}, err
	}
	if err := r.Check(); err != nil {
		return askback.Session{}, err
	}
	key := ""
	if r.Key != "" {
		key = s.owned(r.Key)
	}
	for range askTries {
		found, err := s.started(ctx, key)
		if !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
		made, err := s.start(ctx, r, key)
		if !errors.Is(err, store.ErrConflict) {
			return made, mine(err)
		}
	}
	return askback.Session{}, fmt.Errorf("start: %w", askback.ErrBusy)
}

// started returns the session that holds a key.
func (s *seat) started(ctx context.Context, key string) (askback.Session, error) {
	if key == "" {
		return askback.Session{}, store.ErrNotFound
	}
	r, err := s.engine.store.ReadKey(ctx, kindSession, key)
	if errors.Is(err, store.ErrNotFound) {
		return askback.Session{}, err
	}
	if err != nil {
		return askback.Session{}, mine(err)
	}
	is, err := lifecycle.DecodeSession(r.Fixed, r.State)
	is.Session.Repeated = true
	return is.Session, err
}

func (s *seat) start(ctx context.Context, r askback.SessionRequest, key string) (askback.Session, error) {
	now := s.engine.clock()
	at, err := s.begin(r, key, now)
	if err != nil {
		return askback.Session{}, err
	}
	was := at.is.Session
	var c change
	if err := c.session(*at.new, at.is, []lifecycle.Entry{{Type: "session_started", Session: &was}}, now); err != nil {
		return askback.Session{}, err
	}
	return at.is.Session, s.engine.finish(ctx, c)
}

// maySession says whether this principal may do an action on a session.
func (s *seat) maySession(action askback.Action, owner string) error {
	relation := askback.Addressed // people see the runs, and of their asks what is put to them
	if s.who.Kind == askback.Agent {
		relation = askback.Bystander
		if owner == s.who.Name {
			relation = askback.Own
		}
	}
	return s.mayIn(action, relation)
}

// Session implements [askback.Sessions].
func (s *seat) Session(ctx context.Context, id string) (askback.Session, error) {
	action := askback.ActFollow
	if !access.Ever(s.who.Kind, action) {
		action = askback.ActSessions
	}
	one, err := s.find(ctx, action, id)
	if err != nil {
		return askback.Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return s.seen(one), nil
}

// find returns a session for an action, also one that an ask has of its own.
func (s *seat) find(ctx context.Context, action askback.Action, id string) (askback.Session, error) {
	r, err := s.engine.store.Read(ctx, kindSession, id)
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		return s.sessionOf(ctx, action, ids.Swap(id, ids.Ask))
	}
	if err != nil {
		return askback.Session{}, mine(err)
	}
	is, err := lifecycle.DecodeSession(r.Fixed, r.State)
	if err != nil {
		return askback.Session{}, err
	}
	return is.Session, s.maySession(action, is.Session.Owner)
}

// sessionOf is the session of an ask that named none: it waits for the ask, and
// ends with it. Who may not see the ask may not see it.
func (s *seat) sessionOf(ctx context.Context, action askback.Action, ask string) (askback.Session, error) {
	k, err := s.engine.read(ctx, ask)
	switch {
	case err != nil:
	case action == askback.ActSessions: // how it stands shows nothing of the ask
		err = s.mayEver(action)
	default:
		err = s.may(askback.ActGet, k.state)
	}
	if err == nil && !own(k.state.Ask) {
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
	return one, s.maySession(action, a.Owner)
}

// Tell implements [askback.Sessions].
func (s *seat) Tell(ctx context.Context, id string, t askback.Tell) (askback.Session, error) {
	if err := s.mayEver(t.Action()); err != nil {
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
				return askback.Session{}, fmt.Errorf("tell %s: %w", id, cause(limited, mine(err)))
			}
			return one, nil
		}
		if err := pause(limited, attempt); err != nil {
			return askback.Session{}, err
		}
	}
}

func (s *seat) tell(ctx context.Context, id string, t askback.Tell) (askback.Session, error) {
	leave, r, is, err := s.engine.enter(ctx, id)
	defer leave()
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		return s.tellOwn(ctx, ids.Swap(id, ids.Ask), t)
	}
	if err != nil {
		return askback.Session{}, err
	}
	if err := s.maySession(t.Action(), is.Session.Owner); err != nil {
		return askback.Session{}, err
	}
	now := s.engine.after(*r)
	by := askback.By{Kind: askback.ByPerson, Name: s.who.Name}
	if s.who.Kind == askback.Agent {
		by.Kind = askback.ByAgent
	}
	next, history, w, err := lifecycle.StepSession(is, lifecycle.Told{By: by, Via: s.who.Via, Tell: t, At: now})
	if err != nil || len(history) == 0 {
		return is.Session, err
	}
	var c change
	if err := c.session(*r, next, history, now); err != nil {
		return is.Session, err
	}
	if w != nil {
		if err := s.engine.withdraw(ctx, &c, id, "", *w, now); err != nil {
			return is.Session, err
		}
	}
	return next.Session, s.engine.finish(ctx, c)
}

// tellOwn ends a session that an ask has of its own by cancelling the ask. There
// is nobody else to be told anything.
func (s *seat) tellOwn(ctx context.Context, ask string, t askback.Tell) (askback.Session, error) {
	one, err := s.sessionOf(ctx, t.Action(), ask)
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
	by := askback.By{Kind: askback.ByPerson, Name: s.who.Name}
	if s.who.Kind == askback.Agent {
		by.Kind = askback.ByAgent
	}
	_, err = s.engine.step(ctx, ask, func(_ lifecycle.State, now time.Time) (lifecycle.Event, error) {
		return lifecycle.Cancelled{By: by, Via: s.who.Via, Reason: reason, At: now}, nil
	})
	if err != nil && !errors.Is(err, askback.ErrSettled) {
		return one, err
	}
	return s.sessionOf(ctx, t.Action(), ask)
}
