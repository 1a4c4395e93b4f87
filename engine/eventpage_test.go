package engine_test

import (
	"context"
	"encoding/json"
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

// historyCounter is a store that counts the calls of History.
type historyCounter struct {
	engine.Store
	calls atomic.Int64
}

func (s *historyCounter) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	s.calls.Add(1)
	return s.Store.History(ctx, stream, after, limit)
}

// follow reads a stream on its own goroutine until ctx ends. It passes each event to do.
func follow(ctx context.Context, c askback.Events, session string, after askback.Cursor, do func(askback.Event)) {
	go func() {
		for ev, err := range c.Events(ctx, session, after) {
			if err != nil {
				return
			}
			do(ev)
		}
	}()
}

// An event is read from the store once for all followers of its stream. Each gets a copy.
func TestFollowersShareOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &historyCounter{Store: memstore.New()}
		p := newFixture(t, s, nil)
		a := p.ask(question())
		const followers = 50
		var received, broken atomic.Int64
		ctx, stop := context.WithCancel(context.Background())
		for i := range followers {
			c := p.ana
			if i%2 == 0 {
				c = p.agent
			}
			follow(ctx, c, a.SessionID, "", func(ev askback.Event) {
				if ev.Type != askback.EventQuestionAnswered {
					return
				}
				received.Add(1)
				if !containsOutcome(ev) {
					broken.Add(1)
				}
				clear(ev.Data) // the caller may change it
			})
		}
		synctest.Wait()
		before := s.calls.Load()
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := s.calls.Load() - before; n != 1 {
			t.Errorf("the history was read %d times, want once", n)
		}
		if received.Load() != followers || broken.Load() != 0 {
			t.Errorf("%d of %d followers received the event, %d without its outcome", received.Load(), followers, broken.Load())
		}
		stop()
	})
}

// Followers share what they read, but a person does not get the text that only agents see.
func TestFollowersOfOneStreamGetTheirOwnText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		run, err := p.agent.Start(t.Context(), askback.SessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		texts := map[string]*atomic.Pointer[string]{}
		for name, c := range map[string]askback.Client{"agent": p.agent, "second agent": p.agent, "person": p.ana, "second person": p.ana} {
			text := &atomic.Pointer[string]{}
			texts[name] = text
			follow(ctx, c, run.ID, "", func(ev askback.Event) {
				var data struct{ Text string }
				if ev.Type == askback.EventMessage && json.Unmarshal(ev.Data, &data) == nil {
					text.Store(&data.Text)
				}
			})
		}
		synctest.Wait()
		const hidden = askback.ResumeOpen + "secret" + askback.ResumeClose
		if _, err := p.agent.Send(t.Context(), run.ID, askback.Report{Text: "done " + hidden}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop()
		for name, text := range texts {
			want := "done "
			if strings.Contains(name, "agent") {
				want += hidden
			}
			got := text.Load()
			if got == nil {
				t.Fatalf("the %s got no message", name)
			}
			if *got != want {
				t.Errorf("the %s got %q, want %q", name, *got, want)
			}
		}
	})
}

// An event that is committed while the stream has no follower is not missing in what later
// ones share.
func TestLaterFollowersGetEventsInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		a := p.ask(question())
		var cursor askback.Cursor
		both := func(after askback.Cursor, do func(askback.Event)) {
			ctx, stop := context.WithCancel(context.Background())
			for range 2 {
				follow(ctx, p.ana, "", after, do)
				synctest.Wait()
			}
			stop()
			synctest.Wait()
		}
		both("", func(ev askback.Event) { cursor = ev.Cursor })
		both(cursor, func(ev askback.Event) { t.Errorf("got %s, want no event", ev.Type) })
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		var received atomic.Int64
		both(cursor, func(askback.Event) { received.Add(1) })
		if n := received.Load(); n != 2 {
			t.Errorf("%d of 2 followers received the event", n)
		}
	})
}

// A reader does not get an event that was deleted, although others have shared it.
func TestDeletedEventIsNoLongerShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), &engine.Options{Settings: engine.Settings{Retention: time.Hour}})
		defer p.run()()
		a := p.ask(question())
		var before askback.Cursor
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		for range 2 {
			follow(ctx, p.ana, "", "", func(ev askback.Event) {
				if ev.Type == askback.EventSnapshot {
					before = ev.Cursor
				}
			})
			synctest.Wait()
		}
		if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		<-time.After(48 * time.Hour)
		synctest.Wait()
		if _, err := p.ana.Get(t.Context(), a.ID); err == nil {
			t.Fatal("the ask was not deleted")
		}
		follow(ctx, p.ana, "", before, func(ev askback.Event) {
			if ev.Type != askback.EventSnapshot {
				t.Errorf("got %s, which was deleted", ev.Type)
			}
		})
		synctest.Wait()
	})
}
