// Package engine connects the state machines of package lifecycle with time and
// storage. It reads records, steps them, commits the result and publishes it.
//
// [Engine.As] returns the seat of a principal. Its methods check permissions
// with the table of package access. An ask is a record in the store; nothing is
// kept in memory for it unless a call of Wait is running. Only committed changes
// are published.
package engine

import (
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/access"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// A Store is the storage that the engine requires.
type Store interface {
	store.Store
	store.Queue
}

// An Observer receives each committed line of history of an ask once.
type Observer interface {
	// Committed is called after a line of history of this type was committed for
	// ask, on the goroutine that committed it. It must not block.
	Committed(event askback.EventType, ask askback.Ask)
}

// Options configure an [Engine]. The zero value is usable.
type Options struct {
	Now      func() time.Time // nil: time.Now
	Rand     io.Reader        // for ids; safe for concurrent use; nil: crypto/rand
	Log      *slog.Logger     // nil: nothing is logged
	Observer Observer         // optional
	// CacheBytes is the memory for cached asks; 0 is 32 MB.
	CacheBytes int
	// MaxOpen is how many open asks an agent may have, MaxWaiters how many calls
	// of a principal may wait at once. 0 is no limit.
	MaxOpen    int
	MaxWaiters int
	// Settings are the initial settings.
	Settings Settings
}

// Settings can change while the engine runs: [Engine.Set] replaces them.
type Settings struct {
	// People may answer, in addition to those with a token.
	People []askback.Person
	// Issuer verifies the e-mail addresses of people who sign in; "" is no sign-in.
	// People who signed in through another issuer are logged out.
	Issuer string
	// MaxOpen is how many open asks an agent may have; 0 is [Options.MaxOpen].
	MaxOpen int
	// AsksPerMinute is how many asks an agent may make in a minute; 0 is no limit.
	AsksPerMinute int
	// Retention is how long settled asks and ended sessions and grants are kept; 0
	// is forever (E9).
	Retention time.Duration
}

// An Engine applies events to asks, sessions and grants. Make one with [New].
type Engine struct {
	store       Store
	now         func() time.Time
	rand        io.Reader
	log         *slog.Logger
	observer    Observer
	locks       keyedMutex
	cache       *cache
	hub         hub
	due         dueTimer
	credentials credentialCache
	quota       quota
	settings    atomic.Pointer[Settings]
	pages       atomic.Pointer[string]
}

// New returns an engine that uses a store. The engine should be the only writer:
// another one causes conflicts, which are retried. New starts no goroutine; call
// [Engine.Run] to process deadlines.
func New(s Store, o *Options) *Engine {
	if o == nil {
		o = &Options{}
	}
	e := &Engine{store: s, now: o.Now, rand: o.Rand, log: o.Log, observer: o.Observer}
	if e.now == nil {
		e.now = time.Now
	}
	if e.rand == nil {
		e.rand = crypto.Reader
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	size := o.CacheBytes
	if size == 0 {
		size = 32 << 20
	}
	e.cache = newCache(size)
	e.due.wake = make(chan struct{}, 1)
	e.quota.maxOpen, e.quota.maxWaiters = o.MaxOpen, o.MaxWaiters
	e.Set(o.Settings)
	return e
}

// Set replaces the settings.
func (e *Engine) Set(s Settings) {
	s.People = slices.Clone(s.People)
	e.settings.Store(&s)
}

// Link sets the base URL of the pages, without a slash at the end. Asks in events
// have the address of their page from then on; frontends add it to other asks.
func (e *Engine) Link(base string) { e.pages.Store(&base) }

// As returns the seat of a principal, which the caller has authenticated. As panics
// if p has no name. An empty p.Via means the API.
func (e *Engine) As(p askback.Principal) askback.Client {
	if p.Name == "" {
		panic("engine: a principal has a name")
	}
	if p.Channel == "" {
		p.Channel = askback.ChannelAPI
	}
	return &client{e, p}
}

// May returns [askback.ErrForbidden] if principals of this kind may never do an
// action. The methods of a seat check this themselves.
func (e *Engine) May(p askback.Principal, action askback.Action) error {
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

// cachedAsk is a decoded ask: its record without the encoded bytes, and its state.
type cachedAsk struct {
	record store.Record
	state  lifecycle.State
}

// read returns an ask from the cache or the store. It does not cache what it reads,
// because a step may have committed a newer version since; only steps do. So a
// cached ask is old only if another process wrote it, and then the commit of a
// step fails with a conflict.
func (e *Engine) read(ctx context.Context, id string) (cachedAsk, error) {
	if k, ok := e.cache.get(id); ok {
		return k, nil
	}
	return e.fetch(ctx, id)
}

// fetch returns an ask from the store.
func (e *Engine) fetch(ctx context.Context, id string) (cachedAsk, error) {
	r, err := e.store.Read(ctx, kindAsk, id)
	if err != nil {
		return cachedAsk{}, fromStore(err)
	}
	return decode(r)
}

func decode(r store.Record) (cachedAsk, error) {
	state, err := lifecycle.Decode(r.Fixed, r.State)
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnreadable, err)
	}
	r.Fixed, r.State = nil, nil
	return cachedAsk{r, state}, err
}

// errUnreadable is returned for a record that this release cannot decode.
var errUnreadable = errors.New("this record cannot be read")

// stepTime is how long a step is retried after conflicts with another process.
const stepTime = 5 * time.Second

// An eventFunc returns the event to apply to an ask in the given state. If it
// returns an error, the step ends with that error and changes nothing.
type eventFunc func(s lifecycle.State, now time.Time) (lifecycle.Input, error)

// step applies one event to an ask and returns the new state, or the old one with
// an error of the state machine. It locks the ask, so a conflict comes from
// another process; it retries until ctx ends or stepTime is over.
func (e *Engine) step(ctx context.Context, id string, what eventFunc) (lifecycle.State, error) {
	unlock, err := e.locks.lock(ctx, id)
	if err != nil {
		return lifecycle.State{}, err
	}
	defer unlock()
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		k, err := e.read(limited, id)
		if err != nil {
			return lifecycle.State{}, timeoutCause(limited, err)
		}
		state, err := e.try(limited, k, what)
		if !errors.Is(err, store.ErrConflict) {
			return state, timeoutCause(limited, fromStore(err))
		}
		e.cache.drop(id)
		if err := backOff(limited, attempt); err != nil {
			return state, err
		}
	}
}

// try makes one attempt at a step. A deadline that has passed is applied before
// the event, even if the timer has not fired yet.
func (e *Engine) try(ctx context.Context, k cachedAsk, what eventFunc) (lifecycle.State, error) {
	now := e.nowAfter(k.record)
	k, err := e.apply(ctx, k, lifecycle.Due{At: now}, now)
	if err != nil {
		return k.state, err
	}
	ev, err := what(k.state, now)
	if err != nil {
		return k.state, err
	}
	k, err = e.apply(ctx, k, ev, now)
	if errors.Is(err, askback.ErrSettled) {
		k = e.recordLate(ctx, k, ev, now)
	}
	return k.state, err
}

// nowAfter returns the current time, or that of the record's last change if that
// is later.
func (e *Engine) nowAfter(r store.Record) time.Time {
	if now := e.clock(); now.After(r.Updated) {
		return now
	}
	return r.Updated
}

// recordLate adds an answer that came too late to the history (F6). A failure is
// logged only: the caller returns the same error with or without that record.
func (e *Engine) recordLate(ctx context.Context, k cachedAsk, ev lifecycle.Input, now time.Time) cachedAsk {
	late := lifecycle.Refused{Why: string(k.state.Ask.Status), At: now}
	switch ev := ev.(type) {
	case lifecycle.Answered:
		late.By, late.Via, late.Answer = ev.By, ev.Via, ev.Answer
	case lifecycle.Declined:
		late.By, late.Via, late.Answer.Reason = ev.By, ev.Via, ev.Reason
	default:
		return k
	}
	after, err := e.apply(ctx, k, late, now)
	if err != nil {
		e.cache.drop(k.record.ID)
		e.log.Warn("a late answer is not in the history", "ask", k.record.ID, "error", err)
		return k
	}
	return after
}

// apply steps the state machine, commits and publishes. It does nothing if the
// event changes nothing. On an error it returns k.
func (e *Engine) apply(ctx context.Context, k cachedAsk, ev lifecycle.Input, now time.Time) (cachedAsk, error) {
	next, history, err := lifecycle.Step(k.state, ev)
	if err != nil || len(history) == 0 {
		return k, err
	}
	var c change
	if err := c.ask(k.record, next, history, now); err != nil {
		return k, err
	}
	unlock := func() {}
	switch _, spends := ev.(lifecycle.Consumed); {
	case next.Ask.Settled() && !k.state.Ask.Settled():
		unlock, err = e.closeInSession(ctx, &c, next.Ask, now)
	case spends && next.Ask.Outcome.Actor.Kind == askback.ActorPolicy:
		unlock, err = e.requireGrant(ctx, &c, next.Ask, now)
	}
	defer unlock()
	if err == nil {
		err = e.finish(ctx, c)
	}
	if err != nil {
		return k, err
	}
	return cachedAsk{committedRecord(c.asks[0].record), next}, nil
}

// committedRecord returns a record as it is after its commit: with the next
// version, and without the encoded bytes.
func committedRecord(r store.Record) store.Record {
	r.Version++
	r.Fixed, r.State = nil, nil
	return r
}

// commit commits a change. If the store returns [store.ErrUnknown], it reads back
// one record of the change to learn whether the commit succeeded.
func (e *Engine) commit(ctx context.Context, c store.Change) error {
	_, err := e.store.Commit(ctx, c)
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	if e.wasCommitted(ctx, c) {
		return nil
	}
	return err
}

// wasCommitted reports whether the first record that a change puts, or else the
// first that it deletes, is in the store as after the commit.
func (e *Engine) wasCommitted(ctx context.Context, c store.Change) bool {
	if len(c.Put) == 0 {
		_, err := e.store.Read(ctx, c.Delete[0].Kind, c.Delete[0].ID)
		return errors.Is(err, store.ErrNotFound)
	}
	want := c.Put[0]
	e.cache.drop(want.ID)
	got, err := e.store.Read(ctx, want.Kind, want.ID)
	return err == nil && got.Version == want.Version+1 && string(got.State) == string(want.State)
}

// cacheCommitted caches an ask that was just committed.
func (e *Engine) cacheCommitted(r store.Record, s lifecycle.State) {
	e.cache.put(cachedAsk{committedRecord(r), s})
}

// fromStore translates the errors of a store into those of package askback.
func fromStore(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return askback.ErrNotFound
	case errors.Is(err, store.ErrFull):
		return askback.ErrFull
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed):
		return askback.ErrStopping // the process ends after a failed write, too
	case errors.Is(err, store.ErrDiskFull):
		return askback.ErrDiskFull
	case errors.Is(err, store.ErrUnknown):
		return fmt.Errorf("%w: %v", askback.ErrUnknown, err)
	case errors.Is(err, store.ErrConflict):
		return askback.ErrBusy
	}
	var damaged store.DamagedError
	if errors.As(err, &damaged) {
		return askback.DamagedError{ID: damaged.ID}
	}
	return err
}

// logUnreadable logs that a list omits a record because it cannot be decoded.
func (e *Engine) logUnreadable(r store.Record, err error) {
	e.log.Error("a record cannot be read, and is left out", "kind", r.Kind, "id", r.ID, "error", err)
}

// retryOnConflict calls do until it returns no conflict, for at most stepTime.
func retryOnConflict(ctx context.Context, do func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := do(limited)
		if !errors.Is(err, store.ErrConflict) {
			return timeoutCause(limited, fromStore(err))
		}
		if err := backOff(limited, attempt); err != nil {
			return err
		}
	}
}

// timeoutCause returns the cause of ctx if err is the error of ctx, and err
// otherwise: [askback.ErrBusy] instead of a deadline error.
func timeoutCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// backOff waits before the next attempt: exponentially longer each time, with
// jitter, up to 64 ms.
func backOff(ctx context.Context, attempt int) error {
	longest := time.Millisecond << min(attempt, 6)
	return sleep(ctx, rand.N(longest))
}

// sleep waits for d. It returns the cause of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
