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
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

const kindAsk = "ask"

// askTries is how often an ask is tried when a concurrent call creates its key or
// session. The second try finds what that call created, so a third is rare.
const askTries = 8

// Ask implements [askback.Asker].
func (s *client) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if !access.Allowed(s.who.Kind, askback.ActAsk, askback.Owner) {
		return askback.Ask{}, fmt.Errorf("ask: %w", askback.ErrForbidden)
	}
	a, err := s.prepare(r)
	if err != nil {
		return askback.Ask{}, err
	}
	if a.late != nil {
		if found, err := s.findByKey(ctx, a); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
		return askback.Ask{}, a.late
	}
	done, err := s.engine.reserve(ctx, s.who.Name)
	if err == nil {
		if err = s.engine.quota.limitRate(s.who.Name, s.engine.settings.Load().AsksPerMinute, s.engine.clock()); err != nil {
			done(false)
		}
	}
	if err != nil {
		if found, err := s.findByKey(ctx, a); err == nil {
			return found, nil
		}
		return askback.Ask{}, fmt.Errorf("ask: %w", fromStore(err))
	}
	opened := false
	defer func() { done(opened) }()
	for range askTries {
		made, err := s.open(ctx, a)
		if err == nil {
			opened = !made.Settled()
			return made, nil
		}
		ended := errors.Is(err, askback.ErrEnded) // the ask with this key may exist since before the session ended
		if !ended && !errors.Is(err, store.ErrConflict) {
			return askback.Ask{}, fmt.Errorf("ask: %w", fromStore(err))
		}
		found, missing := s.findByKey(ctx, a)
		switch {
		case !errors.Is(missing, askback.ErrNotFound):
			return found, missing
		case ended:
			return askback.Ask{}, fmt.Errorf("ask: %w", err)
		}
	}
	return askback.Ask{}, fmt.Errorf("ask: %w", askback.ErrBusy)
}

// asking is a request that was checked, and the ask to be made of it.
type asking struct {
	asked      lifecycle.Asked
	key        string // idempotency key with its owner; "" means none
	sessionKey string
	sessionID  string // the existing session that the request names
	late       error  // the deadline is past: the request is valid only if it repeats an ask
}

// prepare checks a request and makes an ask of it. It does not read the store.
func (s *client) prepare(r askback.Request) (asking, error) {
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
		a.Confirmation, err = withDigest(r.Agent, *r.Confirmation)
		if err != nil {
			return asking{}, err
		}
	}
	out := asking{asked: lifecycle.Asked{Ask: a, Owner: s.who.Name, At: now}, sessionID: r.SessionID}
	if r.SessionKey != "" {
		out.sessionKey = s.ownerKey(r.SessionKey)
	}
	if r.Key != "" {
		out.key = s.ownerKey(r.Key)
		if out.asked.Request, err = fingerprint(a, r); err != nil {
			return asking{}, err
		}
	}
	out.asked.Ask.Deadline, out.late = deadline(r, now)
	out.asked.Ask.Warnings = r.Warnings // after the fingerprint, which does not include them
	return out, nil
}

// ownerKey returns a key with the name of this principal in front, so that equal
// keys of different principals do not collide.
func (s *client) ownerKey(key string) string {
	return strconv.Itoa(len(s.who.Name)) + ":" + s.who.Name + ":" + key
}

// withDigest returns a confirmation with the digest of its tool call (F7).
func withDigest(agent string, c askback.Confirmation) (*askback.Confirmation, error) {
	var err error
	c.Digest, err = digest("/confirmation/input", agent, c)
	return &c, err
}

// digest returns the digest of a tool call. at is the JSON pointer of the arguments
// in the request, for errors.
func digest(at, agent string, c askback.Confirmation) (string, error) {
	sum, err := jcs.ConfirmationDigest(agent, c.Server, c.ToolName, c.Input)
	const fix = "send plain JSON, and large numbers as strings"
	var syntax *jcs.SyntaxError
	var number *jcs.NumberError
	switch {
	case errors.As(err, &syntax):
		return "", askback.Invalid{{Pointer: at + syntax.Pointer, Detail: syntax.Detail, Fix: fix}}
	case errors.As(err, &number):
		return "", askback.Invalid{{Pointer: at + number.Pointer, Detail: number.Detail, Fix: fix}}
	}
	return sum, err
}

// fingerprint returns a digest of a request, by which a repeat with the same key is
// recognized. It includes the requested timeout and deadline, not the time of the call.
func fingerprint(a askback.Ask, r askback.Request) (string, error) {
	a.SessionID = r.SessionID
	fixed, err := lifecycle.EncodeFixed(lifecycle.State{Ask: a})
	if err != nil {
		return "", err
	}
	rest, err := json.Marshal([]any{r.To, r.SessionKey, r.Timeout, r.Deadline.UTC()})
	sum := sha256.Sum256(append(fixed, rest...))
	return "1:" + hex.EncodeToString(sum[:]), err // the number of this algorithm
}

// deadline returns the deadline that a request asks for, or an error if it is past.
func deadline(r askback.Request, now time.Time) (time.Time, error) {
	switch {
	case r.Timeout != 0:
		return now.Add(r.Timeout).Truncate(time.Millisecond), nil // as it is stored
	case r.Deadline.IsZero() || r.Deadline.After(now):
		return r.Deadline.UTC().Truncate(time.Millisecond), nil
	}
	return time.Time{}, askback.Invalid{{Pointer: "/deadline", Detail: "the deadline is past", Fix: `"timeout": "10m"`}}
}

// open commits a new ask, with its session if that is new.
func (s *client) open(ctx context.Context, a asking) (askback.Ask, error) {
	e := s.engine
	id, err := ids.New(ids.Ask, a.asked.At, e.rand)
	if err != nil {
		return askback.Ask{}, err
	}
	a.asked.Ask.ID = id
	// Another caller can find the ask in a list as soon as it is committed. Its
	// steps wait until this one is cached and published.
	unlock, err := e.locks.lock(ctx, id)
	if err != nil {
		return askback.Ask{}, err
	}
	defer unlock()
	at, err := s.session(ctx, &a)
	if err != nil {
		return askback.Ask{}, err
	}
	var o opening
	if o.state, o.history, err = lifecycle.Step(lifecycle.State{}, a.asked); err != nil {
		return askback.Ask{}, err
	}
	done, err := e.applyGrant(ctx, &o, a.asked.At)
	defer done()
	if err != nil {
		return askback.Ask{}, err
	}
	return s.commitOpening(ctx, a, o, at)
}

// commitOpening commits and publishes a new ask.
func (s *client) commitOpening(ctx context.Context, a asking, o opening, at sessionRef) (askback.Ask, error) {
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
	unlock, err := s.engine.addToSession(ctx, &c, at, state.Ask, now)
	defer unlock()
	if err != nil {
		return askback.Ask{}, err
	}
	if err := s.engine.finish(ctx, c); err != nil {
		return askback.Ask{}, err
	}
	return state.Ask.Clone(), nil
}

// findByKey returns the ask with the same key, or ErrNotFound. The error is
// [askback.ErrKeyReused] if that ask was made by a different request.
func (s *client) findByKey(ctx context.Context, a asking) (askback.Ask, error) {
	if a.key == "" {
		return askback.Ask{}, askback.ErrNotFound
	}
	r, err := s.engine.store.ReadKey(ctx, kindAsk, a.key)
	if err != nil {
		return askback.Ask{}, fromStore(err)
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

// describe sets the columns of a record that are derived from the state.
func describe(r *store.Record, s lifecycle.State, now time.Time) {
	r.Open, r.Unacked = !s.Ask.Settled(), s.Ask.Unacked()
	r.Status = string(s.Ask.Status)
	r.To = s.Ask.To
	r.Due = s.Due()
	r.Updated = now
}
