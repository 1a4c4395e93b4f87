package send

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// An Effect is work outside the process, such as a message to send. It was committed with
// the change that requires it.
type Effect struct {
	ID      string // the same in every attempt
	Kind    string
	Subject string // the id of the record that the effect belongs to
	Attempt int    // the number of the attempt, from 1
	Data    []byte // JSON
}

// A Performer performs the effects that a [Service] claims.
type Performer interface {
	// Perform performs one effect. It returns the result as an input to the machine of the record that the
	// effect belongs to, or nil. After an error, Perform is called again later. After an error in the tenth
	// or a later attempt, the effect is a dead letter (see [Service.DeadLetters]). After a crash, Perform is
	// called again with the same ID, although the earlier call may have succeeded.
	Perform(ctx context.Context, e Effect) (lifecycle.Input, error)
}

const (
	performSlots    = 64               // effects that are performed concurrently
	performAttempts = 10               // an error in this attempt or a later attempt makes the effect a dead letter
	performPause    = time.Second      // the longest pause after the first failure; it doubles with each failure
	performMaxPause = 10 * time.Minute // the longest pause
	performStop     = 10 * time.Second // how long effects may still run when the context of Run has ended
	// deliveries may still run for this time: a command must not wait for a receiver, and the next process
	// sends them
	sendStop = 2 * time.Second
)

// A worker claims effects, performs them and commits the results.
type worker struct {
	service *Service
	node    string // the name under which the worker claims effects; no worker has used it before
	slots   chan struct{}
	pools   []*pool // the pools of effects that have separate slots
	group   sync.WaitGroup
	// set if the worker must take a new name, because the old name may have claimed effects that no goroutine
	// performs
	renew   atomic.Bool
	backlog atomic.Bool // there may be more effects than slots

	mu         sync.Mutex
	performing map[string]int // the number of effects being performed, keyed by the name that claimed them
	receivers  *receivers
	digests    digests
	started    time.Time
	owners     *receivers
}

// A pool has the slots of one kind of effects. Such effects may take long, so they do not use the slots of
// deliveries.
type pool struct {
	*txn.Kind
	slots   chan struct{}
	claimed int // the number of effects that the last claim returned
}

// newPools returns the pools of the kinds that have slots.
func (e *Service) newPools() (pools []*pool) {
	for i := range e.Kinds {
		if k := &e.Kinds[i]; k.Perform != nil {
			pools = append(pools, &pool{Kind: k, slots: make(chan struct{}, k.Slots)})
		}
	}
	return pools
}

// poolOf returns the pool of a kind of effects, or nil.
func (w *worker) poolOf(name string) *pool {
	for _, p := range w.pools {
		if p.Includes(name) {
			return p
		}
	}
	return nil
}

// PerformLoop performs effects until ctx ends. It queries the store when an effect is committed or due, when
// a slot for a waiting effect becomes free, and for each heartbeat. Only the earliest due time is kept, so
// other effects may wait for the next heartbeat. PerformLoop does nothing with [Options.Idle], or if there is
// no performer, no channel and no kind with slots.
func (e *Service) PerformLoop(ctx context.Context) {
	if e.Idle || e.Performer == nil && len(e.Channels) == 0 && !slices.ContainsFunc(e.Kinds, func(k txn.Kind) bool {
		return k.Slots > 0
	}) {
		return
	}
	w := &worker{
		service: e, slots: make(chan struct{}, performSlots), pools: e.newPools(),
		performing: map[string]int{}, digests: digests{all: map[digestKey]*heldBack{}}, started: e.Clock(),
		receivers: newReceivers(receiverSlots), owners: newReceivers(ownerSlots),
	}
	w.renew.Store(true)
	if err := e.holdKept(ctx); err != nil && ctx.Err() == nil {
		e.Log.Error("deliveries that an earlier release kept could not be held", "error", err)
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	sending, stopSending := context.WithCancel(work)
	for ctx.Err() == nil {
		e.Effects.Clear()
		if err := w.claim(ctx, work, sending); err != nil && ctx.Err() == nil {
			e.Log.Error("effects could not be claimed", "error", err)
		}
		now := e.Clock()
		w.digests.clean(now)
		e.Effects.Expect(now.Add(store.HeartbeatInterval))
		for _, r := range []*receivers{w.receivers, w.owners} {
			if at := r.check(now); !at.IsZero() {
				e.Effects.Expect(at)
			}
		}
		e.Effects.Wait(ctx, e.Clock)
	}
	late, lateSending := time.AfterFunc(performStop, stop), time.AfterFunc(sendStop, stopSending)
	w.group.Wait()
	late.Stop()
	lateSending.Stop()
	stopSending()
	stop()
}

// claim claims at most as many effects as there are free slots of each kind, and starts to perform them.
// Without a free slot for deliveries, it only records a heartbeat. Deliveries run with the context sending,
// and other effects with the context work.
func (w *worker) claim(ctx, work, sending context.Context) error {
	e, now := w.service, w.service.Clock()
	if w.renew.Swap(false) {
		// The claims of the old name expire when its heartbeats stop. See beatOld.
		var err error
		if w.node, err = e.IDs.New("node_", now); err != nil {
			w.renew.Store(true)
			return err
		}
	}
	if err := w.beatOld(ctx, now); err != nil {
		return err
	}
	free := cap(w.slots) - len(w.slots)
	w.backlog.Store(true)
	if free == 0 {
		_, err := e.Store.Beat(ctx, w.node, now)
		return err
	}
	limits := make([]store.KindLimit, len(w.pools))
	for i, p := range w.pools {
		limits[i] = store.KindLimit{Prefix: p.Name, Max: cap(p.slots) - len(p.slots)}
		p.claimed = 0
	}
	effects, err := e.Store.Claim(ctx, w.node, now, free, limits...)
	if errors.Is(err, store.ErrUnknown) {
		w.renew.Store(true)
	}
	for _, f := range effects {
		w.start(work, sending, f)
	}
	more := len(effects) == free
	for i, p := range w.pools {
		more = more || cap(p.slots) > 0 && p.claimed == limits[i].Max
	}
	w.backlog.Store(more)
	if len(effects) == free && len(w.slots) < cap(w.slots) {
		e.Effects.Set(e.Clock())
	}
	return err
}

// start performs an effect on a goroutine of its own.
func (w *worker) start(work, sending context.Context, f store.Effect) {
	slots, p := w.slots, w.poolOf(f.Kind)
	if p != nil {
		slots = p.slots
		p.claimed++
	}
	slots <- struct{}{}
	w.count(f.Node, 1)
	w.group.Go(func() {
		switch {
		case p != nil:
			if p.Perform(work, f) != nil {
				w.renew.Store(true)
			}
		case f.Kind == kindSend:
			w.perform(sending, f)
		default:
			w.perform(work, f)
		}
		w.count(f.Node, -1)
		<-slots
		if w.backlog.Load() {
			w.service.Effects.Set(w.service.Clock())
		}
	})
}

// beatOld records a heartbeat for each earlier name with effects that are still performed. Otherwise these
// effects would be claimed under the new name and performed a second time.
func (w *worker) beatOld(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	names := slices.Sorted(maps.Keys(w.performing))
	w.mu.Unlock()
	for _, name := range names {
		if name == w.node {
			continue
		}
		if _, err := w.service.Store.Beat(ctx, name, now); err != nil {
			return err
		}
	}
	return nil
}

// count adds n to the number of effects that are performed under a name.
func (w *worker) count(name string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.performing[name] += n; w.performing[name] == 0 {
		delete(w.performing, name)
	}
}

// perform performs one effect and commits the result. If the commit fails, the process that claims the effect
// next performs it again. If another process has already claimed it, the commit is a conflict and the result
// is dropped.
func (w *worker) perform(ctx context.Context, f store.Effect) {
	e := w.service
	var r attempt
	if f.Kind == kindSend {
		r = w.send(ctx, f)
	} else {
		r = e.tryPerformer(ctx, f)
	}
	done := store.Completion{ID: f.ID, Node: f.Node, Retry: r.retry, Error: f.Error}
	if r.failed != nil {
		done.Error, done.Dead = txn.ErrorText(r.failed), r.retry.IsZero()
	}
	if r.failed != nil {
		e.Log.Warn("an effect failed", "effect", f.ID, "kind", f.Kind, "attempt", f.Attempts, "dead", done.Dead,
			"error", r.failed, "cause", causeOf(r.failed))
	}
	err := e.complete(context.WithoutCancel(ctx), f, done, r)
	if err == nil && r.reply != nil && r.endpoint != "" {
		e.endpointReplied(context.WithoutCancel(ctx), r.endpoint, r.reply)
	}
	if err != nil && !errors.Is(err, askback.ErrNotFound) { // there is no such record: the effect was deleted with it
		e.Log.Warn("the result of an effect is dropped", "effect", f.ID, "kind", f.Kind, "error", err)
		w.renew.Store(true)
	}
}

// An attempt is the result of one attempt at an effect.
type attempt struct {
	in     lifecycle.Input // the input for the record that the effect belongs to, or nil
	failed error           // why the attempt failed, or nil
	retry  time.Time       // when the next attempt is made; zero: never, and a failed effect is a dead letter

	endpoint string          // the id of the endpoint that was called, or ""
	reply    lifecycle.Input // the input for the endpoint, or nil
	kept     string          // the id of the endpoint for which the effect is kept, or ""
}

// causeOf returns the cause of an [askback.SendError], or nil. The cause is not in the text of the error,
// because agents may read the text in events.
func causeOf(err error) error {
	if sending, ok := errors.AsType[*askback.SendError](err); ok {
		return sending.Cause
	}
	return nil
}

// tryPerformer performs an effect with the performer. Without a performer, the attempt fails.
func (e *Service) tryPerformer(ctx context.Context, f store.Effect) (r attempt) {
	if e.Performer == nil {
		r.failed = fmt.Errorf("this process does not perform effects of kind %q", f.Kind)
	} else {
		r.in, r.failed = e.Performer.Perform(ctx, Effect{f.ID, f.Kind, f.Subject, f.Attempts, f.Data})
	}
	if r.failed != nil && f.Attempts < performAttempts {
		r.retry = e.Clock().Add(performBackOff(f.Attempts))
	}
	return r
}

// performBackOff returns the pause after a failed attempt. The pause is a random time between half of a
// maximum and the maximum. The maximum doubles with each attempt, up to performMaxPause.
func performBackOff(attempt int) time.Duration {
	longest := min(performPause<<min(attempt-1, 20), performMaxPause)
	return longest/2 + rand.N(longest/2)
}

// complete commits the completion of an effect and, unless r.in is nil, the step of the record that the
// effect belongs to. The effect becomes a dead letter if that record is damaged or cannot be decoded. It also
// becomes a dead letter if the machine rejects the input for a reason other than [askback.ErrSettled].
func (e *Service) complete(ctx context.Context, f store.Effect, done store.Completion, r attempt) error {
	return e.Update(ctx, func(t *txn.Tx) (err error) {
		done := done
		if r.in != nil {
			refused := stepSubject(t, f, r.in)
			var damaged askback.DamagedError
			switch {
			case refused == nil || errors.Is(refused, askback.ErrSettled):
			case errors.As(refused, &refusedError{}), errors.Is(refused, txn.ErrUnreadable),
				errors.As(refused, &damaged):
				done.Dead, done.Error = true, refused.Error()
			default:
				return refused
			}
		}
		if r.kept != "" {
			if done, err = holdEffect(t, done, r.kept); err != nil {
				return err
			}
		}
		t.Change.Done = append(t.Change.Done, done)
		return nil
	})
}

// A refusedError is the error of a machine that rejected an input.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// stepSubject steps the record that an effect belongs to. If its machine rejects the
// input, the error is a refusedError.
func stepSubject(t *txn.Tx, f store.Effect, in lifecycle.Input) error {
	switch f.SubjectKind {
	case txn.KindAsk:
		a, err := t.AskNow(f.Subject)
		return stepRead(t, a, err, in)
	case txn.KindSession:
		s, err := t.Session(f.Subject)
		return stepRead(t, s, err, in)
	}
	return fmt.Errorf("%w: %s %s has no machine", txn.ErrUnreadable, f.SubjectKind, f.Subject)
}

// stepRead steps a record that was read with the error err. If err is not nil, it only returns err.
func stepRead[S txn.Machine[S]](t *txn.Tx, r *txn.Record[S], err error, in lifecycle.Input) error {
	if err != nil {
		return err
	}
	if refused := r.Step(t, in); refused != nil {
		return refusedError{refused}
	}
	return nil
}

// DeadLetters returns the effects that are not tried again, because they failed too often or their result was
// rejected. They are sorted by id. DeadLetters uses the fields Kind, Stream, After, Newest and Limit of the
// query.
func (e *Service) DeadLetters(ctx context.Context, q store.Query) ([]store.Effect, error) {
	effects, err := e.Store.Dead(ctx, q)
	return effects, txn.FromStore(err)
}

// RetryDeadLetter makes a dead letter due immediately. A delivery starts its attempts again. Another effect
// that has failed too often gets one more attempt. The error is [askback.ErrNotFound] if there is no dead
// letter with this id.
func (e *Service) RetryDeadLetter(ctx context.Context, id string) error {
	f, err := e.deadLetter(ctx, id)
	if err != nil {
		return err
	}
	return e.reviveDeadLetter(ctx, f)
}

// reviveDeadLetter makes a dead letter due immediately. If another delivery of the same ask or session is
// queued, it deletes the dead letter. The delivery of the dead letter then waits for the queued delivery.
// Afterwards it gets a new effect.
func (e *Service) reviveDeadLetter(ctx context.Context, f store.Effect) error {
	return e.Update(ctx, func(t *txn.Tx) error {
		done := store.Completion{ID: f.ID, Retry: t.Now()}
		if f.Kind == kindSend {
			if err := stepSubject(t, f, lifecycle.SendAgain{ID: f.ID, At: t.Now()}); err != nil {
				return err
			}
			d, err := deliveryOf(t, f)
			if err != nil {
				return err
			}
			if d.Status == askback.DeliveryWaiting {
				done.Retry = time.Time{}
			}
			t.Effects = slices.DeleteFunc(t.Effects, func(effect lifecycle.Effect) bool {
				send, ok := effect.(lifecycle.Send)
				return ok && send.ID == f.ID // the delivery of this dead letter
			})
		}
		t.Change.Done = append(t.Change.Done, done)
		return nil
	})
}

// deliveryOf locks and reads the record that an effect belongs to, and returns the delivery of the effect.
func deliveryOf(t *txn.Tx, f store.Effect) (d askback.Delivery, err error) {
	if f.SubjectKind == txn.KindSession {
		s, err := t.Session(f.Subject)
		if err == nil {
			d, _ = s.State.Delivery(f.ID)
		}
		return d, err
	}
	a, err := t.Ask(f.Subject)
	if err == nil {
		d, _ = a.State.Delivery(f.ID)
	}
	return d, err
}

// deadLetter returns the dead letter with an id. The error is [askback.ErrNotFound] if there is no such dead
// letter.
func (e *Service) deadLetter(ctx context.Context, id string) (store.Effect, error) {
	for f, err := range lister(e.Store.Dead).each(ctx, "") {
		if err != nil || f.ID == id {
			return f, err
		}
	}
	return store.Effect{}, fmt.Errorf("dead letter %s: %w", id, askback.ErrNotFound)
}
