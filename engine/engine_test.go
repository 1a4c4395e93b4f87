package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Rows B3, C1, D1, D4, E10, F4, F5, F6, F7: the suite has them all.
func TestSeatsOverMemory(t *testing.T) {
	askbacktest.Seats(t, func(t *testing.T) askbacktest.Subject {
		return askbacktest.On(t, memstore.New(), nil)
	})
}

// With a cache that holds nothing, everything is read from the store.
func TestSeatsWithoutCache(t *testing.T) {
	askbacktest.Seats(t, func(t *testing.T) askbacktest.Subject {
		return askbacktest.On(t, memstore.New(), &engine.Options{CacheBytes: 1})
	})
}

func TestSeatsOverSQLite(t *testing.T) {
	askbacktest.Seats(t, func(t *testing.T) askbacktest.Subject {
		return askbacktest.On(t, openSQLite(t, filepath.Join(t.TempDir(), "askback.db")), nil)
	})
}

func openSQLite(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// double is a store in whose place a test may act.
type double struct {
	engine.Store
	mu     sync.Mutex
	commit func(ctx context.Context, c store.Change, next committer) (int64, error)
	read   func(ctx context.Context, kind, id string) (store.Record, error)
	due    func() error
}

type committer func(ctx context.Context, c store.Change) (int64, error)

// onCommit has f act in the place of Commit; nil ends that.
func (d *double) onCommit(f func(ctx context.Context, c store.Change, next committer) (int64, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commit = f
}

// onRead has f act in the place of Read; nil ends that.
func (d *double) onRead(f func(ctx context.Context, kind, id string) (store.Record, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = f
}

func (d *double) Commit(ctx context.Context, c store.Change) (int64, error) {
	d.mu.Lock()
	f := d.commit
	d.mu.Unlock()
	if f != nil {
		return f(ctx, c, d.Store.Commit)
	}
	return d.Store.Commit(ctx, c)
}

func (d *double) Read(ctx context.Context, kind, id string) (store.Record, error) {
	d.mu.Lock()
	f := d.read
	d.mu.Unlock()
	if f != nil {
		return f(ctx, kind, id)
	}
	return d.Store.Read(ctx, kind, id)
}

func (d *double) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
	d.mu.Lock()
	f := d.due
	d.mu.Unlock()
	if f != nil {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return d.Store.Due(ctx, before, n)
}

// place is an engine with those who use it.
type place struct {
	*testing.T
	store  *double
	engine *engine.Engine
	agent  askback.Seat
	ana    askback.Seat
	ben    askback.Seat
}

// start makes an engine on a store, as a process does when it begins.
func start(t *testing.T, s engine.Store, o *engine.Options) *place {
	t.Helper()
	d, ok := s.(*double)
	if !ok {
		d = &double{Store: s}
	}
	e := engine.New(d, o)
	seat := func(kind askback.Kind, name string) askback.Seat {
		return e.As(askback.Principal{Kind: kind, Name: name, Via: askback.ViaTerminal})
	}
	return &place{t, d, e, seat(askback.Agent, "bot"), seat(askback.Responder, "ana"), seat(askback.Responder, "ben")}
}

// run has deadlines pass until the returned function is called.
func (p *place) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := p.engine.Run(ctx); err != nil {
			p.Errorf("run: got error %v, want none", err)
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

func (p *place) ask(r askback.Request) askback.Ask {
	p.Helper()
	a, err := p.agent.Ask(context.Background(), r)
	if err != nil {
		p.Fatalf("ask: %v", err)
	}
	return a
}

func (p *place) get(id string) askback.Ask {
	p.Helper()
	a, err := p.agent.Get(context.Background(), id)
	if err != nil {
		p.Fatalf("get: %v", err)
	}
	return a
}

// history returns the types of an ask's events.
func (p *place) history(a askback.Ask) []string {
	p.Helper()
	var types []string
	for after := int64(0); ; {
		events, err := p.store.History(context.Background(), a.SessionID, after, 50)
		if err != nil {
			p.Fatal(err)
		}
		for _, e := range events {
			if after = e.Seq; e.Subject == a.ID {
				types = append(types, e.Type)
			}
		}
		if len(events) == 0 {
			return types
		}
	}
}

// waiter is a Wait that goes on beside the test.
type waiter struct {
	done chan struct{}
	ask  askback.Ask
	err  error
}

func (p *place) wait(ctx context.Context, id string) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.ask, w.err = p.agent.Wait(ctx, id)
	}()
	return w
}

// ended says whether the wait is over; inside synctest, after synctest.Wait.
func (w *waiter) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func question() askback.Request {
	return askback.Request{Questions: []askback.Question{{
		Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite"), Default: []string{"SQLite"},
	}}}
}

func limited(by time.Duration, on askback.OnTimeout) askback.Request {
	r := question()
	r.Timeout, r.OnTimeout = by, on
	return r
}

func confirmation() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "delete_files", Input: json.RawMessage(`{"path":"/tmp"}`),
	}}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func wantStatus(t *testing.T, a askback.Ask, want askback.Status) {
	t.Helper()
	if a.Status != want || a.Settled() != (want != askback.Pending) {
		t.Errorf("got ask %s with status %s and outcome %v, want %s", a.ID, a.Status, a.Outcome, want)
	}
}
