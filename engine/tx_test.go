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
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// deleteSession deletes the record of a session, as the clean-up does.
func (p *fixture) deleteSession(id string) {
	p.Helper()
	row, err := p.store.Store.Read(context.Background(), "session", id)
	if err != nil {
		p.Fatal(err)
	}
	ref := store.Ref{Kind: row.Kind, ID: row.ID, Version: row.Version}
	if _, err := p.store.Store.Commit(context.Background(), store.Change{Delete: []store.Ref{ref}}); err != nil {
		p.Fatal(err)
	}
}

func TestAskOfDeletedSessionIsAnswered(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	r := question()
	r.SessionKey = "run"
	a := p.ask(r)
	p.deleteSession(a.SessionID)
	got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, got, askback.Answered)
}

// A session is deleted between the read of its id and the step that opens the ask. The second attempt makes a
// new session.
func TestSessionDeletedDuringAskIsMadeAgain(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	r := question()
	r.SessionKey = "run"
	old := p.ask(r)
	var reads atomic.Int64
	p.store.onRead(func(ctx context.Context, kind, id string) (store.Record, error) {
		if id == old.SessionID && reads.Add(1) == 1 {
			p.deleteSession(id)
		}
		return p.store.Store.Read(ctx, kind, id)
	})
	a := p.ask(r)
	p.store.onRead(nil)
	one, err := p.agent.Session(t.Context(), a.SessionID)
	if err != nil || a.SessionID == old.SessionID || one.AsksPending != 1 {
		t.Errorf("got session %+v, %v, want a new one with one open ask", one, err)
	}
}

// A new session, its ask and the approval by a grant are committed together, with the events in this order.
func TestAskThatGrantApprovesIsOneCommit(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	first := p.ask(confirmation())
	if _, err := p.ana.Answer(
		t.Context(), first.ID,
		askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}},
	); err != nil {
		t.Fatal(err)
	}
	var changes []store.Change
	p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
		changes = append(changes, c)
		return next(ctx, c)
	})
	r := confirmation()
	r.SessionKey = "run"
	a := p.ask(r)
	wantStatus(t, a, askback.Answered)
	if len(changes) != 1 {
		t.Fatalf("got %d commits, want one", len(changes))
	}
	var kinds, events []string
	for _, row := range changes[0].Put {
		kinds = append(kinds, row.Kind)
	}
	for _, ev := range changes[0].Events {
		events = append(events, ev.Type)
	}
	slices.Sort(kinds)
	if want := []string{"ask", "grant", "session"}; !slices.Equal(kinds, want) {
		t.Errorf("got records %q, want %q", kinds, want)
	}
	if want := []string{
		"session_started", "question_pending", "question_answered", "grant_used", "state_change", "state_change",
	}; !slices.Equal(events, want) {
		t.Errorf("got events %q, want %q", events, want)
	}
}

// If a deadline has passed but the timer has not fired, a late answer commits the expiry. The session fails
// together with the ask.
func TestLateAnswerCommitsExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		r := questionWithTimeout(time.Minute, askback.OnTimeoutFail)
		r.SessionKey = "run"
		a := p.ask(r)
		<-time.After(time.Hour)
		got, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		wantError(t, err, askback.ErrSettled)
		wantStatus(t, got, askback.Expired)
		wantStatus(t, p.get(a.ID), askback.Expired)
		if got, want := p.history(a), []string{
			"question_pending", "question_expired", "answer_refused",
		}; !slices.Equal(got, want) {
			t.Errorf("got history %q, want %q", got, want)
		}
		one, err := p.agent.Session(t.Context(), a.SessionID)
		if err != nil || one.Status != askback.SessionFailed {
			t.Errorf("got session %+v, %v, want it to have failed", one, err)
		}
	})
}

// If the commit of an expiry fails, the ask stays pending and the late answer returns the
// error of the commit.
func TestExpiryThatIsNotCommittedIsNotPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a := p.ask(questionWithTimeout(time.Minute, askback.OnTimeoutFail))
		<-time.After(time.Hour)
		p.store.onCommit(func(context.Context, store.Change, committer) (int64, error) { return 0, store.ErrDiskFull })
		_, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		if !errors.Is(err, askback.ErrDiskFull) || errors.Is(err, askback.ErrSettled) {
			t.Errorf("got error %v, want %v", err, askback.ErrDiskFull)
		}
		p.store.onCommit(nil)
		wantStatus(t, p.get(a.ID), askback.Pending)
	})
}
