// Package store is the shape of what Askback keeps: records that are compared
// and committed, the history written beside them, and the work that follows.
//
// It holds types, and what makes a change well formed. A store compares
// versions; it never decides and never runs code of ours. What the columns mean is the engine's affair.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a store answers when it cannot do as told.
var (
	// ErrNotFound says that no record has this id or key.
	ErrNotFound = errors.New("no such record")
	// ErrConflict says that a record has another version than the change was
	// made for, exists where it must not, or that a key is taken. Nothing of
	// the change was kept; read again and step again.
	ErrConflict = errors.New("the record has changed")
	// ErrUnknown says that the change may or may not have been kept: the disk
	// or the database failed at the commit itself. Read again by id.
	ErrUnknown = errors.New("it is not known whether the change was kept")
	// ErrFull says that too many changes wait to be written. Nothing of the
	// change was kept; try again later.
	ErrFull = errors.New("too many changes wait to be written")
	// ErrDiskFull is returned when there is no room for a change. Nothing of the
	// change was kept; it can be kept when there is room again.
	ErrDiskFull = errors.New("the disk is full")
	// ErrFailed is returned after the disk or the database failed: nothing is
	// read or kept any more until the store is opened again. Nothing of the
	// change was kept.
	ErrFailed = errors.New("the database failed and takes nothing more until Askback is started again")
	// ErrClosed says that the store was closed. Nothing of the change was kept.
	ErrClosed = errors.New("the store is closed")
)

// A DamagedError names a record that reads otherwise than it was written.
type DamagedError struct{ Kind, ID string }

// Error names the record.
func (e DamagedError) Error() string {
	return fmt.Sprintf("%s %s is damaged: it reads otherwise than it was written", e.Kind, e.ID)
}

// A Record is one long-lived thing. The store reads and compares the columns;
// Fixed and State are bytes to it.
type Record struct {
	Kind    string // what sort of thing: "ask", "session", "token" …
	ID      string // unique within its kind; sorts by time of creation
	Version int64  // 1 when first kept, one more with each change
	Stream  string // the session in whose history its events stand
	Key     string // unique within its kind while set; "" is no key
	Open    bool   // still waits for something
	Untold  bool   // it is over, and its owner was not told yet
	Owner   string // who it belongs to, the name of a principal
	Agent   string // the label people see
	Status  string
	To      []string  // names it is addressed to; none is everybody
	Created time.Time // UTC, milliseconds, like all times here
	Updated time.Time
	Due     time.Time // when it wants to be stepped; zero is never

	Fixed []byte // written once, with the first version
	State []byte // small, rewritten by each change
}

// A Ref names a record and the version it was read with.
type Ref struct {
	Kind    string
	ID      string
	Version int64
}

// An Event is one line of history. Seq and StreamSeq are given by the store,
// in commit order and without gaps: Seq over all streams, StreamSeq within one.
type Event struct {
	Seq       int64
	Stream    string
	StreamSeq int64
	Subject   string // id of the record it happened to
	Type      string
	At        time.Time
	Data      []byte // JSON
}

// A Change is kept whole or not at all.
//
// Each record in Put must still have the version it was read with (0: it must
// not exist) and is kept with the next one. A nil Fixed keeps what is there,
// another replaces it; an empty Key frees the key. Delete compares in the same
// way and comes first, then the records in their order: a key must be free when
// the turn of its record comes. Events are appended in order. Text is UTF-8
// without NUL; see [Change.Check]. Forget cleans lines of history away, before
// any is appended. Effects and their acknowledgements take their place here
// with the first channel.
type Change struct {
	Put    []Record
	Delete []Ref
	Events []Event
	Forget []Lines
}

// Lines are lines of history: those of one subject in a stream, but not the
// stream's newest; or the whole stream when Subject is "". The newest line of
// all stays in either case: no number is given twice.
type Lines struct {
	Stream  string
	Subject string
}

// A Query selects records of one kind, by id, oldest first unless Newest.
// Empty fields select nothing away.
type Query struct {
	Kind   string
	Open   *bool
	Untold bool // only what its owner was not told yet
	Status string
	Stream string
	Owner  string
	Agent  string
	For    string // addressed to this name, or to everybody
	After  string // only ids that come after this one in the order asked for
	Newest bool
	Limit  int // at most this many; a store may take no more than MaxList
}

// MaxList is the most records one List returns.
const MaxList = 1000

// A Store keeps records and history. Its methods may be called from many
// goroutines at once. Bytes and slices handed in or out belong to the caller.
type Store interface {
	// Read returns a record, or ErrNotFound; a store that knows what it wrote may
	// return a DamagedError.
	Read(ctx context.Context, kind, id string) (Record, error)
	// ReadKey returns the record of a kind that holds key, or ErrNotFound.
	ReadKey(ctx context.Context, kind, key string) (Record, error)
	// Commit keeps a change and is durable when it returns nil; first is the
	// Seq of its first event (0 without events). ErrConflict, ErrFull,
	// ErrClosed and an error of ctx mean that nothing was kept; a change whose
	// writing has begun is waited for, whatever ctx says. ErrUnknown means
	// that nobody knows. Any other error means that nothing was kept.
	Commit(ctx context.Context, c Change) (first int64, err error)
	// List returns the records that q selects, without those that are damaged.
	List(ctx context.Context, q Query) ([]Record, error)
	// History returns events with a Seq greater than after, in order of Seq;
	// of one stream, or of all when stream is "". Lines that are damaged are left
	// out.
	History(ctx context.Context, stream string, after int64, limit int) ([]Event, error)
	// Recent returns the newest events of a stream with a Seq less than before,
	// or the newest of all of them when before is 0; the newest comes first.
	// Lines that are damaged are left out.
	Recent(ctx context.Context, stream string, before int64, limit int) ([]Event, error)
	// Head returns the Seq and the StreamSeq of the newest event of a stream,
	// or of all when stream is "" (then n is 0); both are 0 where there is none.
	Head(ctx context.Context, stream string) (seq, n int64, err error)
	// Close lets the changes that were taken finish, refuses others with
	// ErrClosed, and frees what the store holds.
	Close() error
}

// A Queue is work that was committed. Claims of effects join it with the first
// channel.
type Queue interface {
	// Due returns at most n records whose Due is set and not after before, in
	// order of Due, then ID, without those that are damaged.
	Due(ctx context.Context, before time.Time, n int) ([]Record, error)
}
