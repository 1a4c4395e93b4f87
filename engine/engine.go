// Package engine connects the state machines of package lifecycle with time and storage. [Engine.As] returns
// the client of one principal.
//
// Each step of a machine is part of one call of DB.Update in engine/internal/txn, which reads records, steps
// their machines, commits the result and publishes it. Only committed changes are published. An open ask
// needs no goroutine, no timer and no memory other than a cache of limited size.
package engine

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/feed"
	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/runs"
	"github.com/askback/askback/engine/internal/send"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/reports"
)

// Options configure an [Engine]. The zero value is usable.
type Options struct {
	Now      func() time.Time // the clock; nil means time.Now
	Rand     io.Reader        // the random bits of ids; nil means crypto/rand; safe for concurrent use
	Log      *slog.Logger     // the log; nil logs nothing
	Observer Observer         // optional
	// Performer performs effects while [Engine.Run] runs. If it is nil, no effects are performed.
	Performer Performer
	// Runner runs the hosted agents while [Engine.Run] runs. If it is nil, no run is started. It may also
	// implement [PartialRunner], [Scheduler], [CallbackRunner], [RestrictedRunner] and [AddressingRunner].
	Runner Runner
	// Channels carry messages about asks, by name, while [Engine.Run] runs. Without a [SecretChannel], a
	// callback is rejected. The other channels carry messages to the receivers of [Settings].
	Channels map[string]Channel
	// RouteChannels are the names of the channels that a route of the API may name. If it is nil, a route may
	// name any channel.
	RouteChannels []string
	// NoEffects prevents [Engine.Run] from performing effects. It is for a process that has the store only
	// for a moment, and must not begin long work.
	NoEffects bool
	// EndpointSecrets gives each endpoint of webhooks a secret of its own when it is first used, because the
	// channel has no secret. Otherwise only endpoints that a principal makes or rotates have a secret.
	EndpointSecrets bool
	// SecretKey returns the key of 32 bytes that encrypts the secrets of endpoints in the store. It is called
	// when the key is first needed. If it is nil, the secrets are not encrypted.
	SecretKey func() ([]byte, error)
	// CacheBytes is the maximum memory of cached asks in bytes; 0 means 32 MiB.
	CacheBytes int
	// MaxOpen is the maximum number of open asks of an agent. MaxSessions limits its open sessions that are
	// not hosted. MaxWaiters limits the concurrent Wait calls of a principal. 0 is no limit.
	MaxOpen     int
	MaxSessions int
	MaxWaiters  int
	// Settings are the initial settings.
	Settings Settings
	// Changed is called each time the effective settings change. The effective settings are the settings
	// passed to [Engine.Set], combined with the people, groups and routes made over the API. Changed must not
	// call the engine or modify its argument. It may be nil.
	Changed func(Settings)
}

// An Engine steps asks, sessions and grants and commits the results. It is safe for concurrent use. [New]
// returns an Engine.
type Engine struct {
	*auth.Authority // checks secrets: tokens, log-in links and sign-ins

	db     *txn.DB
	people *people.Service
	send   *send.Service
	runs   *runs.Service
	feed   *feed.Service
}

// New returns an engine that uses a store. The engine should be the only writer, because another writer
// causes conflicts, which are retried. If o is nil, the zero Options are used. New starts no goroutine. Call
// [Engine.Run] to process deadlines.
func New(s Store, o *Options) *Engine {
	if o == nil {
		o = &Options{}
	}
	db := txn.New(s, txn.Options{
		Now: o.Now, Rand: o.Rand, Log: o.Log, Observer: o.Observer, Channels: o.Channels, SecretKey: o.SecretKey,
		CacheBytes: o.CacheBytes, MaxOpen: o.MaxOpen, MaxSessions: o.MaxSessions, MaxWaiters: o.MaxWaiters,
	})
	e := &Engine{db: db}
	e.addKinds()
	e.runs = runs.New(db, runs.Options{
		Runner: o.Runner, Idle: o.NoEffects, Asker: runAsker{e},
		Sessions: func(p askback.Principal) askback.Sessions { return e.as(p) },
	})
	e.people = people.New(db,
		people.Options{Changed: o.Changed, RouteChannels: o.RouteChannels, Recipients: e.runs.Recipients})
	e.Authority = e.people.Authority
	e.send = send.New(db,
		send.Options{Performer: o.Performer, Idle: o.NoEffects, OwnSecrets: o.EndpointSecrets, Contacts: e.people})
	e.feed = feed.New(db, e.Authority, e.runs)
	e.people.Set(o.Settings)
	return e
}

// addKinds registers the kinds of records, and the handlers of effects, of this package.
func (e *Engine) addKinds() {
	e.db.Register(
		txn.Kind{Name: txn.KindAsk, Due: e.stepDueAsk, Delete: deleteAsk},
		txn.Kind{Name: txn.KindSession, Delete: e.deleteSession},
		txn.Kind{Name: txn.KindJoined, Delete: e.deleteJoined},
		e.grantKind(),
		txn.Kind{Name: kindDraft, Due: e.db.DeleteExpired},
	)
	txn.Handle(e.db, e.makeGrant)
	txn.Handle(e.db, e.useGrant)
	txn.Handle(e.db, e.requireGrant)
	txn.Handle(e.db, e.notifySession)
	txn.Handle(e.db, e.cancelOpenAsks)
}

// Link sets the base URL of the pages, without a slash at the end. From then on, asks in events have the
// address of their page. Frontends add this address to other asks.
func (e *Engine) Link(base string) { e.db.Pages.Store(&base) }

// As returns the client of a principal, which the caller has authenticated. As panics if p has no name. If
// p.Channel is empty, the channel is the API.
func (e *Engine) As(p askback.Principal) askback.Client { return e.as(p) }

// Reports returns the reports for a principal. The conditions of [Engine.As] apply.
func (e *Engine) Reports(p askback.Principal) reports.Reader { return e.as(p) }

func (e *Engine) as(p askback.Principal) *client {
	if p.Name == "" {
		panic("engine: a principal must have a name")
	}
	if p.Channel == "" {
		p.Channel = askback.ChannelAPI
	}
	c := &client{engine: e, Caller: e.db.As(p)}
	c.peopleRoom, c.sendRoom = e.people.As(&c.Caller), e.send.As(&c.Caller)
	c.runsRoom, c.feedRoom = e.runs.As(&c.Caller), e.feed.As(&c.Caller)
	return c
}

// May returns [askback.ErrForbidden] if no principal of this kind may do the action. The methods of a client
// check this themselves.
func (e *Engine) May(p askback.Principal, action access.Action) error { return txn.May(p, action) }

// Awaited reports whether an agent's call of Wait for an ask is running in this
// process.
func (e *Engine) Awaited(id string) bool { return e.db.Hub.HasAgentWaiter(id) }

// Run runs the loops of the engine until ctx ends. They process deadlines, perform effects, start scheduled
// runs and delete old records. They also fill the search index and store the last uses of tokens. One
// goroutine and one timer wait for all deadlines. When ctx ends, Run waits for running effects. It cancels
// deliveries after two seconds, and other effects after ten. It returns nil.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.people.ReadDirectory(ctx); err != nil && ctx.Err() == nil {
		e.db.Log.Error("asks are refused until people, groups and routes can be read", "error", err)
	}
	var group sync.WaitGroup
	group.Go(func() { e.cleanLoop(ctx) })
	group.Go(func() { e.send.PerformLoop(ctx) })
	group.Go(func() { e.runs.ScheduleLoop(ctx) })
	group.Go(func() { e.feed.IndexLoop(ctx) })
	group.Go(func() { e.useLoop(ctx) })
	defer group.Wait()
	pause, watch := txn.DueRetry, txn.ClockWatch{Newest: e.db.NewestTime(ctx)}
	for ctx.Err() == nil {
		watch.Check(e.db)
		wait, err := e.db.FireDue(ctx)
		if err == nil {
			pause = txn.DueRetry
		} else if ctx.Err() == nil {
			e.db.Log.Error("some deadlines could not be processed", "error", err, "again", pause)
			wait, pause = min(wait, pause), min(2*pause, txn.DueMaxRetry)
		}
		_ = txn.Sleep(ctx, wait, e.db.Due.Wake) // the loop ends with ctx
	}
	return nil
}
