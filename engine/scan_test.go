package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// shortStore is a store whose List examines only a thousandth of the allowed number of records. It counts the
// calls of List with and without such a limit.
type shortStore struct {
	engine.Store
	limited, unlimited atomic.Int64
	delay              time.Duration // the delay of each call with a limit
}

func (s *shortStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	if q.Scan == 0 {
		s.unlimited.Add(1)
		return s.Store.List(ctx, q)
	}
	s.limited.Add(1)
	<-time.After(s.delay)
	q.Scan /= 1000
	return s.Store.List(ctx, q)
}

// A page of a list ends after a bounded number of records, even if it is empty. All pages
// together have every ask.
func TestPageExaminesBoundedNumberOfRecords(t *testing.T) {
	kept := &shortStore{Store: memstore.New()}
	p := newFixture(t, kept, nil)
	to := func(name string, n int) {
		for range n {
			r := question()
			r.To = []string{name}
			p.ask(r)
		}
	}
	to("ben", 100) // a page for ana examines about 200 records
	to("ana", 1)
	to("ben", 400)
	to("ana", 1)
	var found, empty, pages int
	kept.unlimited.Store(0) // do not count the queries for the people named in the asks above
	for q := (askback.Query{}); ; pages++ {
		kept.limited.Store(0)
		page, err := p.ana.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if n := kept.limited.Load(); n > 42 {
			t.Errorf("page %d: %d reads of 5 records, want at most 42", pages, n)
		}
		if found += len(page.Items); len(page.Items) == 0 {
			empty++
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if found != 2 || empty == 0 {
		t.Errorf("got %d asks on %d pages, %d of them empty, want two asks after an empty page", found, pages+1, empty)
	}
	if got, err := p.ana.Stats(t.Context()); err != nil || !got.Partial || got.Pending != 1 {
		t.Errorf("statistics: got %+v, %v, want the first ask, and that others may follow", got, err)
	}
	for ev, err := range p.ana.Events(t.Context(), "", "") {
		if err != nil || !strings.Contains(string(ev.Data), `"more":true`) {
			t.Errorf("got %s, %v, want a snapshot of a part", ev.Data, err)
		}
		break
	}
	if n := kept.unlimited.Load(); n > 0 {
		t.Errorf("%d lists examine any number of records", n)
	}
}

// A page of a list ends after a limited time, even if it is empty.
func TestPageOfSlowStoreEndsAfterALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &shortStore{Store: memstore.New(), delay: 100 * time.Millisecond}
		p := newFixture(t, kept, nil)
		for range 100 {
			r := question()
			r.To = []string{"ben"}
			p.ask(r)
		}
		began := time.Now()
		page, err := p.ana.List(t.Context(), askback.Query{})
		if took := time.Since(began); err != nil || page.NextCursor == "" || took > 300*time.Millisecond {
			t.Errorf("got cursor %q, %v after %s, want a cursor after 300ms", page.NextCursor, err, took)
		}
	})
}

// The clean-up skips any number of open asks. Each of its reads skips a limited number.
func TestOldAskBehindManyOpenAsksIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &shortStore{Store: memstore.New()}
		p := newFixture(t, kept, &engine.Options{Settings: engine.Settings{Retention: time.Hour}})
		for range 400 {
			p.ask(question())
		}
		a := p.ask(question())
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("Yes")); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		stop := p.run()
		synctest.Wait()
		<-time.After(time.Minute)
		stop()
		if _, err := p.ana.Get(t.Context(), a.ID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("got %v, want the old ask deleted", err)
		}
		if n := kept.limited.Load(); n < 400/5 {
			t.Errorf("got %d reads, want at least one for five open asks", n)
		}
	})
}
