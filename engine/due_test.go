package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An ask expires at its deadline, to the millisecond, unless its on_timeout is wait (F5).
func TestDeadlinePassesOnTheMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		defer p.run()()
		for _, on := range []askback.OnTimeout{
			askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutDefault, askback.OnTimeoutWait,
		} {
			a := p.ask(questionWithTimeout(10*time.Minute, on))
			w := p.wait(context.Background(), a.ID)
			<-time.After(10*time.Minute - time.Millisecond)
			synctest.Wait()
			wantStatus(t, p.get(a.ID), askback.Pending)
			<-time.After(time.Millisecond)
			synctest.Wait()
			if on == askback.OnTimeoutWait {
				wantStatus(t, p.get(a.ID), askback.Pending)
				if w.ended() {
					t.Errorf("on_timeout wait: the wait ended with %s and error %v", w.ask.Status, w.err)
				}
				if _, err := p.agent.Cancel(context.Background(), a.ID, ""); err != nil {
					t.Error(err)
				}
				<-w.done
				continue
			}
			if !w.ended() {
				t.Fatalf("on_timeout %s: the wait goes on past the deadline", on)
			}
			wantStatus(t, w.ask, askback.Expired)
			if o := w.ask.Outcome; !o.At.Equal(a.Deadline) || o.Actor.Kind != askback.ActorTimer || o.Channel != "" {
				t.Errorf("on_timeout %s: got outcome %+v, want one of a timer at %v", on, o, a.Deadline)
			}
			if o := w.ask.Outcome; o.Defaulted != (on == askback.OnTimeoutDefault) ||
				o.Defaulted && o.Answers[0].String() != "SQLite" {
				t.Errorf("on_timeout %s: got outcome %+v", on, o)
			}
		}
	})
}

// A claim postpones the deadline to at least five minutes after the claim (F5).
func TestClaimPostponesDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		defer p.run()()
		a := p.ask(questionWithTimeout(10*time.Minute, askback.OnTimeoutFail))
		<-time.After(9 * time.Minute)
		if _, err := p.ana.Claim(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		w := p.wait(context.Background(), a.ID)
		<-w.done
		if held := w.ask.Outcome.At.Sub(a.CreatedAt); held != 14*time.Minute {
			t.Errorf("it expired after %v, want 14m", held)
		}
		if got, want := p.history(a), []string{
			"question_pending", "question_claimed", "question_expired",
		}; !slices.Equal(got, want) {
			t.Errorf("got history %q, want %q", got, want)
		}
	})
}

// One timer serves all asks and is set to the earliest deadline.
func TestRunWakesAtEarliestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		defer p.run()()
		begin := time.Now()
		took := make(map[time.Duration]time.Duration)
		waits := map[time.Duration]*waiter{}
		for _, limit := range []time.Duration{
			3 * time.Hour, 50 * time.Second, 20 * time.Second, 45 * time.Second, 10 * time.Second,
		} {
			synctest.Wait() // Run has set its timer for the previous asks
			waits[limit] = p.wait(context.Background(), p.ask(questionWithTimeout(limit, askback.OnTimeoutFail)).ID)
		}
		for limit, w := range waits {
			<-w.done
			took[limit] = w.ask.Outcome.At.Sub(begin.UTC())
		}
		for limit, after := range took {
			if after != limit {
				t.Errorf("a deadline of %v passed after %v", limit, after)
			}
		}
	})
}

// Times are stored in whole milliseconds. Run must not spin on a deadline between two milliseconds.
func TestDeadlineIsStoredInWholeMilliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		defer p.run()()
		for _, limit := range []time.Duration{1, 1500 * time.Microsecond, 2*time.Millisecond - 1} {
			a := p.ask(questionWithTimeout(limit, askback.OnTimeoutFail))
			if !a.Deadline.Equal(a.Deadline.Truncate(time.Millisecond)) {
				t.Errorf("got deadline %v, want whole milliseconds", a.Deadline)
			}
			got, err := p.agent.Wait(t.Context(), a.ID)
			if err != nil {
				t.Error(err)
			}
			wantStatus(t, got, askback.Expired)
		}
	})
}

// Without Run, no ask expires. After a restart, Run expires all asks that are overdue (T27).
func TestRunExpiresThousandsOfOverdueAsks(t *testing.T) {
	const asks = 3000
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		before := newFixture(t, kept, nil)
		for range asks {
			before.ask(questionWithTimeout(time.Hour, askback.OnTimeoutFail))
		}
		later := before.ask(questionWithTimeout(48*time.Hour, askback.OnTimeoutFail))
		<-time.After(24 * time.Hour)
		page, err := before.agent.List(t.Context(), askback.Query{Status: askback.Expired})
		if err != nil || len(page.Items) != 0 {
			t.Fatalf("got %d expired asks and error %v, want none before Run", len(page.Items), err)
		}
		after := newFixture(t, kept, nil)
		stop := after.run()
		synctest.Wait()
		stop()
		expired := 0
		for cursor := ""; ; {
			page, err := after.agent.List(t.Context(),
				askback.Query{Status: askback.Expired, Limit: askback.MaxLimit, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			expired += len(page.Items)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if expired != asks {
			t.Errorf("%d asks expired, want %d", expired, asks)
		}
		wantStatus(t, after.get(later.ID), askback.Pending)
	})
}

// A late answer, claim or cancellation is rejected even if Run has not yet expired the ask
// (E7, F6).
func TestOverdueAskExpiresBeforeLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		before := newFixture(t, kept, nil)
		a := before.ask(questionWithTimeout(time.Hour, askback.OnTimeoutDefault))
		claimed := before.ask(questionWithTimeout(time.Hour, askback.OnTimeoutFail))
		cancelled := before.ask(questionWithTimeout(time.Hour, askback.OnTimeoutFail))
		<-time.After(2 * time.Hour)
		p := newFixture(t, kept, nil)
		w := before.wait(context.Background(), a.ID) // the earlier process is still running
		got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("PostgreSQL"))
		wantError(t, err, askback.ErrSettled)
		wantStatus(t, got, askback.Expired)
		if got.Outcome == nil || !got.Outcome.Defaulted || got.Outcome.Actor.Kind != askback.ActorTimer {
			t.Errorf("got outcome %+v, want the default, by a timer", got.Outcome)
		}
		if got, want := p.history(a), []string{
			"question_pending", "question_expired", "answer_refused",
		}; !slices.Equal(got, want) {
			t.Errorf("got history %q, want %q", got, want)
		}
		got, err = p.ana.Claim(t.Context(), claimed.ID)
		wantError(t, err, askback.ErrSettled)
		wantStatus(t, got, askback.Expired)
		got, err = p.agent.Cancel(t.Context(), cancelled.ID, "")
		wantError(t, err, askback.ErrSettled)
		wantStatus(t, got, askback.Expired)

		if _, err := before.ben.Answer(t.Context(), a.ID,
			askback.Choose("SQLite")); !errors.Is(err, askback.ErrSettled) {
			t.Errorf("got error %v from the other process, want %v", err, askback.ErrSettled)
		}
		<-w.done // the rejected answer has also notified the waiter
		wantStatus(t, w.ask, askback.Expired)
	})
}

func TestRunContinuesAfterStoreError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		broken := p.ask(questionWithTimeout(time.Minute, askback.OnTimeoutFail))
		fine := p.ask(questionWithTimeout(time.Minute, askback.OnTimeoutFail))
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if c.Put[0].ID == broken.ID {
				return 0, errors.New("the disk is full")
			}
			return next(ctx, c)
		})
		looks := 0
		p.store.due = func() error {
			if looks++; looks == 1 {
				return errors.New("the disk is away")
			}
			return nil
		}
		defer p.run()()
		w := p.wait(context.Background(), fine.ID)
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if !w.ended() || w.ask.Status != askback.Expired {
			t.Errorf("got %s and error %v, want what can expire expired", w.ask.Status, w.err)
		}
		wantStatus(t, p.get(broken.ID), askback.Pending)
		if looks > 200 {
			t.Errorf("the store was asked %d times in two minutes", looks)
		}
		p.store.onCommit(nil)
		<-time.After(15 * time.Second) // by now, the pauses between the retries of Run are longer
		synctest.Wait()
		wantStatus(t, p.get(broken.ID), askback.Expired)
		<-w.done
	})
}
