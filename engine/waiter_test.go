package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// Waiters and the observer are notified after the commit (F2).
func TestNothingIsPublishedBeforeCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorder{}
		p := newFixture(t, memstore.New(), &engine.Options{Observer: log})
		a := p.ask(question())
		log.wait(t, "question_pending pending")
		w := p.wait(context.Background(), a.ID)
		held := make(chan struct{})
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			first, err := next(ctx, c) // the outcome is committed, but not yet published
			<-held
			return first, err
		})
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := p.ana.Answer(context.Background(), a.ID, askback.Choose("SQLite")); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if w.ended() {
			t.Errorf("the wait ended with %s before the commit returned", w.ask.Status)
		}
		log.wait(t)
		wantStatus(t, p.get(a.ID), askback.Pending)
		close(held)
		group.Wait()
		<-w.done
		wantStatus(t, w.ask, askback.Answered)
		log.wait(t, "question_answered answered")
	})
}

func TestFailedCommitIsNotPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorder{}
		p := newFixture(t, memstore.New(), &engine.Options{Observer: log})
		a := p.ask(questionWithTimeout(time.Minute, askback.OnTimeoutFail))
		log.wait(t, "question_pending pending")
		ctx, cancel := context.WithCancel(context.Background())
		w := p.wait(ctx, a.ID)
		fault := errors.New("the disk is full")
		p.store.onCommit(func(context.Context, store.Change, committer) (int64, error) { return 0, fault })
		got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		if err == nil || got.ID != "" {
			t.Errorf("got ask %q and error %v, want an error alone", got.ID, err)
		}
		stop := p.run()
		<-time.After(2 * time.Minute)
		stop()
		synctest.Wait()
		if w.ended() {
			t.Errorf("the wait ended with %s and error %v", w.ask.Status, w.err)
		}
		log.wait(t)
		cancel()
		<-w.done
		wantError(t, w.err, context.Canceled)
		wantStatus(t, w.ask, askback.Pending)
	})
}

// recorder is an observer that records its calls.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (l *recorder) Committed(event askback.EventType, a askback.Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(event)+" "+string(a.Status))
}

// wait waits until the bubble is idle, and requires that the calls since the last wait equal want.
func (l *recorder) wait(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, want) {
		t.Errorf("the observer was told %q, want %q", l.lines, want)
	}
	l.lines = nil
}

// The observer is called once for each event, in order. A step that changes nothing causes no call.
func TestObserverIsCalledOncePerEventInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorder{}
		p := newFixture(t, memstore.New(), &engine.Options{Observer: log})
		a := p.ask(confirmation())
		for _, do := range []func() (askback.Ask, error){
			func() (askback.Ask, error) { return p.ana.Claim(t.Context(), a.ID) },
			func() (askback.Ask, error) { return p.ana.Claim(t.Context(), a.ID) },
			func() (askback.Ask, error) {
				return p.ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
			},
			func() (askback.Ask, error) {
				return p.ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
			},
			func() (askback.Ask, error) { return p.ben.Decline(t.Context(), a.ID, "no") },
			func() (askback.Ask, error) { return p.agent.Consume(t.Context(), a.ID, a.Confirmation.Digest) },
			func() (askback.Ask, error) { return p.agent.Consume(t.Context(), a.ID, a.Confirmation.Digest) },
		} {
			_, _ = do() // the results are checked in other tests
		}
		log.wait(t, "question_pending pending", "question_claimed pending", "question_answered answered",
			"answer_refused answered", "question_consumed answered")
	})
}

// A call reads an ask before a step and returns after the step. If the call cached the old state, a later
// Wait would block on a settled ask.
func TestSlowReadDoesNotCacheOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		a := newFixture(t, kept, nil).ask(question())
		p := newFixture(t, kept, nil) // the cache of this fixture is empty
		held := make(chan struct{})
		var later atomic.Bool
		p.store.onRead(func(ctx context.Context, kind, id string) (store.Record, error) {
			r, err := kept.Read(ctx, kind, id)
			if !later.Swap(true) {
				<-held
			}
			return r, err
		})
		overtaken := p.wait(context.Background(), a.ID)
		synctest.Wait()
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		close(held)
		synctest.Wait()
		if !overtaken.ended() {
			t.Error("who waited meanwhile was not told")
		}
		wantStatus(t, p.get(a.ID), askback.Answered)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := p.agent.Wait(ctx, a.ID)
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		wantStatus(t, got, askback.Answered)
		<-overtaken.done
	})
}

// A person answers an ask after its commit, before the call of Ask has returned. The answered ask is evicted
// from the cache. The call of Ask must not then cache the old state.
func TestSlowAskDoesNotCacheOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &recorder{}
		p := newFixture(t, memstore.New(), &engine.Options{CacheBytes: 4000, Observer: log})
		held := make(chan struct{})
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			first, err := next(ctx, c)
			if c.Put[0].Version == 0 {
				<-held
			}
			return first, err
		})
		var group sync.WaitGroup
		group.Go(func() { p.ask(question()) })
		synctest.Wait()
		page, err := p.ana.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("got %d asks and error %v, want one", len(page.Items), err)
		}
		id := page.Items[0].ID
		group.Go(func() {
			if _, err := p.ana.Answer(context.Background(), id, askback.Choose("SQLite")); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		p.store.onCommit(nil)
		for range 10 {
			other := p.ask(question())
			if _, err := p.ana.Answer(t.Context(), other.ID, askback.Choose("SQLite")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		log.lines = nil
		close(held)
		group.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := p.agent.Wait(ctx, id)
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		wantStatus(t, got, askback.Answered)
		log.wait(t, "question_pending pending", "question_answered answered")
	})
}

// If the context has ended, Wait returns immediately, with the ask and the error of the context (D3).
func TestWaitWithEndedContextReturnsAsk(t *testing.T) {
	kept := memstore.New()
	a := newFixture(t, kept, nil).ask(question())
	p := newFixture(t, kept, nil) // the cache of this fixture is empty
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := p.agent.Wait(ctx, a.ID)
	wantError(t, err, context.Canceled)
	wantStatus(t, got, askback.Pending)
	if got.ID != a.ID {
		t.Errorf("got ask %q, want %q", got.ID, a.ID)
	}
	_, err = p.agent.Wait(ctx, "ask_00000000000000000000000000")
	wantError(t, err, askback.ErrNotFound)
}

func TestWaitersGetSeparateCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a := p.ask(question())
		one, two := p.wait(context.Background(), a.ID), p.wait(context.Background(), a.ID)
		synctest.Wait()
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		<-one.done
		<-two.done
		one.ask.Outcome.Answers[0].Selected[0], one.ask.Questions[0].Options[0].Label = "?", "?"
		for _, got := range []askback.Ask{two.ask, p.get(a.ID)} {
			if got.Outcome.Answers[0].Selected[0] != "SQLite" || got.Questions[0].Options[0].Label != "PostgreSQL" {
				t.Errorf("got outcome %+v of %+v, which another has changed", got.Outcome, got.Questions)
			}
		}
	})
}

// Steps of one ask run one after another. A cancelled step does not delay the next steps.
func TestCancelledStepDoesNotDelayOtherSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a, other := p.ask(question()), p.ask(question())
		held := make(chan struct{})
		var at atomic.Int64
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if c.Put[0].ID == a.ID {
				if n := at.Add(1); n > 1 {
					t.Errorf("%d steps of one ask are concurrent", n)
				}
				defer at.Add(-1)
				<-held
			}
			return next(ctx, c)
		})
		var group sync.WaitGroup
		claim := func(ctx context.Context, want error) {
			group.Go(func() {
				if _, err := p.ana.Claim(ctx, a.ID); !errors.Is(err, want) {
					t.Errorf("got error %v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		claim(context.Background(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		claim(ctx, context.Canceled)
		claim(context.Background(), nil)
		claim(ctx, context.Canceled)
		claim(context.Background(), nil)
		cancel()
		synctest.Wait()
		claim(ctx, context.Canceled)
		if _, err := p.ben.Answer(t.Context(), other.ID, askback.Choose("SQLite")); err != nil {
			t.Errorf("another ask is held up: %v", err)
		}
		close(held)
		group.Wait()
		synctest.Wait()
		if _, err := p.ben.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Errorf("got error %v, want none", err)
		}
	})
}

// Every waiter gets the outcome, although readers and writers are delayed at random and the cache is small.
// The test is meant for the race detector.
func TestEveryWaiterGetsOutcome(t *testing.T) {
	const rounds, waiters = 300, 8
	p := newFixture(t, memstore.New(), &engine.Options{CacheBytes: 20_000})
	linger := func() {
		for range rand.N(20) {
			runtime.Gosched()
		}
	}
	p.store.onRead(func(ctx context.Context, kind, id string) (store.Record, error) {
		linger()
		r, err := p.store.Store.Read(ctx, kind, id)
		linger()
		return r, err
	})
	p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
		linger()
		first, err := next(ctx, c)
		linger()
		return first, err
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for range rounds {
		a := p.ask(question())
		for range waiters {
			group.Go(func() {
				linger()
				if got, err := p.agent.Wait(ctx, a.ID); err != nil || !got.Settled() {
					t.Errorf("got %s and error %v, want the outcome", got.Status, err)
				}
			})
		}
		group.Go(func() {
			linger()
			_, _ = p.ana.Claim(ctx, a.ID)
			if _, err := p.ana.Answer(ctx, a.ID, askback.Choose("SQLite")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
