package engine_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/sqlite"
)

// An operation on a damaged ask returns an error with the id of the ask. Lists, streams, deadlines, stats and
// clean-up continue with the other asks.
func TestDamagedAskDoesNotAffectOtherAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newFixture(t, s, nil)
	old, late := p.ask(question()), p.ask(questionWithTimeout(time.Second, ""))
	damaged, good := p.ask(questionWithTimeout(time.Second, "")), p.ask(question())
	for _, a := range []askback.Ask{old} {
		if _, err := p.ana.Answer(ctx, a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path, `update records set state = cast(replace(cast(state as text), '"v"', '"w"') as blob), due = due where id = ?`, damaged.ID)

	var log bytes.Buffer
	p = newFixture(t, openSQLite(t, path), &engine.Options{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Settings: engine.Settings{Retention: time.Nanosecond},
	})
	for name, do := range map[string]func() error{
		"get":    func() error { _, err := p.ana.Get(ctx, damaged.ID); return err },
		"answer": func() error { _, err := p.ana.Answer(ctx, damaged.ID, askback.Choose("SQLite")); return err },
		"wait":   func() error { _, err := p.agent.Wait(ctx, damaged.ID); return err },
	} {
		var named askback.DamagedError
		if err := do(); !errors.Is(err, askback.ErrDamaged) || !errors.As(err, &named) || named.ID != damaged.ID {
			t.Errorf("%s: got error %v, want %v that names the ask", name, err, askback.ErrDamaged)
		}
	}
	page, err := p.ana.List(ctx, askback.Query{Status: askback.AnyStatus})
	ids := []string{}
	for _, a := range page.Items {
		ids = append(ids, a.ID)
	}
	want := []string{good.ID, late.ID, old.ID}
	if err != nil || !slices.Equal(ids, want) {
		t.Errorf("list: got %q, %v, want %q", ids, err, want)
	}
	if _, err := p.ana.Stats(ctx); err != nil {
		t.Errorf("stats: %v", err)
	}
	told := []string{}
	for ev, err := range p.ana.Events(ctx, "", firstCursor) {
		if err != nil {
			t.Errorf("events: %v", err)
			break
		}
		if told = append(told, ev.SessionID); ev.SessionID == good.SessionID {
			break
		}
	}
	if slices.Contains(told, damaged.SessionID) || !slices.Contains(told, late.SessionID) {
		t.Errorf("events of %q, want the events of all but the damaged ask", told)
	}
	defer p.run()()
	got, err := p.agent.Wait(ctx, late.ID)
	if err != nil {
		t.Fatalf("the deadline of another ask: %v", err)
	}
	wantStatus(t, got, askback.Expired)
	for {
		_, err := p.ana.Get(ctx, old.ID)
		if errors.Is(err, askback.ErrNotFound) {
			break // the clean-up has deleted the damaged ask
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("clean-up: got %v, want the old ask gone", err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// Messages and LastMessage omit a message that cannot be decoded.
func TestUnreadableMessageIsOmitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newFixture(t, s, nil)
	run, err := p.agent.Start(t.Context(), askback.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		if _, err := p.agent.Send(t.Context(), run.ID, askback.Report{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path,
		"update history set data = cast('{' as blob), sum = null where instr(data, 'first') or instr(data, 'third')")
	p = newFixture(t, openSQLite(t, path), nil)
	page, err := p.ana.Messages(t.Context(), run.ID, "", 0)
	if err != nil || len(page.Items) != 1 || page.Items[0].Text != "second" {
		t.Errorf("Messages: got %+v, %v, want the second alone", page.Items, err)
	}
	last := p.ana.(interface {
		LastMessage(ctx context.Context, session string) (string, error)
	})
	if got, err := last.LastMessage(t.Context(), run.ID); got != "second" || err != nil {
		t.Errorf("LastMessage: got %q, %v, want the second", got, err)
	}
}

// damage runs an SQL statement on a database file, without the store.
func damage(t *testing.T, path, text string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	done, err := db.Exec(text, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%d rows were changed, %v", n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
