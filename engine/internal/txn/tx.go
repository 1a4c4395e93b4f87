package txn

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store"
)

// A Tx is one unit of work: the records that it has read or made, their new states, and the other changes of
// the commit. [DB.Update] makes a Tx for each attempt.
//
// A tx keeps its locks until its changes are published. To avoid deadlocks, it locks a run before an ask, an
// ask before a grant, a grant before a session, and an endpoint last. A lock excludes other callers in this
// process; the versions of the records exclude other processes.
type Tx struct {
	DB      *DB
	ctx     context.Context
	Attempt int       // the number of the attempt, from 0
	now     time.Time // the time of the tx, which is not before the last change of any record that was read
	Records []Stored  // the records of the tx, in the order in which they were read or made
	Effects []lifecycle.Effect
	Change  store.Change // the changes to commit, besides the records
	locked  []string     // the ids that the tx has locked
	json    []byte       // the JSON that was encoded for the change

	// Exclusive is set if only one of several equal changes may succeed. After ErrUnknown,
	// a record does not show whether this or another process committed the change.
	Exclusive bool

	// room holds the first elements of the slices. They need no allocation of their own, because most txs
	// change one record.
	room struct {
		records [1]Stored
		locked  [1]string
		puts    [1]store.Record
		events  [1]store.Event
	}
}

// JSONSize is the capacity for the JSON that a tx encodes. It is enough for most asks. maxJSONSize is the
// maximum capacity that is reused.
const (
	JSONSize    = 768
	maxJSONSize = 16 << 10
)

// txs has the memory of committed txs.
var txs = sync.Pool{New: func() any { return &Tx{json: make([]byte, 0, JSONSize)} }}

// begin returns a tx for one attempt at an update.
func (db *DB) begin(ctx context.Context, attempt int) *Tx {
	t := txs.Get().(*Tx)
	t.DB, t.ctx, t.Attempt, t.now = db, ctx, attempt, db.Clock()
	t.Records, t.locked = t.room.records[:0], t.room.locked[:0]
	t.Change.Put, t.Change.Events = t.room.puts[:0], t.room.events[:0]
	return t
}

// reuse makes the memory of a tx available to other txs. Its changes were committed, so the store no longer
// needs them. The caller must not use the tx again.
func (t *Tx) reuse() {
	if cap(t.json) <= maxJSONSize {
		*t = Tx{json: t.json[:0]}
		txs.Put(t)
	}
}

// encoded returns the bytes that were appended to t.json from start on.
func (t *Tx) encoded(start int) []byte { return t.json[start:len(t.json):len(t.json)] }

// A Machine is the decoded state of a record, such as [lifecycle.AskState].
type Machine[S any] interface {
	Step(in lifecycle.Input) (lifecycle.Result[S], error)
	Columns() lifecycle.Columns
	AppendFixed(b []byte) ([]byte, error)
	AppendMoving(b []byte) ([]byte, error)
}

// A Record is a stored record that a tx has read or made, with its decoded state.
type Record[S Machine[S]] struct {
	Row     store.Record // the columns of the record, without Fixed and State
	State   S
	Kept    int // the result of keptBytes for the record
	changed bool
	Held    bool                         // whether the record had held answers when it was read
	closes  bool                         // whether the record was open when it was read, and is no longer open
	history []lifecycle.Event            // the events in the tx, for the observer
	Shared  atomic.Pointer[revision.Ask] // the revision of a settled ask, after its commit; nil until it is needed
}

type (
	// An AskRecord is the record of an ask.
	AskRecord = Record[lifecycle.AskState]
	// A SessionRecord is the record of a session.
	SessionRecord = Record[lifecycle.SessionState]
	// A GrantRecord is the record of a grant.
	GrantRecord = Record[lifecycle.GrantState]
	// An EndpointRecord is the record of an endpoint.
	EndpointRecord = Record[lifecycle.EndpointState]
)

// A Stored is a [Record] of any machine, or a record of another package.
type Stored interface {
	ID() string
	Encode(t *Tx) error
}

// Context returns the context of the attempt.
func (t *Tx) Context() context.Context { return t.ctx }

// Now returns the time of the tx.
func (t *Tx) Now() time.Time { return t.now }

// Lock locks an id until the tx has ended, unless the tx has already locked it.
func (t *Tx) Lock(id string) error {
	if slices.Contains(t.locked, id) {
		return nil
	}
	err := t.DB.Locks.Lock(t.ctx, id)
	if err == nil {
		t.locked = append(t.locked, id)
	}
	return err
}

func (t *Tx) releaseLocks() {
	for _, id := range t.locked {
		t.DB.Locks.Unlock(id)
	}
}

// Ask locks and reads an ask, unless the tx already has it.
func (t *Tx) Ask(id string) (*AskRecord, error) {
	if r := Find[lifecycle.AskState](t, id); r != nil {
		return r, nil
	}
	if err := t.Lock(id); err != nil {
		return nil, err
	}
	a, err := t.DB.Read(t.ctx, id)
	if err != nil {
		return nil, err
	}
	r := Add(t, a.Row, a.State)
	r.Kept, r.Held = a.Kept, len(a.State.Held) > 0
	return r, nil
}

// AskNow locks and reads an ask, unless the tx already has the ask. After the read, AskNow steps the ask if a
// held answer or the deadline is due. So it does not wait for the timer.
func (t *Tx) AskNow(id string) (*AskRecord, error) {
	if r := Find[lifecycle.AskState](t, id); r != nil {
		return r, nil
	}
	r, err := t.Ask(id)
	if err != nil {
		return nil, err
	}
	return r, t.applyDue(r)
}

// Session locks and reads a session.
func (t *Tx) Session(id string) (*SessionRecord, error) {
	return Load(t, KindSession, id, DecodeSession)
}

// Grant locks and reads a grant.
func (t *Tx) Grant(id string) (*GrantRecord, error) {
	return Load(t, KindGrant, id, DecodeGrant)
}

// Load locks a record, reads it and adds it to the tx, unless the tx already has it.
func Load[S Machine[S]](t *Tx, kind, id string, decode func(store.Record) (S, error)) (*Record[S], error) {
	if r := Find[S](t, id); r != nil {
		return r, nil
	}
	if err := t.Lock(id); err != nil {
		return nil, err
	}
	row, err := t.DB.Store.Read(t.ctx, kind, id)
	if err != nil {
		return nil, err
	}
	state, err := decode(row)
	if err != nil {
		return nil, err
	}
	return Add(t, row, state), nil
}

// Find returns the record of the tx with this id and type, or nil.
func Find[S Machine[S]](t *Tx, id string) *Record[S] {
	for _, r := range t.Records {
		if r, ok := r.(*Record[S]); ok && r.Row.ID == id {
			return r
		}
	}
	return nil
}

// Append adds a record of another package to the tx. The record is new, or updated is the time of its last
// change. The time of the tx becomes updated, if that is later.
func (t *Tx) Append(r Stored, updated time.Time) {
	if updated.After(t.now) {
		t.now = updated
	}
	t.Records = append(t.Records, r)
}

// Add adds a record, which is new or was read, to the tx. It sets the time of the tx to
// the last change of the record, if that is later.
func Add[S Machine[S]](t *Tx, row store.Record, state S) *Record[S] {
	if row.Updated.After(t.now) {
		t.now = row.Updated
	}
	r := &Record[S]{Row: row, State: state, Kept: keptBytes(row)}
	r.Row.Fixed, r.Row.State = nil, nil
	t.Records = append(t.Records, r)
	return r
}

// Put adds a record without a machine to the change.
func (t *Tx) Put(row store.Record) { t.Change.Put = append(t.Change.Put, row) }

// Delete adds the deletion of a record to the change.
func (t *Tx) Delete(row store.Record) {
	t.Change.Delete = append(t.Change.Delete, store.Ref{Kind: row.Kind, ID: row.ID, Version: row.Version})
}

// Step steps a record, and adds the events and effects of the step to the tx. The effects on other records
// are performed before the commit. A late answer is recorded although Step returns its error.
func (r *Record[S]) Step(t *Tx, in lifecycle.Input) error {
	result, refused := r.State.Step(in)
	if result.Unchanged {
		return refused
	}
	r.State, r.changed = result.State, true
	r.closes = r.Row.Open && !r.State.Columns().Open
	if t.DB.observer != nil {
		r.history = append(r.history, result.History...)
	}
	for _, h := range result.History {
		if err := t.AddEvent(r.Row, h); err != nil {
			return err
		}
	}
	t.Effects = append(t.Effects, result.Effects...)
	return refused
}

// AddEvent adds an event about a record to the change.
func (t *Tx) AddEvent(row store.Record, h lifecycle.Event) (err error) {
	if h.State == h.UsualState() {
		h.State = "" // the stored form omits it
	}
	start := len(t.json)
	if t.json, err = h.Append(t.json); err != nil {
		return err
	}
	stream := row.Stream
	if row.Kind == KindSession || h.Type.ForPeople() {
		stream = row.ID // events of asks that are only for people have a separate stream, so that no agent sees a gap
	}
	t.Change.Events = append(t.Change.Events, store.Event{
		Stream: stream, Subject: row.ID, Type: string(h.Type), At: t.now, Data: t.encoded(start),
	})
	return nil
}

// ID returns the id of the record.
func (r *Record[S]) ID() string { return r.Row.ID }

// Encode adds the record to the change, if it has changed.
func (r *Record[S]) Encode(t *Tx) (err error) {
	if !r.changed {
		return nil
	}
	c := r.State.Columns()
	r.Row.Open, r.Row.Unacked, r.Row.Status, r.Row.To, r.Row.Due = c.Open, c.Unacked, c.Status, c.To, c.Due
	r.Row.Updated = t.now
	t.Change.Put = append(t.Change.Put, r.Row)
	row := &t.Change.Put[len(t.Change.Put)-1]
	if row.Version == 0 {
		start := len(t.json)
		if t.json, err = r.State.AppendFixed(t.json); err != nil {
			return err
		}
		row.Fixed = t.encoded(start)
	}
	start := len(t.json)
	if t.json, err = r.State.AppendMoving(t.json); err != nil {
		return err
	}
	if row.Version == 0 && row.Kind == KindSession {
		t.json = append(t.json[:start], Pad(t.json[start:], sessionRoom)...)
	}
	row.State = t.encoded(start)
	return nil
}

// RunRoom and sessionRoom are the bytes that a new run and a new session reserve for their states. They are
// enough for a state that waits for an ask. Without them, the states would grow, and SQLite would split their
// pages and leave the pages half empty.
const (
	RunRoom     = 200
	sessionRoom = 90
)

// Pad appends spaces to JSON until it has n bytes.
func Pad(b []byte, n int) []byte {
	for len(b) < n {
		b = append(b, ' ')
	}
	return b
}

// settles reports whether the tx settles an ask.
func (t *Tx) settles() bool {
	for _, r := range t.Records {
		if a, ok := r.(*AskRecord); ok && a.closes {
			return true
		}
	}
	return false
}

// PerformEffects performs the effects of the steps, in order. These steps may have further effects.
func (t *Tx) PerformEffects() error {
	for len(t.Effects) > 0 {
		next := t.Effects[0]
		t.Effects = t.Effects[1:]
		perform := t.DB.handlers[reflect.TypeOf(next)]
		if perform == nil {
			return fmt.Errorf("unknown effect %T", next)
		}
		if err := perform(t, next); err != nil {
			return err
		}
	}
	return nil
}
