package askback

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// An Event is one record of the history (wire.md §4).
type Event struct {
	Cursor    Cursor
	Seq       int64 // number within its session, without gaps; 0 is a snapshot
	SessionID string
	Type      string
	At        time.Time
	Data      json.RawMessage
}

// A Cursor is a position in a stream of events. It is opaque, and valid only for
// the stream that returned it. The zero value is no position.
type Cursor string

// A Events streams the events of the history.
type Events interface {
	// Events returns the events of a session, or of every session that this
	// principal may read if sessionID is "". With a cursor, the first event is
	// the one after it. Without one, or if the history no longer reaches back
	// to it, the first event is a "snapshot" of the present state.
	//
	// Each event is returned once, in order, until ctx ends or a read fails.
	// Then the last pair has an error.
	Events(ctx context.Context, sessionID string, after Cursor) iter.Seq2[Event, error]
}
