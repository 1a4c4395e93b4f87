// Package store defines the interface to a database of Askback: records with versions,
// and the events and effects that are committed with them.
//
// A store compares versions and commits changes. It makes no decisions and calls no
// code of its callers. Package engine defines what the records mean.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors of a store. Unless an error matches ErrUnknown, nothing of the change was
// kept.
var (
	// ErrNotFound is returned if no record has this id or key.
	ErrNotFound = errors.New("no such record")
	// ErrConflict is returned if a record has another version than the change expects. It is also returned if
	// a key is taken, or the id of a new effect. The third case is an effect that is not claimed as its
	// completion requires. Read the record and try again.
	ErrConflict = errors.New("the record was changed meanwhile")
	// ErrUnknown is returned if the disk or the database failed during the
	// commit, so that the change may or may not be kept. Read the record to
	// find out.
	ErrUnknown = errors.New("it is unknown whether the change was kept")
	// ErrFull is returned if too many changes are waiting to be written. Try again
	// later.
	ErrFull = errors.New("too many changes are waiting to be written")
	// ErrDiskFull is returned if the disk has no room for the change. Free some
	// space and try again.
	ErrDiskFull = errors.New("the disk is full")
	// ErrFailed is returned after the disk or the database failed. The store
	// neither reads nor commits until it is opened again.
	ErrFailed = errors.New("the database failed; restart Askback to use it again")
	// ErrClosed is returned after the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// A DamagedError reports a record, event or effect that does not match its checksum. For an effect, Kind is
// "effect". For an event, Kind is "event", and ID has the number and the stream of the event.
type DamagedError struct{ Kind, ID string }

// Error returns a message with Kind and ID.
func (e DamagedError) Error() string {
	return fmt.Sprintf("%s %s is damaged: it does not match its checksum", e.Kind, e.ID)
}

// A Record is one ask, session, grant, token or other item that is stored with a version. The store does not
// interpret Fixed and State, but compares and selects by the other fields.
type Record struct {
	Kind    string // "ask", "session", "token" …
	ID      string // unique within its kind; sorts by time of creation
	Version int64  // 1 when first committed, one more with each change
	Stream  string // the session whose history has its events
	Key     string // unique within its kind; "" means none
	Open    bool   // still active, such as a pending ask
	Unacked bool   // settled, and the owner has not acknowledged it
	Owner   string // the name of the principal that owns the record
	Agent   string // the label of the agent, for people
	Status  string
	To      []string  // the people to whom the record is addressed; empty for every person
	Created time.Time // UTC in milliseconds, like all times here
	Updated time.Time
	Due     time.Time // when the engine acts on the record next, such as its deadline; zero for never

	Fixed []byte // written once, with the first version
	State []byte // small, rewritten by each change
}

// A Ref names a record and the version with which it was read.
type Ref struct {
	Kind    string
	ID      string
	Version int64
}

// An Event is one record of the history. The store assigns Seq over all streams and StreamSeq within a
// stream, in commit order and without gaps.
type Event struct {
	Seq       int64
	Stream    string
	StreamSeq int64
	Subject   string // id of the record that the event is about
	Type      string
	At        time.Time
	Data      []byte // JSON
}

// A Change is committed as a whole or not at all. Each record in Put must have the version with which it was
// read, or 0 if it must not exist. It is stored with the next version. If its Fixed is nil, the stored Fixed
// is kept. If its Key is empty, its old key becomes free. Each record in Delete must exist with its version.
//
// The store applies Done first, then Release, the deletions and Unindex, then the records of Put in order.
// The key of each record must be free by then. Then the store adds Effects, deletes the events that Prune
// selects, and appends Events in order. An effect whose id is taken is a conflict. Text must be UTF-8 without
// NUL; see [Change.Check].
//
// The store does not modify a Change. It copies the data that it keeps, so the caller may reuse the memory
// after Commit has returned.
type Change struct {
	Put     []Record      // records to create or replace
	Delete  []Ref         // records to delete, with their effects
	Events  []Event       // events to append
	Unindex []string      // ids of records whose documents are removed from the index
	Prune   []EventFilter // events to delete
	Effects []Effect      // new effects of records in Put
	Done    []Completion  // results of effects
	Release []string      // keys whose held effects may be claimed again
}

// An EventFilter selects events to delete: the events about Subject in a stream, or the whole stream if
// Subject is "". The newest event of all streams is never deleted. With a Subject, the newest event of the
// stream is not deleted either. The next numbers depend on these events.
type EventFilter struct {
	Stream  string
	Subject string
}

// A Query selects records of one kind in order of id, oldest first unless Newest is
// set. An empty field other than Kind matches every record.
type Query struct {
	Kind    string
	Open    *bool
	Unacked bool // only records with Unacked set
	Status  string
	Stream  string
	Owner   string
	Agent   string
	For     string // only records addressed to this name or to every person
	After   string // only ids after this one, in the order of the query
	Newest  bool
	Limit   int // maximum number of records; 0 or more than MaxList means MaxList
	// Scan is the maximum number of records that List examines, including records that the query does not
	// select. 0 means no maximum. If List stops at the maximum, its error is a [MoreError].
	Scan int
}

// A MoreError is returned by List if it stops after Query.Scan records. List also returns the records that it
// has found. To continue, call List with this value of After.
type MoreError struct{ After string }

// Error returns a message with After.
func (e *MoreError) Error() string {
	return "the list is not complete; it continues after " + e.After
}

// A SubjectQuery selects records in the order of their events, newest event first. A record with several such
// events is selected once for each event.
type SubjectQuery struct {
	// Query selects the records. After and Newest have no meaning, Stream is the stream of the events, and
	// Scan counts events.
	Query
	Types  []string // the types of the events; at least one
	Since  int64    // only events with at least this Seq
	Before int64    // only events with a smaller Seq; 0 is no maximum
}

// Check returns an error if the query is invalid.
func (q SubjectQuery) Check() error {
	if q.Kind == "" || len(q.Types) == 0 {
		return errors.New("invalid query: it needs a kind and a type of events")
	}
	return checkText(q.Types...)
}

// A Subject is a record, and the Seq of an event about it.
type Subject struct {
	Record
	Seq int64
}

// Totals are the numbers that [Store.Totals] returns.
type Totals struct {
	Open    int // open records of the kind
	Waiting int // effects that are neither claimed nor dead, due or not, and held or not
	Claimed int // effects that a node has claimed
	Dead    int // dead letters
}

// MaxList is the maximum number of records, events or effects that one call returns.
const MaxList = 1000

// AtMost returns the maximum number of records for a call with the limit n. If n is not positive or more than
// MaxList, it returns MaxList.
func AtMost(n int) int {
	if n <= 0 || n > MaxList {
		return MaxList
	}
	return n
}

// A Store keeps records, events and effects. Its methods may be called by several goroutines concurrently.
// The caller owns the slices that it passes and receives.
type Store interface {
	// Read returns a record, or ErrNotFound. A store with checksums may return a
	// DamagedError.
	Read(ctx context.Context, kind, id string) (Record, error)
	// ReadKey returns the record of a kind that has this key, or ErrNotFound.
	ReadKey(ctx context.Context, kind, key string) (Record, error)
	// Commit commits a change. If the error is nil, the change is durable, and first is the Seq of its first
	// event, or 0 without events. After ErrUnknown, the change may or may not be kept. After any other error,
	// nothing of the change is kept. If ctx ends before the store begins to write the change, nothing is
	// kept. If ctx ends later, Commit waits for the result.
	Commit(ctx context.Context, c Change) (first int64, err error)
	// List returns the records that q selects. It omits damaged records. If it stops after q.Scan records,
	// the error is a MoreError.
	List(ctx context.Context, q Query) ([]Record, error)
	// CountOpen returns the number of open records of a kind and an owner, at most limit.
	// It also counts damaged records, and is faster than List.
	CountOpen(ctx context.Context, kind, owner string, limit int) (int, error)
	// Totals counts the open records of a kind, and all effects. It also counts damaged records and effects.
	Totals(ctx context.Context, kind string) (Totals, error)
	// History returns at most limit events of one stream or, if stream is "", of all. It
	// begins with the first Seq greater than after and omits damaged events. A limit of 0
	// or more than MaxList means MaxList.
	History(ctx context.Context, stream string, after int64, limit int) ([]Event, error)
	// Recent returns at most limit events of a stream with a Seq less than
	// before, newest first. If before is 0, it begins with the newest event. It
	// omits damaged events.
	Recent(ctx context.Context, stream string, before int64, limit int) ([]Event, error)
	// Subjects returns the records that events are about, in the order of q. It omits damaged records. If
	// more may follow, before is the value of q.Before for the next call. Otherwise it is 0.
	Subjects(ctx context.Context, q SubjectQuery) (list []Subject, before int64, err error)
	// Head returns the Seq and the StreamSeq of the newest event of a stream. If
	// stream is "", it returns the newest Seq of all streams, and streamSeq is 0.
	// If there are no events, both are 0.
	Head(ctx context.Context, stream string) (seq, streamSeq int64, err error)
	// Close commits the waiting changes and closes the database. Later changes are rejected with ErrClosed.
	Close() error
}
