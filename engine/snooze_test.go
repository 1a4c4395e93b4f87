package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// wantHidden requires that ana's list hides an ask, or shows it if hidden is false. Each list with the ask
// must also contain its snooze until the time mark, or no snooze if mark is zero.
func (p *fixture) wantHidden(what string, a askback.Ask, hidden bool, mark time.Time) {
	p.Helper()
	for _, c := range []struct {
		snoozed *bool
		want    bool
	}{{nil, true}, {new(true), hidden}, {new(false), !hidden}} {
		page, err := p.ana.List(p.Context(), askback.Query{Snoozed: c.snoozed})
		if err != nil {
			p.Fatal(err)
		}
		if has := len(page.Items) == 1 && page.Items[0].ID == a.ID; has != c.want {
			p.Errorf("%s: got asks %v, want the ask: %v", what, page.Items, c.want)
		}
		switch {
		case len(page.Items) > 0 && !mark.IsZero():
			if len(page.Snoozes) != 1 || page.Snoozes[0] != (askback.Snooze{AskID: a.ID, Until: mark}) {
				p.Errorf("%s: got snoozes %v, want one until %v", what, page.Snoozes, mark)
			}
		case len(page.Snoozes) > 0:
			p.Errorf("%s: got snoozes %v, want none", what, page.Snoozes)
		}
	}
}

// A snoozed ask is hidden until its time, even after a restart. Then it is listed with a mark, which is
// deleted a week later (E6).
func TestAskIsListedWithAMarkAfterItsSnooze(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		p := newFixture(t, kept, nil)
		stop := p.run()
		a := p.ask(question())
		until := time.Now().UTC().Add(time.Hour)
		if _, err := p.ana.Snooze(t.Context(), a.ID, until); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour - time.Millisecond)
		p.wantHidden("before", a, true, until)
		stop()
		p = newFixture(t, kept, nil)
		stop = p.run()
		p.wantHidden("after a restart", a, true, until)
		<-time.After(time.Millisecond)
		p.wantHidden("at the time", a, false, until)
		<-time.After(limits.SnoozeMarkTime - time.Millisecond)
		p.wantHidden("for a week", a, false, until)
		<-time.After(2 * time.Minute)
		synctest.Wait()
		p.wantHidden("after a week", a, false, time.Time{})
		if rows, err := kept.List(t.Context(), store.Query{Kind: "snooze"}); err != nil || len(rows) > 0 {
			t.Errorf("got %d records and error %v, want none", len(rows), err)
		}
		stop()
	})
}

// A snooze does not postpone the deadline, and the agent gets no event about the snooze (E6, F11).
func TestSnoozeIsNotVisibleToTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		stop := p.run()
		defer stop()
		q := question()
		q.Timeout = 10 * time.Minute
		a := p.ask(q)
		before := fmt.Sprint(p.history(a))
		if _, err := p.ana.Snooze(t.Context(), a.ID, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.history(a)); got != before {
			t.Errorf("got events %s, want %s", got, before)
		}
		done, err := p.agent.Wait(t.Context(), a.ID)
		if err != nil || done.Status != askback.Expired || !done.Outcome.At.Equal(a.Deadline) {
			t.Errorf("got %+v, %v, want that the ask expired at its deadline", done.Outcome, err)
		}
		page, err := p.ana.List(t.Context(), askback.Query{Status: askback.Expired})
		if err != nil || len(page.Items) != 1 || page.Snoozes != nil {
			t.Errorf("got %+v, %v, want the ask without a snooze", page, err)
		}
	})
}

// The JSON of an ask is the same with and without a snooze of its reader, before and after
// the ask is settled.
func TestSnoozeIsNotPartOfTheAsk(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	a := p.ask(question())
	want, err := a.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.ana.Snooze(t.Context(), a.ID, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]askback.Client{"ana": p.ana, "ben": p.ben, "the agent": p.agent} {
		got, err := c.Get(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := got.MarshalJSON(); err != nil || string(b) != string(want) {
			t.Errorf("%s: got %s, %v, want %s", name, b, err, want)
		}
	}
	done, err := p.ben.Answer(t.Context(), a.ID, askback.Choose("SQLite"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := done.MarshalJSON(); err != nil || strings.Contains(string(b), "snooz") {
		t.Errorf("got %s, %v, want no snooze", b, err)
	}
}

// The number of snoozes of a person is limited. When a snooze is deleted, the person can add another snooze.
func TestNumberOfSnoozesIsLimited(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	until, ctx := time.Now().Add(time.Hour), context.Background()
	var first askback.Ask
	for i := range limits.MaxSnoozes {
		a := p.ask(question())
		if _, err := p.ana.Snooze(ctx, a.ID, until); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a
		}
	}
	last := p.ask(question())
	var invalid askback.Invalid
	if _, err := p.ana.Snooze(ctx, last.ID, until); !errors.As(err, &invalid) {
		t.Errorf("got error %v, want Invalid", err)
	}
	if _, err := p.ana.Snooze(ctx, first.ID, until.Add(time.Hour)); err != nil {
		t.Errorf("a change of a snooze: got error %v, want none", err)
	}
	if _, err := p.ben.Snooze(ctx, last.ID, until); err != nil {
		t.Errorf("another person: got error %v, want none", err)
	}
	if err := p.ana.Unsnooze(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ana.Snooze(ctx, last.ID, until); err != nil {
		t.Errorf("after a deletion: got error %v, want none", err)
	}
}
