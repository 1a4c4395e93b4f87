package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// countingStore counts the records and events that a test reads from the store.
type countingStore struct {
	engine.Store
	rows atomic.Int64
}

func (c *countingStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	records, err := c.Store.List(ctx, q)
	c.rows.Add(int64(len(records)))
	return records, err
}

func (c *countingStore) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	lines, err := c.Store.History(ctx, stream, after, limit)
	c.rows.Add(int64(len(lines)))
	return lines, err
}

func (c *countingStore) Recent(ctx context.Context, stream string, before int64, limit int) ([]store.Event, error) {
	lines, err := c.Store.Recent(ctx, stream, before, limit)
	c.rows.Add(int64(len(lines)))
	return lines, err
}

// Stats and Agents read a bounded number of asks. If there are more asks, Partial is set in the statistics
// (F16).
func TestStatsReadBoundedNumberOfAsks(t *testing.T) {
	kept := &countingStore{Store: memstore.New()}
	p := newFixture(t, kept, nil)
	for range 4500 { // more open asks than Stats reads
		p.ask(question())
	}
	for name, c := range map[string]struct {
		read func() error
		most int64
	}{
		"stats": {func() error {
			got, err := p.ana.Stats(t.Context())
			if !got.Partial {
				t.Errorf("got %+v, want it to be partial", got)
			}
			return err
		}, 8400},
		"agents": {func() error { _, err := p.ana.Agents(t.Context()); return err }, 4200},
	} {
		kept.rows.Store(0)
		if err := c.read(); err != nil {
			t.Fatal(err)
		}
		if n := kept.rows.Load(); n > c.most {
			t.Errorf("%s: read %d rows, want at most %d", name, n, c.most)
		}
	}
}

// A page of messages ends with a cursor after a bounded number of events. All pages together have all
// messages. LastMessage reads backwards from the end. It returns "" if it finds no message in a bounded
// number of events.
func TestMessagesReadBoundedNumberOfEvents(t *testing.T) {
	kept := &countingStore{Store: memstore.New()}
	p := newFixture(t, kept, nil)
	run, err := p.agent.Start(t.Context(), askback.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(what askback.Command) {
		t.Helper()
		if _, err := p.agent.Send(t.Context(), run.ID, what); err != nil {
			t.Fatal(err)
		}
	}
	tell(askback.Report{Text: "first"})
	for i := range 2200 {
		tell(askback.SetTodos{Todos: []askback.Todo{{Content: fmt.Sprint(i), Status: "pending"}}})
	}
	tell(askback.Report{Text: "<resume-context>old</resume-context> last"})
	var texts []string
	for cursor := ""; ; {
		kept.rows.Store(0)
		page, err := p.ana.Messages(t.Context(), run.ID, cursor, 10)
		if err != nil {
			t.Fatal(err)
		}
		if n := kept.rows.Load(); n > 2100 {
			t.Errorf("one page read %d lines, want at most 2100", n)
		}
		for _, m := range page.Items {
			texts = append(texts, m.Text)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(texts) != 2 || texts[1] != "last" {
		t.Errorf("got %q, want both messages", texts)
	}
	last := p.ana.(interface {
		LastMessage(ctx context.Context, session string) (string, error)
	})
	kept.rows.Store(0)
	if got, err := last.LastMessage(t.Context(), run.ID); got != "last" || err != nil || kept.rows.Load() > 100 {
		t.Errorf("got %q, %v after %d lines, want the last after a few", got, err, kept.rows.Load())
	}
	for i := range 2200 {
		tell(askback.SetTodos{Todos: []askback.Todo{{Content: fmt.Sprint(i), Status: "pending"}}})
	}
	kept.rows.Store(0)
	if got, err := last.LastMessage(t.Context(), run.ID); got != "" || err != nil || kept.rows.Load() > 2100 {
		t.Errorf("got %q, %v after %d lines, want none after a bounded look", got, err, kept.rows.Load())
	}
}

// A page of a session search has a next cursor only if another session matches.
func TestSessionSearchReturnsNoCursorAfterLastMatch(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	for _, title := range []string{"build", "deploy", "deploy again"} {
		if _, err := p.agent.Start(t.Context(), askback.SessionRequest{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	q := askback.SessionQuery{Search: "deploy", Limit: 1}
	var got []string
	for {
		page, err := p.ana.Sessions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Items {
			got = append(got, s.Title)
		}
		if len(page.Items) == 0 {
			got = append(got, "(empty page)")
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if want := []string{"deploy again", "deploy"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
