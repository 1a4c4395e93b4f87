package txn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// The kinds of the records that machines of package lifecycle step. The record of a session has an empty
// Stream, although the stream of a session equals its id. No list selects sessions by stream, and each
// session would add an entry to the index of streams.
const (
	KindAsk     = "ask"
	KindSession = "session"
	KindGrant   = "grant"
)

// A NewAsk is a checked request with the ask to make.
type NewAsk struct {
	Asked      lifecycle.Asked
	Timeout    time.Duration // the time until the deadline; 0: Asked has the deadline, or the ask has no deadline
	Key        string        // the idempotency key with its owner; "" without a key
	SessionKey string
	SessionID  string // the existing session that the request names
	Route      askback.Route
	Named      bool     // whether the request names the people
	Directed   []string // see [askback.Ask.Directed]
	// Late is the reason why the request is valid only as a repeat. The deadline has passed, the engine
	// cannot send to the callback, or too few people may answer.
	Late error
}

// KindJoined is the kind of the records with the idempotency keys of requests that were joined to an ask. The
// record of the ask has only the first key. Joined keys are never open, and are deleted after their ask.
const KindJoined = "joined_key"

// JoinedState is the state of a record of kind [KindJoined].
type JoinedState struct {
	Ask string `json:"ask"` // its id
}

// DecodeJoined returns the id of the ask in a record of kind [KindJoined].
func DecodeJoined(row store.Record) (string, error) {
	var state JoinedState
	state, err := Readable(state, json.Unmarshal(row.State, &state))
	return state.Ask, err
}

// ReadKey returns the record of the ask that a request with this key made, or to which it was joined. The
// error is [store.ErrNotFound] for any other key.
func (c *Caller) ReadKey(ctx context.Context, key string) (store.Record, error) {
	row, err := c.db.Store.ReadKey(ctx, KindAsk, key)
	if !errors.Is(err, store.ErrNotFound) {
		return row, err
	}
	joined, err := c.db.Store.ReadKey(ctx, KindJoined, key)
	if err != nil {
		return store.Record{}, err
	}
	id, err := DecodeJoined(joined)
	if err != nil {
		return store.Record{}, err
	}
	return c.db.Store.Read(ctx, KindAsk, id)
}

// OpenSessions yields the sessions of an owner that have not ended, oldest first. It omits sessions that
// cannot be read.
func (db *DB) OpenSessions(ctx context.Context, owner string) func(yield func(askback.Session, error) bool) {
	return func(yield func(askback.Session, error) bool) {
		q := store.Query{Kind: KindSession, Open: new(true), Owner: owner, Limit: store.MaxList}
		for row, err := range db.Rows(ctx, q) {
			var state lifecycle.SessionState
			if err == nil {
				if state, err = DecodeSession(row); err != nil {
					db.LogUnreadable(row, err)
					continue
				}
			}
			if !yield(state.Session, err) {
				return
			}
		}
	}
}
