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

// A search finds asks that were settled before the index existed, and none that were deleted
// after the retention time (E9).
func TestRetentionRemovesAsksFromTheIndex(t *testing.T) {
	db := memstore.New()
	now := time.Date(2026, 11, 3, 18, 30, 0, 0, time.UTC)
	e := engine.New(db, &engine.Options{Now: func() time.Time { return now }, Settings: engine.Settings{Retention: time.Hour}})
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	a, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which table?", Options: askback.Options("A", "B")}}})
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

// indexReads counts how often the position of the index is read.
type indexReads struct {
	engine.Store
	n atomic.Int64
}

func (s *indexReads) Indexed(ctx context.Context) (int64, error) {
	s.n.Add(1)
	return s.Store.Indexed(ctx)
}

// An engine without events rarely looks for new ones to add to the index.
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
