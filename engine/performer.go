package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// An Effect is work outside the process, such as a message to send. It was committed with
// the change that requires it.
type Effect struct {
	ID      string // the same in every attempt
	Kind    string
	Subject string // id of the record that it belongs to
	Attempt int    // 1 is the first
	Data    []byte // JSON
}

// A Performer performs the effects that an [Engine] claims.
type Performer interface {
	// Perform performs one effect. It returns what happened as an input to the
	// machine of the record that the effect belongs to, or nil.
	//
	// After an error, Perform is called again later. After an error in the tenth attempt
	// or a later one, the effect is a dead letter (see [Engine.DeadLetters]). After a
	// crash Perform is called again with the same ID, although it may have succeeded.
	Perform(ctx context.Context, e Effect) (lifecycle.Input, error)
}

const (
	performSlots    = 64               // effects that are performed at once
	performAttempts = 10               // an error in this attempt or a later one makes the effect a dead letter
	performPause    = time.Second      // the longest pause after the first failure; it doubles with each one
	performMaxPause = 10 * time.Minute // the longest pause
	performStop     = 10 * time.Second // how long effects may still run when the context of Run has ended
)

// A worker claims effects, performs them and commits the results.
type worker struct {
	engine  *Engine
	node    string // the name for its claims, never used before
	slots   chan struct{}
	group   sync.WaitGroup
	renew   atomic.Bool // take a new name: the old one may have claimed effects that no goroutine performs
	backlog atomic.Bool // there may be more effects than slots
}

// performLoop performs effects until ctx ends. It queries the store when an effect is
// committed or due, when a slot becomes free that an effect may wait for, and for each
// heartbeat. Only the earliest due time is kept, so other effects may wait for the next
// heartbeat. Without a performer it does nothing.
func (e *Engine) performLoop(ctx context.Context) {
	if e.performer == nil {
		return
	}
	w := &worker{engine: e, slots: make(chan struct{}, performSlots)}
	w.renew.Store(true)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		e.effects.clear()
		if err := w.claim(ctx, work); err != nil && ctx.Err() == nil {
			e.log.Error("effects could not be claimed", "error", err)
		}
		e.effects.expect(e.clock().Add(store.HeartbeatInterval))
		e.effects.wait(ctx, e.clock)
	}
	late := time.AfterFunc(performStop, stop)
	w.group.Wait()
	late.Stop()
	stop()
}

// claim claims at most as many effects as there are free slots, and starts to perform them.
// Without a free slot, it records a heartbeat.
func (w *worker) claim(ctx, work context.Context) error {
	e, now := w.engine, w.engine.clock()
	if w.renew.Swap(false) {
		// The claims of the old name expire when its heartbeats stop.
		var err error
		if w.node, err = ids.New("node_", now, e.rand); err != nil {
			w.renew.Store(true)
			return err
		}
	}
	free := cap(w.slots) - len(w.slots)
	w.backlog.Store(true)
	if free == 0 {
		_, err := e.store.Beat(ctx, w.node, now)
		return err
	}
	effects, err := e.store.Claim(ctx, w.node, now, free)
	if errors.Is(err, store.ErrUnknown) {
		w.renew.Store(true)
	}
	for _, f := range effects {
		w.slots <- struct{}{}
		w.group.Go(func() {
			w.perform(work, f)
			<-w.slots
			if w.backlog.Load() {
				e.effects.set(e.clock())
			}
		})
	}
	w.backlog.Store(len(effects) == free)
	return err
}

// perform performs one effect and commits the result. If the commit fails, the effect is
// performed again by the process that claims it next. If another process has already
// claimed it, the commit is a conflict and the result is dropped.
func (w *worker) perform(ctx context.Context, f store.Effect) {
	e := w.engine
	in, failed := e.performer.Perform(ctx, Effect{f.ID, f.Kind, f.Subject, f.Attempts, f.Data})
	done := store.Completion{ID: f.ID, Node: f.Node}
	if failed != nil {
		done.Error = failed.Error()
		if done.Dead = f.Attempts >= performAttempts; !done.Dead {
			done.Retry = e.clock().Add(performBackOff(f.Attempts))
		}
		e.log.Warn("an effect failed", "effect", f.ID, "kind", f.Kind, "attempt", f.Attempts, "dead", done.Dead, "error", failed)
	}
	err := e.complete(context.WithoutCancel(ctx), f, done, in)
	if err != nil && !errors.Is(err, askback.ErrNotFound) { // not found: deleted with its record
		e.log.Warn("the result of an effect is dropped", "effect", f.ID, "kind", f.Kind, "error", err)
		w.renew.Store(true)
	}
}

// performBackOff returns the pause after a failed attempt: a random time from half of a
// maximum to all of it. The maximum doubles with each attempt, up to performMaxPause.
func performBackOff(attempt int) time.Duration {
	longest := min(performPause<<min(attempt-1, 20), performMaxPause)
	return longest/2 + rand.N(longest/2)
}

// complete commits the result of an attempt and, unless in is nil, the step of the record
// that the effect belongs to. If that record is damaged or cannot be decoded, or if its
// machine rejects the input for a reason other than [askback.ErrSettled], the effect becomes
// a dead letter.
func (e *Engine) complete(ctx context.Context, f store.Effect, done store.Completion, in lifecycle.Input) error {
	return e.update(ctx, func(t *tx) error {
		done := done
		if in != nil {
			refused := t.stepSubject(f, in)
			var damaged askback.DamagedError
			switch {
			case refused == nil || errors.Is(refused, askback.ErrSettled):
			case errors.As(refused, &refusedError{}), errors.Is(refused, errUnreadable), errors.As(refused, &damaged):
				done.Dead, done.Error = true, refused.Error()
			default:
				return refused
			}
		}
		t.change.Done = append(t.change.Done, done)
		return nil
	})
}

// A refusedError is the error of a machine that rejected an input.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// stepSubject steps the record that an effect belongs to. If its machine rejects the
// input, the error is a refusedError.
func (t *tx) stepSubject(f store.Effect, in lifecycle.Input) error {
	switch f.SubjectKind {
	case kindAsk:
		a, err := t.ask(f.Subject)
		return stepRead(t, a, err, in)
	case kindSession:
		s, err := t.session(f.Subject)
		return stepRead(t, s, err, in)
	}
	return fmt.Errorf("%w: %s %s has no machine", errUnreadable, f.SubjectKind, f.Subject)
}

// stepRead steps a record that was read with the error err. If err is not nil, stepRead
// only returns it.
func stepRead[S machine[S]](t *tx, r *record[S], err error, in lifecycle.Input) error {
	if err != nil {
		return err
	}
	if refused := r.step(t, in); refused != nil {
		return refusedError{refused}
	}
	return nil
}

// DeadLetters returns the effects that are not tried again, because they failed too often
// or their result was rejected. They are in order of id. DeadLetters uses the fields Kind,
// Stream, After, Newest and Limit of the query.
func (e *Engine) DeadLetters(ctx context.Context, q store.Query) ([]store.Effect, error) {
	effects, err := e.store.Dead(ctx, q)
	return effects, fromStore(err)
}

// RetryDeadLetter makes a dead letter due at once. If it has failed too often before, it
// gets one more attempt.
func (e *Engine) RetryDeadLetter(ctx context.Context, id string) error {
	return e.update(ctx, func(t *tx) error {
		t.change.Done = append(t.change.Done, store.Completion{ID: id, Retry: t.now})
		return nil
	})
}
