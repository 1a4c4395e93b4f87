package engine_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/text/resumecontext"
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

// An event is read from the store and encoded once for all followers of its stream.
func TestFollowersShareOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &historyCounter{Store: memstore.New()}
		p := newFixture(t, s, nil)
		a := p.ask(question())
		const followers = 50
		var received, broken atomic.Int64
		var first atomic.Pointer[byte]
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
				if !first.CompareAndSwap(nil, &ev.Data[0]) && first.Load() != &ev.Data[0] {
					t.Error("a follower got its own copy of the data")
				}
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
			t.Errorf("%d of %d followers received the event, %d without its outcome", received.Load(), followers,
				broken.Load())
		}
		stop()
	})
}

// Followers share events. A person still never gets the text that only agents may read.
func TestSharedEventsHideTextFromPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		run, err := p.agent.Start(t.Context(), askback.SessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		texts := map[string]*atomic.Pointer[string]{}
		for name, c := range map[string]askback.Client{
			"agent": p.agent, "second agent": p.agent, "person": p.ana, "second person": p.ana,
		} {
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
		const hidden = resumecontext.Open + "secret" + resumecontext.Close
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

// An event may be committed while its stream has no follower. Later followers, which share events, still get
// the event.
func TestFollowersGetEventsCommittedWithoutFollowers(t *testing.T) {
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

// Shared events do not keep large asks in memory.
func TestSharedEventsDoNotKeepLargeAsksInMemory(t *testing.T) {
	p := newFixture(t, memstore.New(), &engine.Options{CacheBytes: 1})
	run, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	const asks, large = 20, 100_000
	for range asks {
		r := question()
		r.SessionID, r.Context = run.ID, json.RawMessage(`"`+strings.Repeat("x", large)+`"`)
		if _, err := p.ana.Answer(t.Context(), p.ask(r).ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
	}
	page, err := p.agent.List(t.Context(), askback.Query{Unacked: true})
	if err != nil || len(page.Items) != asks {
		t.Fatalf("got %d asks and error %v, want %d", len(page.Items), err, asks)
	}
	for _, a := range page.Items {
		if _, err := p.agent.Ack(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
	}
	page = askback.Page{}
	var acks []askback.Cursor // the cursor of each event that is an ack
	for ev := range p.ana.Events(t.Context(), run.ID, "MC4w") {
		if ev.Type != askback.EventAnswerAcked {
			continue
		}
		if acks = append(acks, ev.Cursor); len(acks) == asks {
			break
		}
	}
	for range p.ana.Events(t.Context(), run.ID, "") { // this follower has read the snapshot and stays open
		before := heap()
		for _, after := range acks[:asks-1] {
			for range p.ana.Events(t.Context(), run.ID, after) {
				break
			}
		}
		const most = 16 << 20 // 16 pages, each with an ask of 1 MB
		if kept := heap() - before; kept > most {
			t.Errorf("the events keep %d bytes, want at most %d", kept, most)
		}
		break
	}
	runtime.KeepAlive(p)
}

// A reader does not get a deleted event, even if other readers have shared it.
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

// stackStore is a store that counts its calls. A call on the goroutine of readFirstEvents fails the test.
type stackStore struct {
	engine.Store
	t     *testing.T
	calls atomic.Int64
}

func (s *stackStore) check(method string) {
	s.calls.Add(1)
	stack := make([]byte, 64<<10)
	if strings.Contains(string(stack[:runtime.Stack(stack, false)]), "readFirstEvents") {
		s.t.Errorf("%s was called on the goroutine of the reader", method)
	}
}

func (s *stackStore) Read(ctx context.Context, kind, id string) (store.Record, error) {
	s.check("Read")
	return s.Store.Read(ctx, kind, id)
}

func (s *stackStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	s.check("List")
	return s.Store.List(ctx, q)
}

func (s *stackStore) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	s.check("History")
	return s.Store.History(ctx, stream, after, limit)
}

func (s *stackStore) Head(ctx context.Context, stream string) (seq, streamSeq int64, err error) {
	s.check("Head")
	return s.Store.Head(ctx, stream)
}

// readFirstEvents reads the snapshot and one event of a stream.
//
//go:noinline
func readFirstEvents(t *testing.T, c askback.Client, session string, then func()) {
	n := 0
	for _, err := range c.Events(t.Context(), session, "") {
		if err != nil {
			t.Error(err)
		}
		if n++; n == 2 {
			return
		}
		then()
	}
}

// A query needs a large stack. Queries run on other goroutines, so that the goroutine of a reader keeps a
// small stack while it sleeps.
func TestQueriesDoNotRunOnTheGoroutineOfAnEventReader(t *testing.T) {
	s := &stackStore{Store: memstore.New(), t: t}
	p := newFixture(t, s, nil)
	for _, all := range []bool{false, true} {
		a := p.ask(question())
		session, before := a.SessionID, s.calls.Load()
		if all {
			session = ""
		}
		var group sync.WaitGroup
		readFirstEvents(t, p.ana, session, func() {
			group.Go(func() {
				if _, err := p.agent.Cancel(t.Context(), a.ID, ""); err != nil {
					t.Error(err)
				}
			})
		})
		group.Wait()
		if s.calls.Load() == before {
			t.Errorf("stream %q: the store was not called", session)
		}
	}
}
