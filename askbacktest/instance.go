// Package askbacktest provides an in-memory Askback for tests of programs that
// ask people, and scripted people who answer.
//
//	instance := askbacktest.New(t)
//	instance.Person("ana",
//		askbacktest.Answer("Which database?", "SQLite"),
//		askbacktest.Approve("delete_files"))
//	deploy(ctx, instance.Agent("deploy-bot"))
//
// Tests need no polling and no sleeping: people answer as soon as an ask is
// committed, and deadlines pass when [Instance.Advance] is called. When the test
// ends, asks that are still pending because no reply matched them are reported as
// errors, and so are unused replies.
package askbacktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An Instance is a running Askback with its people and agents. It is safe for
// concurrent use, and can be used inside testing/synctest.
type Instance struct {
	t        testing.TB
	engine   *engine.Engine
	store    engine.Store
	now      func() time.Time
	observer engine.Observer // from the options, may be nil
	run      runner
	sends    bool // the options have channels

	mu       sync.Mutex
	advanced time.Duration // total duration of all calls of Advance
	asks     map[string]*askState
	order    []string // ids of the asks, in the order of their creation
	people   []*Person
	changed  chan struct{} // closed and replaced when a field of this group changes
	queue    []string      // ids of asks to match with the scripts
	busy     bool          // a script is answering
	wake     *sync.Cond    // signalled when queue grows or closing is set
	closing  bool
	done     chan struct{} // closed when answerAll returns
}

// An askState is the last known state of an ask.
type askState struct {
	askback.Ask
	matched bool                      // a reply was used for the ask
	err     error                     // the reason why the ask will not be answered
	waiters []context.CancelCauseFunc // cancel the Wait calls of agents
}

// New starts an instance with an empty in-memory store. It runs until the test
// ends.
func New(t testing.TB) *Instance {
	t.Helper()
	return On(t, memstore.New(), nil)
}

// On starts an instance with the given store and engine options. The options may
// be nil. [Instance.Advance] adds to the clock of the options, and the observer of
// the options is called as usual. On does not close the store.
func On(t testing.TB, s engine.Store, o *engine.Options) *Instance {
	t.Helper()
	if o == nil {
		o = &engine.Options{}
	}
	i := &Instance{
		t: t, store: s, now: o.Now, observer: o.Observer,
		asks: map[string]*askState{}, changed: make(chan struct{}), done: make(chan struct{}),
	}
	if i.now == nil {
		i.now = time.Now
	}
	i.sends = len(o.Channels) > 0
	i.wake = sync.NewCond(&i.mu)
	options := *o
	options.Now, options.Observer = i.Now, observer{i}
	i.engine = engine.New(s, &options)
	i.run.start(i.engine)
	go i.answerAll()
	t.Cleanup(i.close)
	return i
}

// As returns the client of a principal, like engine.Engine.As. Unlike a client
// from [Instance.Agent], its Wait never fails with [ErrUnscripted].
func (i *Instance) As(p askback.Principal) askback.Client { return i.engine.As(p) }

// Agent returns the client of an agent. Its Wait fails with [ErrUnscripted] if
// no person will answer the ask.
func (i *Instance) Agent(name string) askback.AgentClient {
	p := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelAPI}
	return agent{i.engine.As(p), i}
}

// Asks returns the current state of all asks, in the order of their creation.
func (i *Instance) Asks() []askback.Ask {
	i.mu.Lock()
	defer i.mu.Unlock()
	asks := make([]askback.Ask, len(i.order))
	for n, id := range i.order {
		asks[n] = i.asks[id].Clone()
	}
	return asks
}

// Now returns the current time of the instance: the time of its clock plus all calls of [Instance.Advance].
func (i *Instance) Now() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now().Add(i.advanced)
}

// Advance moves the clock forward. It first waits until the scripts have replied to all asks that they match.
// It returns when every deadline that passed has taken effect. If that takes more than 30 seconds, the test
// fails. With channels, it also waits for the messages that are due. Call Advance(0) after changing a clock
// that was given to [On].
func (i *Instance) Advance(by time.Duration) {
	i.t.Helper()
	for idle, changed := i.idle(); !idle; idle, changed = i.idle() {
		<-changed
	}
	i.waitForSends() // a message has the time of its attempt
	defer i.waitForSends()
	i.mu.Lock()
	i.advanced += by
	i.mu.Unlock()
	i.run.restart(i.engine) // as its first step, Run processes the deadlines that have passed
	timeout := time.NewTimer(advanceTimeout)
	defer timeout.Stop()
	for {
		changed := i.change()
		due, err := i.store.Due(context.Background(), i.Now().UTC().Truncate(time.Millisecond), 1)
		if err != nil {
			i.t.Errorf("askbacktest: read due asks: %v", err)
		}
		if err != nil || len(due) == 0 {
			i.run.restart(i.engine) // the engine may still be recording the last commit
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			i.t.Errorf("askbacktest: the deadline of ask %s, %v, had no effect", due[0].ID, due[0].Due)
			return
		}
	}
}

// advanceTimeout is how long Advance waits for the engine to process the deadlines that passed.
const advanceTimeout = 30 * time.Second

// sendsPause is the time between two checks for messages that are due.
const sendsPause = 2 * time.Millisecond

// waitForSends waits until no message is due. If that takes more than waitTimeout, the test fails. Without
// channels, it returns immediately.
func (i *Instance) waitForSends() {
	i.t.Helper()
	if !i.sends {
		return
	}
	tick, timeout := time.NewTicker(sendsPause), time.NewTimer(waitTimeout)
	defer tick.Stop()
	defer timeout.Stop()
	for {
		id, err := i.dueEffect()
		if err != nil {
			i.t.Errorf("askbacktest: read due messages: %v", err)
		}
		if err != nil || id == "" {
			return
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			i.t.Errorf("askbacktest: the message %s was not sent", id)
			return
		}
	}
}

// dueEffect returns the id of an effect that is due or being performed, or "".
func (i *Instance) dueEffect() (string, error) {
	for q := (store.Query{Limit: store.MaxList}); ; {
		effects, err := i.store.Effects(context.Background(), q)
		if err != nil {
			return "", err
		}
		now := i.Now()
		for _, f := range effects {
			if q.After = f.ID; !f.Dead && !f.Due.After(now) {
				return f.ID, nil
			}
		}
		if len(effects) < q.Limit {
			return "", nil
		}
	}
}

// change returns a channel that is closed at the next change.
func (i *Instance) change() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.changed
}

// idle reports whether the scripts have replied to all asks that they match. It
// also returns a channel that is closed at the next change.
func (i *Instance) idle() (bool, <-chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.queue) == 0 && !i.busy, i.changed
}

// notify wakes the goroutines that wait for a change. The caller holds the lock.
func (i *Instance) notify() {
	close(i.changed)
	i.changed = make(chan struct{})
}

// close stops the instance after the scripts have replied to the queued asks. It
// reports unanswered asks and unused replies.
func (i *Instance) close() {
	i.t.Helper()
	i.mu.Lock()
	i.closing = true
	i.wake.Signal()
	i.mu.Unlock()
	<-i.done
	i.run.stop()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reportUnanswered()
	for _, p := range i.people {
		p.reportUnused(i.t)
	}
}

// An observer implements engine.Observer for an instance.
type observer struct{ *Instance }

// Committed records the ask and queues it for the scripts if it is new. Then it
// calls the observer of the options.
func (o observer) Committed(event askback.EventType, a askback.Ask) {
	a = a.Clone() // the scripts may change it
	o.mu.Lock()
	if known := o.asks[a.ID]; known != nil {
		known.Ask = a
	} else {
		o.asks[a.ID] = &askState{Ask: a}
		o.order = append(o.order, a.ID)
		o.queue = append(o.queue, a.ID)
		o.wake.Signal()
	}
	o.notify()
	o.mu.Unlock()
	if o.observer != nil {
		o.observer.Committed(event, a.Clone())
	}
}

// open returns the pending asks in the order of their creation. The caller holds
// the lock.
func (i *Instance) open() []*askState {
	var pending []*askState
	for _, id := range i.order {
		if a := i.asks[id]; !a.Settled() {
			pending = append(pending, a)
		}
	}
	return pending
}

// A runner starts and stops the Run method of an engine.
type runner struct {
	mu     sync.Mutex
	cancel context.CancelFunc
	group  sync.WaitGroup
}

func (r *runner) start(e *engine.Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	r.group.Go(func() { _ = e.Run(ctx) }) // Run always returns nil here
}

// restart ends the engine's Run after its current step, and starts it again.
func (r *runner) restart(e *engine.Engine) {
	r.stop()
	r.start(e)
}

func (r *runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.group.Wait()
}
