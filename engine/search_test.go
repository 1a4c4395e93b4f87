package engine_test

import (
	"context"
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

// A search finds asks that were settled before the index existed, and no asks that were deleted after the
// retention time (E9).
func TestRetentionRemovesAsksFromTheIndex(t *testing.T) {
	db := memstore.New()
	now := time.Date(2026, 11, 3, 18, 30, 0, 0, time.UTC)
	e := engine.New(db,
		&engine.Options{Now: func() time.Time { return now }, Settings: engine.Settings{Retention: time.Hour}})
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	a, err := agent.Ask(t.Context(),
		askback.Request{Questions: []askback.Question{{Text: "Which table?", Options: askback.Options("A", "B")}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ana.Answer(t.Context(), a.ID, askback.Choose("A")); err != nil {
		t.Fatal(err)
	}
	find := func() string {
		t.Helper()
		ids, err := db.Find(t.Context(), store.Search{Phrases: []store.Phrase{{Words: []string{"table"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(ids, " ")
	}
	page, err := ana.List(t.Context(), askback.Query{Status: askback.SettledStatus, Search: "tab"})
	if err != nil || len(page.Items) != 1 || find() != a.ID {
		t.Fatalf("List: got %d asks, %v; the index has %q; want %s", len(page.Items), err, find(), a.ID)
	}
	now = now.Add(2 * time.Hour)
	if err := e.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := find(); got != "" {
		t.Errorf("the index has %q after the retention time", got)
	}
}

// foundIDs is a store that records the ids that searches of the index return.
type foundIDs struct {
	engine.Store
	ids []string
}

func (s *foundIDs) Find(ctx context.Context, q store.Search) ([]string, error) {
	ids, err := s.Store.Find(ctx, q)
	s.ids = append(s.ids, ids...)
	return ids, err
}

// A search reads no ask that the caller may not list. Otherwise, its time and the cursor of a page that ends
// early would depend on the words of these asks.
func TestSearchReadsOnlyAsksOfTheCaller(t *testing.T) {
	db := &foundIDs{Store: memstore.New()}
	e := engine.New(db, nil)
	ana, ben := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"}),
		e.As(askback.Principal{Kind: askback.Responder, Name: "ben b"})
	allowed := map[string]map[string]bool{}
	ask := func(owner, text string, to ...string) {
		t.Helper()
		a, err := e.As(askback.Principal{Kind: askback.Agent, Name: owner}).Ask(t.Context(), askback.Request{
			To: to, Title: text, Questions: []askback.Question{{Text: "Which?", Options: askback.Options("A", "B")}},
		})
		if err == nil {
			_, err = e.As(askback.Principal{Kind: askback.Responder, Name: append(to, "ana")[0]}).Answer(t.Context(),
				a.ID, askback.Choose("A"))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append([]string{owner}, to...) {
			if allowed[name] == nil {
				allowed[name] = map[string]bool{}
			}
			allowed[name][a.ID] = true
		}
		if len(to) == 0 {
			allowed["ana"][a.ID], allowed["ben b"][a.ID] = true, true
		}
	}
	ask("one bot", "merger", "ana", "ben b")
	ask("one bot", "merger", "ben b")
	ask("other", "merger §o §p one bot", "ana")
	ask("other", "merger")
	ask("one", "merger")
	for name, c := range map[string]askback.Client{
		"ana": ana, "ben b": ben, "other": e.As(askback.Principal{Kind: askback.Agent, Name: "other"}),
		"one bot": e.As(askback.Principal{Kind: askback.Agent, Name: "one bot"}),
	} {
		db.ids = nil
		page, err := c.List(t.Context(), askback.Query{Status: askback.SettledStatus, Search: "merger"})
		if err != nil || len(page.Items) != len(allowed[name]) || len(db.ids) != len(allowed[name]) {
			t.Errorf("%s: got %d asks, and the index found %q, %v; want %v", name, len(page.Items), db.ids, err,
				allowed[name])
		}
		for _, id := range db.ids {
			if !allowed[name][id] {
				t.Errorf("the search of %s reads %s, which is not for %s", name, id, name)
			}
		}
	}
}

// indexReads is a store that counts the reads of the index position.
type indexReads struct {
	engine.Store
	n atomic.Int64
}

func (s *indexReads) Indexed(ctx context.Context) (int64, error) {
	s.n.Add(1)
	return s.Store.Indexed(ctx)
}

// An engine without events rarely searches for new events to index.
func TestIdleEngineRarelyReadsTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &indexReads{Store: memstore.New()}
		go func() { _ = engine.New(s, nil).Run(t.Context()) }()
		<-time.After(24 * time.Hour)
		synctest.Wait()
		if got := s.n.Load(); got < 1000 || got > 1500 {
			t.Errorf("the index was read %d times a day, want about once a minute", got)
		}
	})
}
