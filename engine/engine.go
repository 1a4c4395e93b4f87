// Package engine connects the state machines of package lifecycle with time and
// storage. [Engine.As] returns what one principal can do.
//
// Each step of a machine is part of one call of update, which reads records, steps their
// machines, commits the result and publishes it. Only committed changes are published. An
// open ask needs no goroutine, no timer and no memory other than a cache of limited size.
package engine

import (
	"cmp"
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/internal/access"
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
	// Committed is called after an event of this type was committed for
	// ask, on the goroutine that committed it. It must not block, and must not
	// change what ask refers to.
	Committed(event askback.EventType, ask askback.Ask)
}

// Options configure an [Engine]. The zero value is usable.
type Options struct {
	Now      func() time.Time // nil: time.Now
	Rand     io.Reader        // for ids; safe for concurrent use; nil: crypto/rand
	Log      *slog.Logger     // nil: nothing is logged
	Observer Observer         // optional
	// Performer performs effects while [Engine.Run] runs; nil: none are performed.
	Performer Performer
	// Runner knows the hosted agents. Nil: no run is started. Runs go on while [Engine.Run]
	// runs. Its methods of [PartialRunner], [Scheduler], [CallbackRunner] and
	// [RestrictedRunner] have effect if it has them.
	Runner Runner
	// Channels carry messages about asks, by name, while [Engine.Run] runs. Without the
	// channel "webhook", a callback is rejected. The others carry messages to
	// [Settings.Receivers].
	Channels map[string]Channel
	// RouteChannels are the names of channels that a route of the API may have; nil: any.
	RouteChannels []string
	// NoEffects makes [Engine.Run] perform no effects: the process has the store only for a
	// moment, and must not begin what takes longer.
	NoEffects bool
	// EndpointSecrets gives each endpoint of webhooks a secret of its own when it is first
	// used, because the channel has none. Otherwise only endpoints that a principal makes
	// or rotates have one.
	EndpointSecrets bool
	// SecretKey returns the key of 32 bytes that encrypts the secrets of endpoints in the
	// store. It is called when it is needed first. Nil: they are not encrypted.
	SecretKey func() ([]byte, error)
	// CacheBytes is the maximum memory of cached asks in bytes; 0 means 32 MiB.
	CacheBytes int
	// MaxOpen is how many open asks an agent may have, MaxSessions how many open sessions that do not
	// run here, MaxWaiters how many calls of a principal may wait at once. 0 is no limit.
	MaxOpen     int
	MaxSessions int
	MaxWaiters  int
	// Settings are the initial settings.
	Settings Settings
	// Changed is called with the settings that apply, each time they change: those of
	// [Engine.Set], with the people, groups and routes of the API. It must not call the engine,
	// and must not change what they refer to. Optional.
	Changed func(Settings)
}

// Settings are the part of the configuration that [Engine.Set] can replace while the
// engine runs.
type Settings struct {
	// People may answer, in addition to those with a token and those of the API.
	People []askback.Person
	// Groups are the names of people, by the name of the group without "@".
	Groups map[string][]string
	// Routes decide who gets an ask; the first one that matches applies.
	Routes []askback.Route
	// Issuer verifies the e-mail addresses of people who sign in; "" disables sign-in.
	// People who signed in through another issuer are logged out.
	Issuer string
	// MaxOpen is how many open asks an agent may have; 0 is [Options.MaxOpen].
	MaxOpen int
	// AsksPerMinute is how many asks an agent may make in a minute, and how many runs of hosted
	// agents it may start; 0 is no limit. For webhooks, that is for each hosted agent.
	AsksPerMinute int
	// DigestAfter is how many questions of one agent a person gets in a minute through one
	// receiver, each in a message of its own; 0 is no limit. The next message counts the others.
	DigestAfter int
	// Undo is how long an answer is held that a person may undo, at most [askback.MaxUndo]; 0
	// sends it at once.
	Undo time.Duration
	// CallbackURL is the callback of asks and sessions that name no other; "" disables it.
	CallbackURL string
	// Receivers are the phones and chats that get the asks which their person may answer.
	Receivers []Receiver
	// Reach returns the receivers of a person of the API, such as the one for mails. Those of
	// People are in Receivers. Nil: they have none.
	Reach func(askback.Person) []Receiver
	// Retention is how long settled asks and ended sessions and grants are kept after
	// their last change; 0 is forever (E9).
	Retention time.Duration
}

// A Receiver is a phone or a room of a chat in the settings.
type Receiver struct {
	Channel string // a name of [Options.Channels]
	Name    string // in the settings of the channel
	Person  string // who reads it
	// Addressed is set if it gets only asks that name people: others reach its person in
	// another place, such as a room of the same chat.
	Addressed bool
}

// An Engine steps asks, sessions and grants and commits the results. It is safe for
// concurrent use. Make one with [New].
type Engine struct {
	*auth.Authority // checks secrets: tokens, log-in links and sign-ins

	store     Store
	now       func() time.Time
	rand      io.Reader
	ids       *ids.Generator
	log       *slog.Logger
	observer  Observer
	locks     keyedMutex
	cache     *cache
	hub       hub
	due       dueTimer // of records
	performer Performer
	runner    Runner
	channels  map[string]Channel
	routed    []string // see [Options.RouteChannels]
	endpoints endpoints
	contacts  contacts
	guesses   guesses

	kinds       []kind
	handlers    map[reflect.Type]func(*tx, lifecycle.Effect) error // of the effects of machines
	hasContacts bool                                               // a channel carries asks to contacts

	noEffects bool     // see [Options.NoEffects]
	effects   dueTimer // of effects
	quota     quota
	tokens    tokenNames
	settings  atomic.Pointer[current]
	directory directories
	changed   func(Settings) // see [Options.Changed]; may be nil
	pages     atomic.Pointer[string]
	indexing  sync.Mutex // held while documents are added to the index
}

// New returns an engine that uses a store. The engine should be the only writer:
// another writer causes conflicts, which are retried. If o is nil, the zero Options are
// used. New starts no goroutine; call [Engine.Run] to process deadlines.
func New(s Store, o *Options) *Engine {
	if o == nil {
		o = &Options{}
	}
	e := &Engine{
		store: s, now: o.Now, rand: cmp.Or(o.Rand, crypto.Reader), log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		observer: o.Observer, performer: o.Performer, runner: o.Runner, channels: o.Channels, routed: o.RouteChannels, cache: newCache(cmp.Or(o.CacheBytes, 32<<20)),
		handlers: map[reflect.Type]func(*tx, lifecycle.Effect) error{},
		locks:    keyedMutex{waiting: map[string][]chan struct{}{}},
		quota: quota{
			maxOpen: o.MaxOpen, maxSessions: o.MaxSessions, maxWaiters: o.MaxWaiters,
			owners: map[string]*usage{}, waiting: map[askback.Principal]int{},
		},
		hub: hub{waiters: group{}, followers: group{}, snoozers: group{}, holders: group{}, runs: group{}, live: map[string]*liveText{}, pages: map[pageKey]*eventPage{}},
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.ids, e.noEffects = ids.NewGenerator(e.rand), o.NoEffects
	e.endpoints = endpoints{ownSecrets: o.EndpointSecrets, sealer: sealer{key: o.SecretKey, rand: e.rand}}
	for _, c := range o.Channels {
		_, coded := c.(CodeChannel)
		_, added := c.(AddressChannel)
		e.hasContacts = e.hasContacts || coded || added
	}
	e.Authority = auth.New(auth.Options{
		Store: reader{s}, Rows: e.rows, Now: e.clock, Rand: e.rand, IDs: e.ids, Unreadable: e.logUnreadable,
		Update: func(ctx context.Context, fn func(context.Context, auth.Tx) error) error {
			return e.update(ctx, func(t *tx) error { return fn(t.ctx, t) })
		},
		People: e.signInPeople,
	})
	e.addKinds()
	e.due.wake, e.effects.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	e.changed = o.Changed
	e.Set(o.Settings)
	e.Link("")
	return e
}

// addKinds registers what the parts of the engine do with records and effects.
func (e *Engine) addKinds() {
	e.register(kind{name: kindAsk, due: e.stepDueAsk}, e.grantKind())
	e.register(e.runKinds()...)
	for _, expires := range []string{auth.KindToken, auth.KindLogin, kindDraft, kindSnooze, kindContactCode} {
		e.register(kind{name: expires, due: e.deleteExpired})
	}
	handle(e, (*tx).makeGrant)
	handle(e, (*tx).useGrant)
	handle(e, (*tx).requireGrant)
	handle(e, (*tx).notifySession)
	handle(e, (*tx).cancelOpenAsks)
	handle(e, resume)
	handle(e, queueDelivery)
}

// Link sets the base URL of the pages, without a slash at the end. Asks in events
// have the address of their page from then on; frontends add it to other asks.
func (e *Engine) Link(base string) { e.pages.Store(&base) }

// As returns the client of a principal, which the caller has authenticated. As panics
// if p has no name. An empty p.Channel means the API.
func (e *Engine) As(p askback.Principal) askback.Client { return e.as(p) }

// Reports returns the reports for a principal, on the terms of [Engine.As].
func (e *Engine) Reports(p askback.Principal) askback.Reports { return e.as(p) }

func (e *Engine) as(p askback.Principal) *client {
	if p.Name == "" {
		panic("engine: a principal has a name")
	}
	if p.Channel == "" {
		p.Channel = askback.ChannelAPI
	}
	return &client{e, p}
}

// May returns [askback.ErrForbidden] if principals of this kind may never do an
// action. The methods of a client check this themselves.
func (e *Engine) May(p askback.Principal, action access.Action) error {
	if !access.Ever(p.Kind, action) {
		return fmt.Errorf("%s: %w", action, askback.ErrForbidden)
	}
	return nil
}

// Awaited reports whether an agent's call of Wait for an ask is running in this
// process.
func (e *Engine) Awaited(id string) bool { return e.hub.hasAgentWaiter(id) }

// clock returns the current time as it is stored: UTC, in whole milliseconds.
func (e *Engine) clock() time.Time { return e.now().UTC().Truncate(time.Millisecond) }

// read returns an ask from the cache or the store. The caller must not change it. An ask
// that is read is not cached, because a newer version may have been committed since;
// only update caches asks, shortly after their commit. Apart from that moment, a cached
// ask is stale only if another process changed it. Then committing a change of it is a
// conflict.
func (e *Engine) read(ctx context.Context, id string) (*askRecord, error) {
	if a := e.cache.get(id); a != nil {
		return a, nil
	}
	return e.fetch(ctx, id)
}

// fetch returns an ask from the store, or an error of package askback.
func (e *Engine) fetch(ctx context.Context, id string) (*askRecord, error) {
	row, err := e.store.Read(ctx, kindAsk, id)
	if err != nil {
		return nil, fromStore(err)
	}
	state, err := decodeAsk(row)
	if err != nil {
		return nil, err
	}
	a := &askRecord{row: row, state: state, kept: keptBytes(row)}
	a.row.Fixed, a.row.State = nil, nil
	return a, nil
}

// fetchApart is like fetch, on a separate goroutine: see apart.
func (e *Engine) fetchApart(ctx context.Context, id string) (a *askRecord, err error) {
	err = e.apart(func() (err error) {
		a, err = e.fetch(ctx, id)
		return err
	})
	return a, err
}

// apart calls read on a separate goroutine and returns its error. A query needs a large stack,
// which the goroutine of a caller that then sleeps would keep.
func (e *Engine) apart(read func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.recoverTo(&err)
		err = read()
	}()
	<-done
	return err
}

// recoverTo is deferred by a goroutine that reads for a caller. It logs a panic and returns it
// as err, so that the caller does not wait forever and the process continues, as it does after
// a panic in an HTTP handler.
func (e *Engine) recoverTo(err *error) {
	if r := recover(); r != nil {
		e.log.Error("a read panicked", "panic", r, "stack", string(debug.Stack()))
		*err = fmt.Errorf("a read panicked: %v", r)
	}
}

// errUnreadable is returned for a record that this release cannot decode.
var errUnreadable = errors.New("this record cannot be read")

// columnsOf returns the columns of a record that are part of its state.
func columnsOf(row store.Record) lifecycle.Row {
	return lifecycle.Row{ID: row.ID, Stream: row.Stream, Owner: row.Owner, Agent: row.Agent, Status: row.Status, Created: row.Created}
}

func decodeAsk(row store.Record) (lifecycle.AskState, error) {
	return readable(lifecycle.DecodeAsk(columnsOf(row), row.Fixed, row.State))
}

func decodeSession(row store.Record) (lifecycle.SessionState, error) {
	return readable(lifecycle.DecodeSession(columnsOf(row), row.Fixed, row.State))
}

func decodeGrant(row store.Record) (lifecycle.GrantState, error) {
	return readable(lifecycle.DecodeGrant(row.ID, row.Open, row.Fixed, row.State))
}

func decodeEndpoint(row store.Record) (lifecycle.EndpointState, error) {
	return readable(lifecycle.DecodeEndpoint(row.ID, row.Fixed, row.State))
}

// readable returns its arguments. An error that is not nil also matches errUnreadable.
func readable[S any](state S, err error) (S, error) {
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return state, err
}

// logUnreadable logs that a list omits a record because it cannot be decoded.
func (e *Engine) logUnreadable(r store.Record, err error) {
	e.log.Error("a record cannot be read and is omitted", "kind", r.Kind, "id", r.ID, "error", err)
}

// A reader reads from a store and returns the errors of package askback.
type reader struct{ store Store }

func (r reader) Read(ctx context.Context, kind, id string) (store.Record, error) {
	row, err := r.store.Read(ctx, kind, id)
	return row, fromStore(err)
}

func (r reader) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	row, err := r.store.ReadKey(ctx, kind, key)
	return row, fromStore(err)
}
