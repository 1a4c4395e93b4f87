package askback

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// An Event is one line of what happened, as wire.md §4 gives it.
type Event struct {
	Cursor    Cursor
	Seq       int64 // counts within its session, without gaps; 0 is a snapshot
	SessionID string
	Type      string
	At        time.Time
	Data      json.RawMessage
}

// A Cursor is a place in what happened. It is opaque: what one stream gave goes
// back into the same stream. "" is no place.
type Cursor string

// A Feed is what happens, as it happens.
type Feed interface {
	// Events returns the events of a session, or of all this principal may see
	// when sessionID is "". With a cursor it goes on behind it; without one, or
	// with one older than what is kept, it begins with an event "snapshot" that
	// tells how things stand. Each event comes once, in order, until ctx ends:
	// then, or when something is wrong, the last pair has an error.
	Events(ctx context.Context, sessionID string, after Cursor) iter.Seq2[Event, error]
}
