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

const kindAsk = "ask"

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
	if err == nil {
		if err = s.engine.quota.pace(s.who.Name, s.engine.settings.Load().AsksPerMinute, s.engine.clock()); err != nil {
			done(false)
		}
	}
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
			opened = !made.Settled()
			return made, nil
		}
		ended := errors.Is(err, askback.ErrEnded) // the ask may be older than the end of its session
		if !ended && !errors.Is(err, store.ErrConflict) {
			return askback.Ask{}, fmt.Errorf("ask: %w", mine(err))
		}
		found, missing := s.repeated(ctx, a)
		switch {
		case !errors.Is(missing, askback.ErrNotFound):
			return found, missing
		case ended:
			return askback.Ask{}, fmt.Errorf("ask: %w", err)
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
	r, err := r.Normalize()
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
	out.asked.Ask.Repairs = r.Repairs // not what was asked, so not in its fingerprint
	return out, nil
}

// owned puts the asker's name before a key of its own choosing: keys of
// different askers never meet.
func (s *seat) owned(key string) string {
	return strconv.Itoa(len(s.who.Name)) + ":" + s.who.Name + ":" + key
}

// sealed gives a confirmation the digest of what it confirms (F7).
func sealed(agent string, c askback.Confirmation) (*askback.Confirmation, error) {
	var err error
	c.Digest, err = digest("/confirmation/input", agent, c)
	return &c, err
}

// digest is that of a tool call; the arguments stand at a pointer.
func digest(at, agent string, c askback.Confirmation) (string, error) {
	sum, err := canon.ConfirmationDigest(agent, c.Server, c.ToolName, c.Input)
	const fix = "send plain JSON, and large numbers as strings"
	var syntax *canon.SyntaxError
	var number *canon.NumberError
	switch {
	case errors.As(err, &syntax):
		return "", askback.Invalid{{Pointer: at + syntax.Pointer, Detail: syntax.Detail, Fix: fix}}
	case errors.As(err, &number):
		return "", askback.Invalid{{Pointer: at + number.Pointer, Detail: number.Detail, Fix: fix}}
	}
	return sum, err
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
	at, err := s.session(ctx, &a)
	if err != nil {
		return askback.Ask{}, err
	}
	var o opening
	if o.state, o.history, err = lifecycle.Step(lifecycle.State{}, a.asked); err != nil {
		return askback.Ask{}, err
	}
	done, err := e.cover(ctx, &o, a.asked.At)
	defer done()
	if err != nil {
		return askback.Ask{}, err
	}
	return s.commitOpening(ctx, a, o, at)
}

// commitOpening keeps a new ask, and tells of it.
func (s *seat) commitOpening(ctx context.Context, a asking, o opening, at place) (askback.Ask, error) {
	state, now := o.state, a.asked.At
	var c change
	err := c.ask(store.Record{
		Kind: kindAsk, ID: state.Ask.ID, Stream: state.Ask.SessionID, Key: a.key, Owner: state.Owner, Agent: state.Ask.Agent,
		Created: now,
	}, state, o.history, now)
	if err != nil {
		return askback.Ask{}, err
	}
	c.put(o.used...)
	leave, err := s.engine.join(ctx, &c, at, state.Ask, now)
	defer leave()
	if err != nil {
		return askback.Ask{}, err
	}
	if err := s.engine.finish(ctx, c); err != nil {
		return askback.Ask{}, err
	}
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

// describe fills the columns of a record that follow from the state.
func describe(r *store.Record, s lifecycle.State, now time.Time) {
	r.Open, r.Untold = !s.Ask.Settled(), s.Ask.Undelivered()
	r.Status = string(s.Ask.Status)
	r.To = s.Ask.To
	r.Due = s.Due()
	r.Updated = now
}
