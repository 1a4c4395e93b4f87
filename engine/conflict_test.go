package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// failWithConflict returns a commit that fails n times with ErrConflict, as if another
// process had committed first.
func failWithConflict(n int) func(ctx context.Context, c store.Change, next committer) (int64, error) {
	var met atomic.Int64
	return func(ctx context.Context, c store.Change, next committer) (int64, error) {
		if met.Add(1) <= int64(n) {
			return 0, store.ErrConflict
		}
		return next(ctx, c)
	}
}

func TestConflictIsRetried(t *testing.T) {
	for _, n := range []int{1, 5, 30} {
		synctest.Test(t, func(t *testing.T) {
			p := newFixture(t, memstore.New(), nil)
			a := p.ask(question())
			p.store.onCommit(failWithConflict(n))
			got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
			if err != nil {
				t.Errorf("after %d conflicts: got error %v, want none", n, err)
			}
			wantStatus(t, got, askback.Answered)
			if got, want := p.history(a), []string{"question_pending", "question_answered"}; !slices.Equal(got, want) {
				t.Errorf("got history %q, want %q", got, want)
			}
		})
	}
}

// An operation is retried for five seconds, or until the context of its caller ends.
func TestEndlessConflictsReturnErrBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a := p.ask(question())
		p.store.onCommit(failWithConflict(1 << 30))
		begin := time.Now()
		got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		wantError(t, err, askback.ErrBusy)
		if took := time.Since(begin); took != 5*time.Second || got.ID != "" {
			t.Errorf("got ask %q after %v, want none after 5s", got.ID, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = p.ana.Answer(ctx, a.ID, askback.Choose("SQLite"))
		wantError(t, err, context.DeadlineExceeded)
		if took := time.Since(begin); took != 6*time.Second {
			t.Errorf("the caller's second took %v", took-5*time.Second)
		}
		if _, err := p.agent.Ask(t.Context(), question()); !errors.Is(err, askback.ErrBusy) {
			t.Errorf("ask: got error %v, want %v", err, askback.ErrBusy)
		}
		p.store.onCommit(nil)
		wantStatus(t, p.get(a.ID), askback.Pending)
		if _, err = p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Errorf("got error %v when it was over, want none", err)
		}
	})
}

// If two processes use one store, a stale cache leads to a conflict. It never leads to a second answer or a
// second use of an approval.
func TestAnswerOfOtherProcessWins(t *testing.T) {
	kept := memstore.New()
	here, there := newFixture(t, kept, nil), newFixture(t, kept, nil)
	a := here.ask(question())
	here.get(a.ID)
	if _, err := there.ben.Answer(t.Context(), a.ID, askback.Choose("PostgreSQL")); err != nil {
		t.Fatal(err)
	}
	got, err := here.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
	wantError(t, err, askback.ErrSettled)
	wantStatus(t, got, askback.Answered)
	if got.Outcome == nil || got.Outcome.Actor.Name != "ben" || got.Outcome.Answers[0].String() != "PostgreSQL" {
		t.Errorf("got outcome %+v, want ben's", got.Outcome)
	}
	if got, want := here.history(a), []string{
		"question_pending", "question_answered", "answer_refused",
	}; !slices.Equal(got, want) {
		t.Errorf("got history %q, want %q", got, want)
	}

	b := here.ask(confirmation())
	here.get(b.ID)
	if _, err := there.ana.Answer(t.Context(), b.ID, askback.Decide(askback.Approve, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := there.agent.Consume(t.Context(), b.ID, b.Confirmation.Digest); err != nil {
		t.Fatal(err)
	}
	_, err = here.agent.Consume(t.Context(), b.ID, b.Confirmation.Digest)
	if !errors.Is(err, askback.ErrNotApproved) && !errors.Is(err, askback.ErrConsumed) {
		t.Errorf("got error %v, want the approval to be spent", err)
	}
}

// failWithUnknown returns a commit that fails with ErrUnknown. If kept is set, the commit first commits the
// change.
func failWithUnknown(kept bool) func(ctx context.Context, c store.Change, next committer) (int64, error) {
	return func(ctx context.Context, c store.Change, next committer) (int64, error) {
		if kept {
			if _, err := next(ctx, c); err != nil {
				return 0, err
			}
		}
		return 0, store.ErrUnknown
	}
}

func TestUnknownCommitThatSucceededReturnsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		p.store.onCommit(failWithUnknown(true))
		a := p.ask(question())
		wantStatus(t, a, askback.Pending)
		w := p.wait(context.Background(), a.ID)
		synctest.Wait()
		got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		if err != nil {
			t.Errorf("answer: got error %v, want none", err)
		}
		wantStatus(t, got, askback.Answered)
		<-w.done
		wantStatus(t, w.ask, askback.Answered)

		// The answer is committed and published even if its caller has stopped waiting.
		b := p.ask(question())
		w = p.wait(context.Background(), b.ID)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			_, err := next(ctx, c)
			cancel()
			return 0, errors.Join(err, store.ErrUnknown)
		})
		if _, err = p.ana.Answer(ctx, b.ID, askback.Choose("SQLite")); err != nil {
			t.Errorf("answer: got error %v, want none", err)
		}
		synctest.Wait()
		if !w.ended() {
			t.Error("the wait goes on after the answer was kept")
		}
		p.store.onCommit(nil)
		if _, err := p.ben.Decline(t.Context(), b.ID, ""); !errors.Is(err, askback.ErrSettled) {
			t.Errorf("got error %v, want %v", err, askback.ErrSettled)
		}
		<-w.done
	})
}

// Two processes consume an approval in the same millisecond, so they write equal states. If the result of a
// commit is unknown, an equal stored state is no proof, because the other process may have written that state
// (F7).
func TestConsumeReturnsErrUnknownDespiteEqualState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		here, there := newFixture(t, kept, nil), newFixture(t, kept, nil)
		a := here.ask(confirmation())
		if _, err := here.ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		here.store.onCommit(func(ctx context.Context, _ store.Change, _ committer) (int64, error) {
			_, err := there.agent.Consume(ctx, a.ID, a.Confirmation.Digest)
			return 0, errors.Join(err, store.ErrUnknown)
		})
		_, err := here.agent.Consume(t.Context(), a.ID, a.Confirmation.Digest)
		wantError(t, err, askback.ErrUnknown)
		here.store.onCommit(nil)
		_, err = here.agent.Consume(t.Context(), a.ID, a.Confirmation.Digest)
		wantError(t, err, askback.ErrConsumed)
	})
}

func TestUnknownCommitThatFailedReturnsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a := p.ask(question())
		ctx, cancel := context.WithCancel(t.Context())
		w := p.wait(ctx, a.ID)
		p.store.onCommit(failWithUnknown(false))
		if got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err == nil {
			t.Errorf("answer: got ask %s and no error", got.Status)
		}
		if got, err := p.agent.Ask(t.Context(), question()); err == nil {
			t.Errorf("ask: got ask %s and no error", got.ID)
		}
		synctest.Wait()
		if w.ended() {
			t.Errorf("the wait ended with %s and error %v", w.ask.Status, w.err)
		}
		cancel()
		<-w.done
		p.store.onCommit(nil)
		wantStatus(t, p.get(a.ID), askback.Pending)
		got, err := p.ben.Answer(t.Context(), a.ID, askback.Choose("PostgreSQL"))
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		wantStatus(t, got, askback.Answered)
		if page, err := p.agent.List(t.Context(), askback.Query{Status: askback.AnyStatus}); err != nil ||
			len(page.Items) != 1 {
			t.Errorf("got %d asks and error %v, want one", len(page.Items), err)
		}
	})
}

// Methods of a client return errors of package askback, never errors of the store.
func TestStoreErrorsAreTranslated(t *testing.T) {
	for theirs, ours := range map[error]error{
		store.ErrFull: askback.ErrFull, store.ErrClosed: askback.ErrStopping, store.ErrFailed: askback.ErrStopping,
		store.ErrDiskFull: askback.ErrDiskFull, store.ErrUnknown: askback.ErrUnknown,
	} {
		p := newFixture(t, memstore.New(), nil)
		a, c := p.ask(question()), p.ask(confirmation())
		if _, err := p.ana.Answer(t.Context(), c.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		p.store.onCommit(func(context.Context, store.Change, committer) (int64, error) { return 0, theirs })
		for name, do := range map[string]func() (askback.Ask, error){
			"ask":     func() (askback.Ask, error) { return p.agent.Ask(t.Context(), question()) },
			"answer":  func() (askback.Ask, error) { return p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")) },
			"decline": func() (askback.Ask, error) { return p.ana.Decline(t.Context(), a.ID, "") },
			"claim":   func() (askback.Ask, error) { return p.ana.Claim(t.Context(), a.ID) },
			"cancel":  func() (askback.Ask, error) { return p.agent.Cancel(t.Context(), a.ID, "") },
			"consume": func() (askback.Ask, error) { return p.agent.Consume(t.Context(), c.ID, c.Confirmation.Digest) },
		} {
			if got, err := do(); !errors.Is(err, ours) || got.ID != "" {
				t.Errorf("%v: %s: got ask %q and error %v, want %v", theirs, name, got.ID, err, ours)
			}
		}
		wantStatus(t, p.get(a.ID), askback.Pending)
		// A late answer returns ErrSettled even if the store fails to record it.
		got, err := p.ben.Answer(t.Context(), c.ID, askback.Decide(askback.Deny, ""))
		wantError(t, err, askback.ErrSettled)
		if got.Outcome == nil || got.Outcome.Actor.Name != "ana" {
			t.Errorf("got outcome %+v, want ana's", got.Outcome)
		}
		p.store.onCommit(nil)
		if _, err := p.agent.Consume(t.Context(), c.ID, c.Confirmation.Digest); err != nil {
			t.Errorf("consume: got error %v, want the approval to be unspent", err)
		}
	}
	p := newFixture(t, memstore.New(), nil)
	a := p.ask(question())
	if err := p.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := p.agent.List(t.Context(), askback.Query{})
	wantError(t, err, askback.ErrStopping)
	_, err = newFixture(t, p.store, nil).agent.Get(t.Context(), a.ID)
	wantError(t, err, askback.ErrStopping)
}

// An approval that another process recorded can be consumed, although the cache of this process has the old
// ask.
func TestStaleCacheDoesNotRejectConsume(t *testing.T) {
	s := memstore.New()
	here, there := engine.New(s, nil), engine.New(s, nil)
	agent := here.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	a, err := agent.Ask(t.Context(),
		askback.Request{Confirmation: &askback.Confirmation{ToolName: "rm", Input: []byte(`{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := there.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), a.ID,
		askback.Decide(askback.Approve, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Consume(t.Context(), a.ID, a.Confirmation.Digest); err != nil {
		t.Errorf("consume: %v", err)
	}
}
