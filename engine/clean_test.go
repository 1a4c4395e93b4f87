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

// Asks that have been settled for the retention time are deleted with their history. Sessions that have ended
// are deleted, too. Open asks are kept. A reader whose cursor is older than the deletion gets a snapshot
// (E9).
func TestOldSettledAsksAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		e := engine.New(kept, &engine.Options{Settings: engine.Settings{Retention: 9 * 24 * time.Hour}})
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		ctx := t.Context()
		go func() { _ = e.Run(ctx) }()
		ask := func(key string) askback.Ask {
			t.Helper()
			a, err := agent.Ask(ctx, askback.Request{Questions: []askback.Question{{Text: "Name?"}}, SessionKey: key})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		answer := func(a askback.Ask) {
			t.Helper()
			if _, err := ana.Answer(ctx, a.ID, askback.Choose("x")); err != nil {
				t.Fatal(err)
			}
		}
		settled, open, inRun, late := ask(""), ask(""), ask("run"), ask("")
		answer(settled)
		answer(inRun)
		var before askback.Cursor
		for ev, err := range ana.Events(ctx, "", "") {
			if err != nil {
				t.Fatal(err)
			}
			before = ev.Cursor
			break
		}
		if _, err := agent.Send(ctx, inRun.SessionID, askback.Complete{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(8 * 24 * time.Hour)
		synctest.Wait()
		answer(late)
		if _, err := ana.Get(ctx, settled.ID); err != nil {
			t.Errorf("after 8 days: got %v, want the ask", err)
		}
		<-time.After(2 * 24 * time.Hour)
		synctest.Wait()
		for _, gone := range []askback.Ask{settled, inRun} {
			if _, err := ana.Get(ctx, gone.ID); !errors.Is(err, askback.ErrNotFound) {
				t.Errorf("after 10 days: got %v, want it forgotten", err)
			}
			lines, err := kept.History(ctx, gone.SessionID, 0, 10)
			if err != nil || len(lines) > 0 {
				t.Errorf("after 10 days: got lines %v, %v, want none", lines, err)
			}
		}
		if _, err := ana.Session(ctx, inRun.SessionID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("the session: got %v, want it forgotten", err)
		}
		for _, stays := range []askback.Ask{open, late} {
			if _, err := ana.Get(ctx, stays.ID); err != nil {
				t.Errorf("after 10 days: got %v, want the ask", err)
			}
		}
		for ev, err := range ana.Events(ctx, "", before) {
			if err != nil || ev.Type != "snapshot" {
				t.Errorf("a cursor of lines that are gone: got %s, %v, want a snapshot", ev.Type, err)
			}
			break
		}
		page, err := ana.List(ctx, askback.Query{Status: askback.AnyStatus})
		if err != nil || !slices.ContainsFunc(page.Items, func(a askback.Ask) bool { return a.ID == open.ID }) {
			t.Errorf("got %v, %v, want the open ask in the list", page.Items, err)
		}
	})
}

// A clean-up deletes many old records in several commits. Between two of these commits, asks expire on time.
func TestDeadlinesPassWhileOldAsksAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old = 640
		p := newFixture(t, memstore.New(), &engine.Options{Settings: engine.Settings{Retention: time.Hour}})
		for range old {
			if _, err := p.ana.Answer(t.Context(), p.ask(question()).ID, askback.Choose("SQLite")); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(2 * time.Hour)
		var changes, deleted atomic.Int64
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if len(c.Delete) > 0 {
				changes.Add(1)
				<-time.After(100 * time.Millisecond) // a slow disk
				defer deleted.Add(int64(len(c.Delete)))
			}
			return next(ctx, c)
		})
		a := p.ask(questionWithTimeout(500*time.Millisecond, ""))
		defer p.run()()
		<-time.After(time.Until(a.Deadline))
		synctest.Wait()
		wantStatus(t, p.get(a.ID), askback.Expired)
		if n := deleted.Load(); n == 0 || n >= old {
			t.Errorf("at the deadline %d of %d asks were deleted, want some and not all", n, old)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if n, m := deleted.Load(), changes.Load(); n != old || m > old/64 {
			t.Errorf("deleted %d asks with %d changes, want %d with at most %d", n, m, old, old/64)
		}
	})
}

// An ask that changes after it was selected for deletion is kept. The other asks of the commit are deleted
// (E9).
func TestAskChangedSinceSelectionIsNotDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{Settings: engine.Settings{Retention: time.Hour}})
		var asks []askback.Ask
		for range 5 {
			a := p.ask(question())
			if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
				t.Fatal(err)
			}
			asks = append(asks, a)
		}
		<-time.After(2 * time.Hour)
		first := true
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			if first && len(c.Delete) > 0 {
				first = false
				if _, err := p.agent.Ack(ctx, asks[2].ID); err != nil {
					t.Error(err)
				}
			}
			return next(ctx, c)
		})
		defer p.run()()
		<-time.After(time.Minute)
		synctest.Wait()
		for i, a := range asks {
			_, err := p.ana.Get(t.Context(), a.ID)
			if gone := errors.Is(err, askback.ErrNotFound); gone != (i != 2) {
				t.Errorf("ask %d: got error %v, want only the changed ask to stay", i, err)
			}
		}
	})
}
