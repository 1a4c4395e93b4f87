package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/internal/canon"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// The kinds of record.
const (
	kindAsk     = "ask"
	kindSession = "session"
)

// askTries bounds how often an ask is tried whose key or session somebody else
// makes at the same time: each time it is found made, so a second try is rare.
const askTries = 8

// Ask implements [askback.Asker].
func (s *seat) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if !access.Allowed(s.who.Kind, askback.ActAsk, askback.Own) {
		return askback.Ask{}, fmt.Errorf("ask: %w", askback.ErrForbidden)
	}
	a, err := s.prepare(r)
	if err != nil {
		return askback.Ask{}, err
	}
	if a.late != nil {
		if found, err := s.repeated(ctx, a); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
		return askback.Ask{}, a.late
	}
	done, err := s.engine.reserve(ctx, s.who.Name)
	if err != nil {
		if found, err := s.repeated(ctx, a); err == nil {
			return found, nil
		}
		return askback.Ask{}, fmt.Errorf("ask: %w", mine(err))
	}
	opened := false
	defer func() { done(opened) }()
	for range askTries {
		made, err := s.open(ctx, a)
		if err == nil {
			opened = true
			return made, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return askback.Ask{}, fmt.Errorf("ask: %w", mine(err))
		}
		found, err := s.repeated(ctx, a)
		if !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
	}
	return askback.Ask{}, fmt.Errorf("ask: %w", askback.ErrBusy)
}

// asking is a request on its way to an ask.
type asking struct {
	asked      lifecycle.Asked
	key        string // unique among all asks; "" is none
	sessionKey string
	sessionID  string // named by the asker
	late       error  // why it can only be a repeat: its deadline is past
}

// prepare makes an ask of a request, and reads nothing.
func (s *seat) prepare(r askback.Request) (asking, error) {
	r, _, err := r.Normalize()
	if err != nil {
		return asking{}, err
	}
	if r.Agent == "" {
		r.Agent = s.who.Name
	}
	now := s.engine.clock()
	a := askback.Ask{
		Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions, Context: r.Context,
		To: r.To, Quorum: r.Quorum, Tags: r.Tags, OnTimeout: r.OnTimeout,
	}
	if r.Confirmation != nil {
		a.Kind = askback.Confirm
		a.Confirmation, err = sealed(r.Agent, *r.Confirmation)
		if err != nil {
			return asking{}, err
		}
	}
	out := asking{asked: lifecycle.Asked{Ask: a, Owner: s.who.Name, At: now}, sessionID: r.SessionID}
	if r.SessionKey != "" {
		out.sessionKey = s.owned(r.SessionKey)
	}
	if r.Key != "" {
		out.key = s.owned(r.Key)
		if out.asked.Request, err = fingerprint(a, r); err != nil {
			return asking{}, err
		}
	}
	out.asked.Ask.Deadline, out.late = deadline(r, now)
	return out, nil
}

// owned puts the asker's name before a key of its own choosing: keys of
// different askers never meet.
func (s *seat) owned(key string) string {
	return strconv.Itoa(len(s.who.Name)) + ":" + s.who.Name + ":" + key
}

// sealed gives a confirmation the digest of what it confirms (F7).
func sealed(agent string, c askback.Confirmation) (*askback.Confirmation, error) {
	digest, err := canon.ConfirmationDigest(agent, c.Server, c.ToolName, c.Input)
	const at, fix = "/confirmation/input", "send plain JSON, and large numbers as strings"
	var syntax *canon.SyntaxError
	var number *canon.NumberError
	switch {
	case errors.As(err, &syntax):
		return nil, askback.Invalid{{Pointer: at + syntax.Pointer, Detail: syntax.Detail, Fix: fix}}
	case errors.As(err, &number):
		return nil, askback.Invalid{{Pointer: at + number.Pointer, Detail: number.Detail, Fix: fix}}
	}
	c.Digest = digest
	return &c, err
}

// fingerprint is the digest of all that a request says, to know it again by
// its key. Of time it takes what was asked for, not when.
func fingerprint(a askback.Ask, r askback.Request) (string, error) {
	a.SessionID = r.SessionID
	said, err := lifecycle.EncodeFixed(lifecycle.State{Ask: a})
	if err != nil {
		return "", err
	}
	rest, err := json.Marshal([]any{r.To, r.SessionKey, r.Timeout, r.Deadline.UTC()})
	sum := sha256.Sum256(append(said, rest...))
	return "1:" + hex.EncodeToString(sum[:]), err // another way to reckon it gets another number
}

func deadline(r askback.Request, now time.Time) (time.Time, error) {
	switch {
	case r.Timeout != 0:
		return now.Add(r.Timeout).Truncate(time.Millisecond), nil // as it is kept
	case r.Deadline.IsZero() || r.Deadline.After(now):
		return r.Deadline.UTC().Truncate(time.Millisecond), nil
	}
	return time.Time{}, askback.Invalid{{Pointer: "/deadline", Detail: "the deadline is past", Fix: `"timeout": "10m"`}}
}

// open commits a new ask, with its session if that is new.
func (s *seat) open(ctx context.Context, a asking) (askback.Ask, error) {
	e := s.engine
	id, err := ids.New(ids.Ask, a.asked.At, e.rand)
	if err != nil {
		return askback.Ask{}, err
	}
	a.asked.Ask.ID = id
	// Whoever finds the ask in a list steps it when this is done: what is cached
	// and told here would be old otherwise.
	leave, err := e.turns.enter(ctx, id)
	if err != nil {
		return askback.Ask{}, err
	}
	defer leave()
	session, err := s.session(ctx, &a)
	if err != nil {
		return askback.Ask{}, err
	}
	state, history, err := lifecycle.Step(lifecycle.State{}, a.asked)
	if err != nil {
		return askback.Ask{}, err
	}
	r := store.Record{
		Kind: kindAsk, ID: id, Stream: state.Ask.SessionID, Key: a.key, Owner: state.Owner, Agent: state.Ask.Agent,
		Created: a.asked.At,
	}
	describe(&r, state, a.asked.At)
	if r.Fixed, err = lifecycle.EncodeFixed(state); err != nil {
		return askback.Ask{}, err
	}
	if r.State, err = lifecycle.Encode(state); err != nil {
		return askback.Ask{}, err
	}
	events, err := entries(state, history, a.asked.At)
	if err != nil {
		return askback.Ask{}, err
	}
	if err := e.commit(ctx, store.Change{Put: append([]store.Record{r}, session...), Events: events}); err != nil {
		return askback.Ask{}, err
	}
	e.keep(r, state)
	e.due.set(r.Due)
	e.publish(state.Ask, history)
	return state.Ask.Clone(), nil
}

// repeated returns the ask that holds the key of this one, or ErrNotFound.
func (s *seat) repeated(ctx context.Context, a asking) (askback.Ask, error) {
	if a.key == "" {
		return askback.Ask{}, askback.ErrNotFound
	}
	r, err := s.engine.store.ReadKey(ctx, kindAsk, a.key)
	if err != nil {
		return askback.Ask{}, mine(err)
	}
	k, err := decode(r)
	if err != nil {
		return askback.Ask{}, err
	}
	if k.state.Request != a.asked.Request {
		return askback.Ask{}, fmt.Errorf("ask: %w", askback.ErrKeyReused)
	}
	found := k.state.Ask.Clone()
	found.Repeated = true
	return found, nil
}

// session finds the session an ask belongs to, and returns the record of one
// that is new. An ask that names none has one of its own, whose id follows from
// the ask's, so that nothing needs to be kept of it.
func (s *seat) session(ctx context.Context, a *asking) ([]store.Record, error) {
	ask := &a.asked.Ask
	switch {
	case a.sessionID != "":
		r, err := s.engine.store.Read(ctx, kindSession, a.sessionID)
		if errors.Is(err, store.ErrNotFound) || err == nil && r.Owner != s.who.Name {
			return nil, askback.Invalid{{
				Pointer: "/session_id", Detail: "no such session, or it is not yours", Fix: `"session_key": "your own name for it"`,
			}}
		}
		ask.SessionID = a.sessionID
		return nil, err
	case a.sessionKey == "":
		ask.SessionID = ids.Swap(ask.ID, ids.Session)
		return nil, nil
	}
	r, err := s.engine.store.ReadKey(ctx, kindSession, a.sessionKey)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		ask.SessionID = r.ID
		return nil, err
	}
	ask.SessionID, err = ids.New(ids.Session, a.asked.At, s.engine.rand)
	return []store.Record{{
		Kind: kindSession, ID: ask.SessionID, Stream: ask.SessionID, Key: a.sessionKey, Open: true,
		Owner: s.who.Name, Agent: ask.Agent, Created: a.asked.At, Updated: a.asked.At,
		Fixed: []byte(`{"v":1}`), State: []byte(`{"v":1}`),
	}}, err
}

// describe fills the columns of a record that follow from the state.
func describe(r *store.Record, s lifecycle.State, now time.Time) {
	r.Open = !s.Ask.Settled()
	r.Status = string(s.Ask.Status)
	r.To = s.Ask.To
	r.Due = s.Due()
	r.Updated = now
}

// entries are lines of history as the store keeps them.
func entries(s lifecycle.State, history []lifecycle.Entry, now time.Time) ([]store.Event, error) {
	events := make([]store.Event, len(history))
	for i, h := range history {
		data, err := json.Marshal(h)
		if err != nil {
			return nil, err
		}
		events[i] = store.Event{
			Stream: s.Ask.SessionID, Subject: s.Ask.ID, Type: h.Type, At: now, Data: data,
		}
	}
	return events, nil
}
