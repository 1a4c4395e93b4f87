// Package askbacktest tests programs that ask people: an engine in memory,
// scripted people who answer by it, and the suite that every seat must pass.
//
//	desk := askbacktest.New(t)
//	desk.Person("ana",
//		askbacktest.Answer("Which database?", "SQLite"),
//		askbacktest.Approve("delete_files"))
//	deploy(ctx, desk.Agent("deploy-bot"))
//
// Nobody polls and nobody sleeps: people answer when an ask is committed, and
// deadlines pass when [Instance.Advance] says so. At the end of the test the desk
// reports what nobody's script answered, and what was never asked.
package askbacktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A Instance is where asks arrive in a test: an engine, the people who answer and
// the agents who ask. It may be used from many goroutines and inside
// testing/synctest.
type Instance struct {
	t      testing.TB
	engine *engine.Engine
	store  engine.Store
	now    func() time.Time
	told   engine.Observer // the observer that was given, if any
	run    runner

	mu      sync.Mutex
	moved   time.Duration // how far Advance went
	asks    map[string]*asked
	order   []string // of asks, as they were committed
	people  []*Person
	changed chan struct{} // closed and replaced at each change of the above
	next    []string      // ids of asks that somebody has to look at
	busy    bool          // somebody is looking at one
	awake   *sync.Cond    // next has grown, or closing
	closing bool
	done    chan struct{} // closed when nobody answers any more
}

// asked is an ask as the desk sees it.
type asked struct {
	askback.Ask
	taken bool                      // a line of a script was used on it
	vain  error                     // why nobody will answer
	tell  []context.CancelCauseFunc // of those who wait for it, to be told so
}

// New opens a desk on an engine in memory that runs until the test ends.
func New(t testing.TB) *Instance {
	t.Helper()
	return On(t, memstore.New(), nil)
}

// On opens a desk on a store and with options of the engine, both as in
// engine.New. The options may give the clock, which [Instance.Advance] then adds
// to, and an observer, which is told as usual. The store is left open.
func On(t testing.TB, s engine.Store, o *engine.Options) *Instance {
	t.Helper()
	if o == nil {
		o = &engine.Options{}
	}
	d := &Instance{
		t: t, store: s, now: o.Now, told: o.Observer,
		asks: map[string]*asked{}, changed: make(chan struct{}), done: make(chan struct{}),
	}
	if d.now == nil {
		d.now = time.Now
	}
	d.awake = sync.NewCond(&d.mu)
	own := *o
	own.Now, own.Observer = d.Now, observer{d}
	d.engine = engine.New(s, &own)
	d.run.start(d.engine)
	go d.serve()
	t.Cleanup(d.close)
	return d
}

// As returns the seat of a principal, as engine.Engine.As does: for tests of
// doors, which are given it.
func (d *Instance) As(p askback.Principal) askback.Client { return d.engine.As(p) }

// Agent returns the seat of an agent. Its Wait ends with [ErrUnscripted] as
// soon as it is clear that nobody at this desk will answer.
func (d *Instance) Agent(name string) askback.Client {
	p := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelAPI}
	return agent{d.engine.As(p), d}
}

// Asks returns all asks, in the order of their coming, as they stand now.
func (d *Instance) Asks() []askback.Ask {
	d.mu.Lock()
	defer d.mu.Unlock()
	asks := make([]askback.Ask, len(d.order))
	for i, id := range d.order {
		asks[i] = d.asks[id].Clone()
	}
	return asks
}

// Now is the time at this desk.
func (d *Instance) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now().Add(d.moved)
}

// Advance moves the time at this desk on and returns when every deadline that
// was passed has had its effect. Before that, people answer what they were
// asked. Whoever moves a clock of their own calls Advance(0) to have it noticed.
func (d *Instance) Advance(by time.Duration) {
	d.t.Helper()
	for idle, changed := d.idle(); !idle; idle, changed = d.idle() {
		<-changed
	}
	d.mu.Lock()
	d.moved += by
	d.mu.Unlock()
	d.run.stop()
	d.run.start(d.engine) // it looks at what is due before anything else
	patience := time.NewTimer(patience)
	defer patience.Stop()
	for {
		changed := d.change()
		due, err := d.store.Due(context.Background(), d.Now().UTC().Truncate(time.Millisecond), 1)
		if err != nil {
			d.t.Errorf("askbacktest: what is due: %v", err)
		}
		if err != nil || len(due) == 0 {
			return
		}
		select {
		case <-changed:
		case <-patience.C:
			d.t.Errorf("askbacktest: ask %s is due since %v and nothing happens", due[0].ID, due[0].Due)
			return
		}
	}
}

// patience is how long Advance waits for an engine that is stuck.
const patience = 30 * time.Second

// change returns what is closed when anything changes from now on.
func (d *Instance) change() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

// idle says whether everybody has looked at what was asked, and returns what is
// closed when that may have changed.
func (d *Instance) idle() (bool, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.next) == 0 && !d.busy, d.changed
}

// touch tells those who wait for a change. The caller holds the lock.
func (d *Instance) touch() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// close ends the desk with its test: people finish what they were asked, and
// the scripts are compared with what happened.
func (d *Instance) close() {
	d.t.Helper()
	d.mu.Lock()
	d.closing = true
	d.awake.Signal()
	d.mu.Unlock()
	<-d.done
	d.run.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reportUnanswered()
	for _, p := range d.people {
		p.reportUnused(d.t)
	}
}

// observer is the desk as the engine sees it.
type observer struct{ *Instance }

// Committed implements engine.Observer: it notes the ask and wakes the people.
func (o observer) Committed(event askback.EventType, a askback.Ask) {
	o.mu.Lock()
	if known := o.asks[a.ID]; known != nil {
		known.Ask = a
	} else {
		o.asks[a.ID] = &asked{Ask: a}
		o.order = append(o.order, a.ID)
		o.next = append(o.next, a.ID)
		o.awake.Signal()
	}
	o.touch()
	o.mu.Unlock()
	if o.told != nil {
		o.told.Committed(event, a.Clone())
	}
}

// open returns the asks that are pending, in the order of their coming. The
// caller holds the lock.
func (d *Instance) open() []*asked {
	var pending []*asked
	for _, id := range d.order {
		if a := d.asks[id]; !a.Settled() {
			pending = append(pending, a)
		}
	}
	return pending
}

// runner has an engine's Run going, and can stop it.
type runner struct {
	mu    sync.Mutex
	leave context.CancelFunc
	group sync.WaitGroup
}

func (r *runner) start(e *engine.Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ctx context.Context
	ctx, r.leave = context.WithCancel(context.Background())
	r.group.Go(func() { _ = e.Run(ctx) }) // it returns nil
}

func (r *runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave()
	r.group.Wait()
}
