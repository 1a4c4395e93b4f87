package engine

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

// A tx is one unit of work: the records that it has read or made, their new states, and
// what is committed with them. [Engine.update] makes one for each attempt.
//
// A tx keeps its locks until its changes are published. It locks a run before an ask, an ask
// before a grant, a grant before a session, and an endpoint last, so that no two wait for each other. A lock keeps out other
// callers in this process; the versions of the records keep out other processes.
type tx struct {
	engine  *Engine
	ctx     context.Context
	attempt int       // 0 is the first
	now     time.Time // not before the last change of any record that was read
	records []stored  // in the order in which they were read or made
	effects []lifecycle.Effect
	change  store.Change // what is committed, besides the records
	locked  []string     // the ids whose locks the tx has
	json    []byte       // what was encoded for the change

	// exclusive is set if only one of several equal changes may succeed. After ErrUnknown,
	// a record does not show whether this or another process committed the change.
	exclusive bool

	// The first elements of the slices: most txs change one record.
	room struct {
		records [1]stored
		locked  [1]string
		puts    [1]store.Record
		events  [1]store.Event
	}
}

// jsonSize is the capacity for what a tx encodes, enough for most asks. maxJSONSize is the
// maximum capacity that is reused.
const (
	jsonSize    = 768
	maxJSONSize = 16 << 10
)

// txs has the memory of committed txs.
var txs = sync.Pool{New: func() any { return &tx{json: make([]byte, 0, jsonSize)} }}

// begin returns a tx for one attempt at an update.
func (e *Engine) begin(ctx context.Context, attempt int) *tx {
	t := txs.Get().(*tx)
	t.engine, t.ctx, t.attempt, t.now = e, ctx, attempt, e.clock()
	t.records, t.locked = t.room.records[:0], t.room.locked[:0]
	t.change.Put, t.change.Events = t.room.puts[:0], t.room.events[:0]
	return t
}

// reuse makes the memory of a tx available to others. Its changes were committed, so the
// store no longer needs them. The caller must not use the tx again.
func (t *tx) reuse() {
	if cap(t.json) <= maxJSONSize {
		*t = tx{json: t.json[:0]}
		txs.Put(t)
	}
}

// encoded returns what was appended to t.json from start on.
func (t *tx) encoded(start int) []byte { return t.json[start:len(t.json):len(t.json)] }

// A machine is the decoded state of a record, such as [lifecycle.AskState].
type machine[S any] interface {
	Step(in lifecycle.Input) (lifecycle.Result[S], error)
	Columns() lifecycle.Columns
	AppendFixed(b []byte) ([]byte, error)
	AppendMoving(b []byte) ([]byte, error)
}

// A record is a stored record that a tx has read or made, with its decoded state.
type record[S machine[S]] struct {
	row     store.Record // without Fixed and State
	state   S
	kept    int // see keptBytes
	changed bool
	held    bool                         // it was read with held answers
	closes  bool                         // it was open when it was read, and is no longer
	history []lifecycle.Event            // what happened in the tx, for the observer
	shared  atomic.Pointer[revision.Ask] // of a settled ask, after its commit; nil until it is needed
}

type (
	askRecord     = record[lifecycle.AskState]
	sessionRecord = record[lifecycle.SessionState]
	grantRecord   = record[lifecycle.GrantState]

	endpointRecord = record[lifecycle.EndpointState]
)

// stored is a [record] of any machine.
type stored interface {
	id() string
	encode(t *tx) error
}

// Now returns the time of the tx.
func (t *tx) Now() time.Time { return t.now }

// Lock locks an id until the tx has ended, unless the tx has locked it already.
func (t *tx) Lock(id string) error {
	if slices.Contains(t.locked, id) {
		return nil
	}
	err := t.engine.locks.lock(t.ctx, id)
	if err == nil {
		t.locked = append(t.locked, id)
	}
	return err
}

func (t *tx) releaseLocks() {
	for _, id := range t.locked {
		t.engine.locks.unlock(id)
	}
}

// ask locks and reads an ask.
func (t *tx) ask(id string) (*askRecord, error) {
	if r := find[lifecycle.AskState](t, id); r != nil {
		return r, nil
	}
	if err := t.Lock(id); err != nil {
		return nil, err
	}
	a, err := t.engine.read(t.ctx, id)
	if err != nil {
		return nil, err
	}
	r := add(t, a.row, a.state)
	r.kept, r.held = a.kept, len(a.state.Held) > 0
	return r, nil
}

// askNow is like ask. If the ask is read and a held answer or its deadline is due, askNow steps it,
// even if the timer has not fired yet.
func (t *tx) askNow(id string) (*askRecord, error) {
	if r := find[lifecycle.AskState](t, id); r != nil {
		return r, nil
	}
	r, err := t.ask(id)
	if err != nil {
		return nil, err
	}
	return r, t.move(r)
}

// session locks and reads a session.
func (t *tx) session(id string) (*sessionRecord, error) {
	return load(t, kindSession, id, decodeSession)
}

// grant locks and reads a grant.
func (t *tx) grant(id string) (*grantRecord, error) {
	return load(t, kindGrant, id, decodeGrant)
}

// load locks a record, reads it and adds it to the tx, unless the tx has it already.
func load[S machine[S]](t *tx, kind, id string, decode func(store.Record) (S, error)) (*record[S], error) {
	if r := find[S](t, id); r != nil {
		return r, nil
	}
	if err := t.Lock(id); err != nil {
		return nil, err
	}
	row, err := t.engine.store.Read(t.ctx, kind, id)
	if err != nil {
		return nil, err
	}
	state, err := decode(row)
	if err != nil {
		return nil, err
	}
	return add(t, row, state), nil
}

// find returns the record of the tx with this id and type, or nil.
func find[S machine[S]](t *tx, id string) *record[S] {
	for _, r := range t.records {
		if r, ok := r.(*record[S]); ok && r.row.ID == id {
			return r
		}
	}
	return nil
}

// add adds a record, which is new or was read, to the tx. It sets the time of the tx to
// the last change of the record, if that is later.
func add[S machine[S]](t *tx, row store.Record, state S) *record[S] {
	if row.Updated.After(t.now) {
		t.now = row.Updated
	}
	r := &record[S]{row: row, state: state, kept: keptBytes(row)}
	r.row.Fixed, r.row.State = nil, nil
	t.records = append(t.records, r)
	return r
}

// Put adds a record without a machine to the change.
func (t *tx) Put(row store.Record) { t.change.Put = append(t.change.Put, row) }

// Delete adds the deletion of a record to the change.
func (t *tx) Delete(row store.Record) {
	t.change.Delete = append(t.change.Delete, store.Ref{Kind: row.Kind, ID: row.ID, Version: row.Version})
}

// step steps a record. The effects on other records are performed before the commit. A
// late answer is recorded although step returns its error.
func (r *record[S]) step(t *tx, in lifecycle.Input) error {
	result, refused := r.state.Step(in)
	if result.Unchanged {
		return refused
	}
	r.state, r.changed = result.State, true
	r.closes = r.row.Open && !r.state.Columns().Open
	if t.engine.observer != nil {
		r.history = append(r.history, result.History...)
	}
	for _, h := range result.History {
		if err := t.addEvent(r.row, h); err != nil {
			return err
		}
	}
	t.effects = append(t.effects, result.Effects...)
	return refused
}

// addEvent adds an event about a record to the change.
func (t *tx) addEvent(row store.Record, h lifecycle.Event) (err error) {
	if h.State == h.UsualState() {
		h.State = "" // as it is stored
	}
	start := len(t.json)
	if t.json, err = h.Append(t.json); err != nil {
		return err
	}
	stream := row.Stream
	if row.Kind == kindSession || h.Type.ForPeople() {
		stream = row.ID // events of asks for people only have a stream of their own, so that no agent sees a gap
	}
	t.change.Events = append(t.change.Events, store.Event{
		Stream: stream, Subject: row.ID, Type: string(h.Type), At: t.now, Data: t.encoded(start),
	})
	return nil
}

func (r *record[S]) id() string { return r.row.ID }

// encode adds the record to the change, if it has changed.
func (r *record[S]) encode(t *tx) (err error) {
	if !r.changed {
		return nil
	}
	c := r.state.Columns()
	r.row.Open, r.row.Unacked, r.row.Status, r.row.To, r.row.Due = c.Open, c.Unacked, c.Status, c.To, c.Due
	r.row.Updated = t.now
	t.change.Put = append(t.change.Put, r.row)
	row := &t.change.Put[len(t.change.Put)-1]
	if row.Version == 0 {
		start := len(t.json)
		if t.json, err = r.state.AppendFixed(t.json); err != nil {
			return err
		}
		row.Fixed = t.encoded(start)
	}
	start := len(t.json)
	if t.json, err = r.state.AppendMoving(t.json); err != nil {
		return err
	}
	if row.Version == 0 && row.Kind == kindSession {
		t.json = append(t.json[:start], pad(t.json[start:], sessionRoom)...)
	}
	row.State = t.encoded(start)
	return nil
}

// runRoom and sessionRoom are the bytes that a new run and a new session have for their states,
// enough for one that waits for an ask. If the states grew instead, SQLite would split the pages
// that have them, and leave them half empty.
const (
	runRoom     = 200
	sessionRoom = 90
)

// pad appends spaces to JSON until it has n bytes.
func pad(b []byte, n int) []byte {
	for len(b) < n {
		b = append(b, ' ')
	}
	return b
}

// settles reports whether the tx settles an ask.
func (t *tx) settles() bool {
	for _, r := range t.records {
		if a, ok := r.(*askRecord); ok && a.closes {
			return true
		}
	}
	return false
}

// performEffects performs the effects of the steps, in their order. These steps may
// have further effects.
func (t *tx) performEffects() error {
	for len(t.effects) > 0 {
		next := t.effects[0]
		t.effects = t.effects[1:]
		perform := t.engine.handlers[reflect.TypeOf(next)]
		if perform == nil {
			return fmt.Errorf("unknown effect %T", next)
		}
		if err := perform(t, next); err != nil {
			return err
		}
	}
	return nil
}
