// Package engine reads, steps, commits and publishes: the only place where
// time, storage and the machines meet.
//
// Everything goes through a seat: [Engine.As] gives a principal its own, and
// only there is the table of package access asked. Nothing waits in memory: an
// ask is a record, and a waiter is whoever happens to call Wait. What is
// published was committed before.
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

// A Store is what the engine needs of a store.
type Store interface {
	store.Store
	store.Queue
}

// An Observer is told what was committed, once and after the fact, on the
// goroutine that did it: it must not block.
type Observer interface {
	// Committed says that a line of history, by its type, was written for ask.
	Committed(event string, ask askback.Ask)
}

// Options are what an engine can be given; the zero value is good.
type Options struct {
	Now      func() time.Time // nil: time.Now
	Rand     io.Reader        // for ids; safe for concurrent use; nil: crypto/rand
	Log      *slog.Logger     // nil: nothing is logged
	Observer Observer         // nil: nobody is told
	// CacheBytes bounds the memory that asks read before may hold; 0 is 32 MB.
	CacheBytes int
	// MaxOpen and MaxWaiters bound the open asks of one agent and the calls of
	// one principal that wait; 0 is no bound.
	MaxOpen    int
	MaxWaiters int
	// Settings are what can be changed while the engine runs.
	Settings Settings
}

// Settings can be replaced as a whole, with [Engine.Set].
type Settings struct {
	People []askback.Person // who may answer, beside those who have a token
	// Issuer says who people are when they sign in; "" is nobody. Who signed in by
	// another is logged out.
	Issuer string
	// MaxOpen bounds the open asks of one agent; 0 is what [Options.MaxOpen] says.
	MaxOpen int
	// AsksPerMinute bounds how fast one agent may ask; 0 is no bound.
	AsksPerMinute int
	// Retention is how long what is settled is kept; 0 is for good (E9).
	Retention time.Duration
}

// An Engine moves asks through their lives. Make one with [New].
type Engine struct {
	store    Store
	now      func() time.Time
	rand     io.Reader
	log      *slog.Logger
	observer Observer
	turns    turns
	cache    *cache
	hub      hub
	due      alarm
	keys     keys
	quota    quota
	settings atomic.Pointer[Settings]
	pages    atomic.Pointer[string]
}

// New returns an engine on a store that nobody else writes to. It starts
// nothing; [Engine.Run] is what makes deadlines pass.
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
	e.due.rang = make(chan struct{}, 1)
	e.quota.maxOpen, e.quota.maxWaiters = o.MaxOpen, o.MaxWaiters
	e.Set(o.Settings)
	return e
}

// Set replaces the settings.
func (e *Engine) Set(s Settings) {
	s.People = slices.Clone(s.People)
	e.settings.Store(&s)
}

// Link says where people reach the pages, without a slash at the end: asks that
// events tell of have links from then on. Doors add those of the rest.
func (e *Engine) Link(base string) { e.pages.Store(&base) }

// As returns the seat of a principal. Whoever calls it vouches for who that is.
// A principal without a name is a mistake of the program, and As panics; one
// that does not say where it acts does so over the API.
func (e *Engine) As(p askback.Principal) askback.Seat {
	if p.Name == "" {
		panic("engine: a principal has a name")
	}
	if p.Via == "" {
		p.Via = askback.ViaAPI
	}
	return &seat{e, p}
}

// May says whether a principal of this kind may ever do an action, or
// [askback.ErrForbidden]. Seats ask for themselves.
func (e *Engine) May(p askback.Principal, action askback.Action) error {
	if !access.Ever(p.Kind, action) {
		return fmt.Errorf("%s: %w", action, askback.ErrForbidden)
	}
	return nil
}

// Awaited reports whether a call of an agent waits for an ask in this process.
func (e *Engine) Awaited(id string) bool { return e.hub.awaited(id) }

// clock returns the time in the form in which it is kept.
func (e *Engine) clock() time.Time { return e.now().UTC().Truncate(time.Millisecond) }

// known is an ask as the engine last saw it: the columns of its record, without
// the bytes, and what they mean.
type known struct {
	record store.Record
	state  lifecycle.State
}

// read returns an ask from the cache or the store. Only what a step committed is
// cached: a reader that is overtaken by a step must not put back what it read.
// So a cached ask can be old only when another process writes, and then the
// commit of a step is a conflict.
func (e *Engine) read(ctx context.Context, id string) (known, error) {
	if k, ok := e.cache.get(id); ok {
		return k, nil
	}
	return e.fetch(ctx, id)
}

// fetch returns an ask from the store.
func (e *Engine) fetch(ctx context.Context, id string) (known, error) {
	r, err := e.store.Read(ctx, kindAsk, id)
	if err != nil {
		return known{}, mine(err)
	}
	return decode(r)
}

func decode(r store.Record) (known, error) {
	state, err := lifecycle.Decode(r.Fixed, r.State)
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnreadable, err)
	}
	r.Fixed, r.State = nil, nil
	return known{r, state}, err
}

// errUnreadable is returned for a record whose bytes this release cannot read.
var errUnreadable = errors.New("this record cannot be read")

// stepTime is how long a step is tried against other writers.
const stepTime = 5 * time.Second

// An eventer says what happens to an ask, given how it stands. Its error ends
// the step and changes nothing.
type eventer func(s lifecycle.State, now time.Time) (lifecycle.Event, error)

// step moves an ask by one event and returns it as it then stands; with an
// error of the machine, as it stood. Steps of one ask wait for each other here,
// so a conflict means another process; it is tried again until ctx ends or
// [stepTime] is over.
func (e *Engine) step(ctx context.Context, id string, what eventer) (lifecycle.State, error) {
	leave, err := e.turns.enter(ctx, id)
	if err != nil {
		return lifecycle.State{}, err
	}
	defer leave()
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		k, err := e.read(limited, id)
		if err != nil {
			return lifecycle.State{}, cause(limited, err)
		}
		state, err := e.try(limited, k, what)
		if !errors.Is(err, store.ErrConflict) {
			return state, cause(limited, mine(err))
		}
		e.cache.drop(id)
		if err := pause(limited, attempt); err != nil {
			return state, err
		}
	}
}

// try steps an ask once. A deadline that is past is past before anything else
// happens, whether or not somebody had time to notice.
func (e *Engine) try(ctx context.Context, k known, what eventer) (lifecycle.State, error) {
	now := e.after(k.record)
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
		k = e.refuse(ctx, k, ev, now)
	}
	return k.state, err
}

// after is the time now, and never before the record's last change.
func (e *Engine) after(r store.Record) time.Time {
	if now := e.clock(); now.After(r.Updated) {
		return now
	}
	return r.Updated
}

// refuse keeps an answer that came too late in the history (F6). That it came
// too late is true whether or not this succeeds.
func (e *Engine) refuse(ctx context.Context, k known, ev lifecycle.Event, now time.Time) known {
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

// apply steps the machine, commits and publishes. Without a change it does
// nothing; on error k is returned as it was.
func (e *Engine) apply(ctx context.Context, k known, ev lifecycle.Event, now time.Time) (known, error) {
	next, history, err := lifecycle.Step(k.state, ev)
	if err != nil || len(history) == 0 {
		return k, err
	}
	var c change
	if err := c.ask(k.record, next, history, now); err != nil {
		return k, err
	}
	leave := func() {}
	switch _, spends := ev.(lifecycle.Consumed); {
	case next.Ask.Settled() && !k.state.Ask.Settled():
		leave, err = e.close(ctx, &c, next.Ask, now)
	case spends && next.Ask.Outcome.By.Kind == askback.ByPolicy:
		leave, err = e.still(ctx, &c, next.Ask, now)
	}
	defer leave()
	if err == nil {
		err = e.finish(ctx, c)
	}
	if err != nil {
		return k, err
	}
	return known{raised(c.asks[0].record), next}, nil
}

// raised is a record after its commit, without the bytes.
func raised(r store.Record) store.Record {
	r.Version++
	r.Fixed, r.State = nil, nil
	return r
}

// commit keeps a change. If the store does not know whether it was kept, the first
// record that the change puts tells, or else the first that it deletes.
func (e *Engine) commit(ctx context.Context, c store.Change) error {
	_, err := e.store.Commit(ctx, c)
	if !errors.Is(err, store.ErrUnknown) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
	defer cancel()
	if e.wasKept(ctx, c) {
		return nil
	}
	return err
}

func (e *Engine) wasKept(ctx context.Context, c store.Change) bool {
	if len(c.Put) == 0 {
		_, err := e.store.Read(ctx, c.Delete[0].Kind, c.Delete[0].ID)
		return errors.Is(err, store.ErrNotFound)
	}
	want := c.Put[0]
	e.cache.drop(want.ID)
	got, err := e.store.Read(ctx, want.Kind, want.ID)
	return err == nil && got.Version == want.Version+1 && string(got.State) == string(want.State)
}

// keep remembers an ask that was just committed.
func (e *Engine) keep(r store.Record, s lifecycle.State) { e.cache.put(known{raised(r), s}) }

// mine turns a store's errors into the words of the root package.
func mine(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return askback.ErrNotFound
	case errors.Is(err, store.ErrFull):
		return askback.ErrFull
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed):
		return askback.ErrStopping // after a failure the process ends, too
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

// leftOut logs that a record is not in a list because it cannot be read. The rest of
// the list is as good as ever.
func (e *Engine) leftOut(r store.Record, err error) {
	e.log.Error("a record cannot be read, and is left out", "kind", r.Kind, "id", r.ID, "error", err)
}

// again calls do until it meets no conflict, for as long as a step is tried.
func again(ctx context.Context, do func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, stepTime, askback.ErrBusy)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := do(limited)
		if !errors.Is(err, store.ErrConflict) {
			return cause(limited, mine(err))
		}
		if err := pause(limited, attempt); err != nil {
			return err
		}
	}
}

// cause says ErrBusy where the time for a step is over.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// pause waits a little longer each time, with jitter, so that those who
// conflict do not meet again.
func pause(ctx context.Context, attempt int) error {
	longest := time.Millisecond << min(attempt, 6)
	return rest(ctx, rand.N(longest))
}

// rest waits, or returns the cause that ends ctx.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
