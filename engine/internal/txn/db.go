// Package txn changes the records of a store in transactions. It locks and reads them, steps their machines,
// commits the result and publishes it. The other packages in engine/internal register their records and
// effects as a [Kind].
package txn

import (
	"cmp"
	"context"
	crypto "crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// A Store is the storage that the engine requires.
type Store interface {
	store.Store
	store.Queue
	store.Index
}

// An Observer receives each event of an ask, after the engine has committed it.
type Observer interface {
	// Committed is called after an event of this type was committed for ask, on the goroutine that committed
	// it. It must not block, and must not modify ask.
	Committed(event askback.EventType, ask askback.Ask)
}

// A DB holds the records of a store. It locks, caches and changes them, and notifies waiters of changes. The
// packages in engine/internal share a DB. [New] returns a DB.
type DB struct {
	Store    Store
	now      func() time.Time
	Rand     io.Reader
	IDs      *ids.Generator
	Log      *slog.Logger
	observer Observer
	Locks    keyedMutex
	Cache    *cache
	Hub      hub
	Due      dueTimer // of records
	Effects  dueTimer // of effects
	Quota    quota
	Channels map[string]Channel // by name
	// Callbacks is the channel to callbacks. If it is nil, callbacks are rejected.
	Callbacks SecretChannel
	Sealer    *Sealer
	Settings  atomic.Pointer[Settings] // that apply
	Pages     atomic.Pointer[string]   // the base URL of the pages
	Kinds     []Kind
	handlers  map[reflect.Type]func(*Tx, lifecycle.Effect) error // the handlers of the effects of machines

	// Current returns the effective settings, some of which are in the store. Package people sets it.
	Current func(ctx context.Context) (*Settings, error)
	// Valid reports whether a root of the tokens or the sign-ins of a person is valid. Package people sets
	// it.
	Valid func(ctx context.Context, root, person string, at time.Time) (bool, error)
}

// Options configure a [DB]. See the options of the same names in package engine.
type Options struct {
	Now                              func() time.Time
	Rand                             io.Reader
	Log                              *slog.Logger
	Observer                         Observer
	Channels                         map[string]Channel
	SecretKey                        func() ([]byte, error)
	CacheBytes                       int
	MaxOpen, MaxSessions, MaxWaiters int
}

// New returns a DB of a store.
func New(s Store, o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	db := &DB{
		Store: s, now: o.Now, Rand: cmp.Or(o.Rand, crypto.Reader), Log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		observer: o.Observer, Channels: o.Channels, Cache: newCache(cmp.Or(o.CacheBytes, 32<<20)),
		handlers: map[reflect.Type]func(*Tx, lifecycle.Effect) error{},
		Locks:    keyedMutex{waiting: map[string][]chan struct{}{}},
		Quota: quota{
			maxOpen: o.MaxOpen, MaxSessions: o.MaxSessions, maxWaiters: o.MaxWaiters,
			owners: map[string]*usage{}, waiting: map[askback.Principal]int{},
		},
		Hub: hub{
			waiters: group{}, followers: group{}, snoozers: group{}, holders: group{}, runs: group{},
			live: map[string]*LiveText{}, Forget: func() {},
		},
	}
	db.IDs, db.Sealer = ids.NewGenerator(db.Rand), &Sealer{Key: o.SecretKey, rand: db.Rand}
	db.Callbacks = callbackChannel(o.Channels)
	db.Pages.Store(new(string))
	db.Due.Wake, db.Effects.Wake = make(chan struct{}, 1), make(chan struct{}, 1)
	return db
}

// Clock returns the current time as it is stored: UTC, in whole milliseconds.
func (db *DB) Clock() time.Time { return db.now().UTC().Truncate(time.Millisecond) }

// Read returns an ask from the cache or the store. The caller must not change the ask. Read does not add the
// ask to the cache, because a newer version may have been committed since the read. Only Update caches asks,
// shortly after their commit. Apart from that moment, a cached ask is stale only if another process changed
// it. A commit that changes a stale ask is a conflict.
func (db *DB) Read(ctx context.Context, id string) (*AskRecord, error) {
	if a := db.Cache.Get(id); a != nil {
		return a, nil
	}
	return db.Fetch(ctx, id)
}

// Fetch returns an ask from the store, or an error of package askback.
func (db *DB) Fetch(ctx context.Context, id string) (*AskRecord, error) {
	row, err := db.Store.Read(ctx, KindAsk, id)
	if err != nil {
		return nil, FromStore(err)
	}
	state, err := DecodeAsk(row)
	if err != nil {
		return nil, err
	}
	a := &AskRecord{Row: row, State: state, Kept: keptBytes(row)}
	a.Row.Fixed, a.Row.State = nil, nil
	return a, nil
}

// FetchApart returns the result of Fetch, which it calls on a separate goroutine (see Apart).
func (db *DB) FetchApart(ctx context.Context, id string) (a *AskRecord, err error) {
	err = db.Apart(func() (err error) {
		a, err = db.Fetch(ctx, id)
		return err
	})
	return a, err
}

// Apart calls read on a separate goroutine and returns its error. A query needs a large stack. The goroutine
// of a caller that then sleeps would keep such a stack.
func (db *DB) Apart(read func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer db.RecoverTo(&err)
		err = read()
	}()
	<-done
	return err
}

// RecoverTo is deferred by a goroutine that reads for a caller. It logs a panic and sets *err to an error
// with the panic. So the caller does not wait forever and the process continues, as it does after a panic in
// an HTTP handler.
func (db *DB) RecoverTo(err *error) {
	if r := recover(); r != nil {
		db.Log.Error("a read panicked", "panic", r, "stack", string(debug.Stack()))
		*err = fmt.Errorf("a read panicked: %v", r)
	}
}

// columnsOf returns the columns of a record that are part of its state.
func columnsOf(row store.Record) lifecycle.Row {
	return lifecycle.Row{
		ID: row.ID, Stream: row.Stream, Owner: row.Owner, Agent: row.Agent, Status: row.Status, Created: row.Created,
	}
}

// DecodeAsk returns the state of a record of this kind.
func DecodeAsk(row store.Record) (lifecycle.AskState, error) {
	return Readable(lifecycle.DecodeAsk(columnsOf(row), row.Fixed, row.State))
}

// DecodeSession returns the state of a record of this kind.
func DecodeSession(row store.Record) (lifecycle.SessionState, error) {
	return Readable(lifecycle.DecodeSession(columnsOf(row), row.Fixed, row.State))
}

// DecodeGrant returns the state of a record of this kind.
func DecodeGrant(row store.Record) (lifecycle.GrantState, error) {
	return Readable(lifecycle.DecodeGrant(row.ID, row.Open, row.Fixed, row.State))
}

// LogUnreadable logs that a list omits a record because it cannot be decoded.
func (db *DB) LogUnreadable(r store.Record, err error) {
	db.Log.Error("a record cannot be read and is omitted", "kind", r.Kind, "id", r.ID, "error", err)
}

// HistoryChunk is the number of events that are read from the store at a time. It is small because a message
// may have 800 KB.
const HistoryChunk = 16

// DecodeEvent decodes a stored event. If that fails, it logs the error and ok is false.
func (db *DB) DecodeEvent(l store.Event) (h lifecycle.Event, ok bool) {
	h, err := lifecycle.DecodeEvent(l.Type, l.Data)
	if err != nil {
		db.Log.Error("an event cannot be read and is omitted", "seq", l.Seq, "error", err)
		return h, false
	}
	return h, true
}

// WithPageURL returns an ask with the address of its page.
func (db *DB) WithPageURL(a askback.Ask) askback.Ask { return a.WithPageURL(*db.Pages.Load()) }
