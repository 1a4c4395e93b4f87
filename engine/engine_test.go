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
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
	"github.com/askback/askback/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// holding are settings that hold each answer long enough for a test to undo it.
var holding = engine.Settings{Undo: limits.MaxUndo}

// A client of an engine on a memstore passes the conformance suite, which covers B3, C1, D1, D4, E10, F4, F5,
// F6 and F7.
func TestClientOnMemstoreConforms(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject {
		return askbacktest.On(t, memstore.New(), &engine.Options{Settings: holding})
	})
}

// A cache of one byte holds no ask, so each ask is read from the store.
func TestClientWithoutCacheConforms(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject {
		return askbacktest.On(t, memstore.New(), &engine.Options{CacheBytes: 1, Settings: holding})
	})
}

func TestClientOnSQLiteConforms(t *testing.T) {
	conformance.Client(t, func(t *testing.T) conformance.Subject {
		return askbacktest.On(t, openSQLite(t, filepath.Join(t.TempDir(), "askback.db")),
			&engine.Options{Settings: holding})
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

// fakeStore is a store whose methods a test can replace.
type fakeStore struct {
	engine.Store
	mu     sync.Mutex
	commit func(ctx context.Context, c store.Change, next committer) (int64, error)
	read   func(ctx context.Context, kind, id string) (store.Record, error)
	due    func() error
	claim  func() error
}

type committer func(ctx context.Context, c store.Change) (int64, error)

// onCommit replaces Commit by f. If f is nil, onCommit restores Commit.
func (d *fakeStore) onCommit(f func(ctx context.Context, c store.Change, next committer) (int64, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commit = f
}

// onRead replaces Read by f. If f is nil, onRead restores Read.
func (d *fakeStore) onRead(f func(ctx context.Context, kind, id string) (store.Record, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = f
}

// onClaim sets the function f, which Claim and Beat call first. If f returns an error, Claim and Beat return
// this error.
func (d *fakeStore) onClaim(f func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claim = f
}

func (d *fakeStore) beforeClaim() error {
	d.mu.Lock()
	f := d.claim
	d.mu.Unlock()
	if f == nil {
		return nil
	}
	return f()
}

func (d *fakeStore) Claim(
	ctx context.Context, node string, now time.Time, n int, limit ...store.KindLimit,
) ([]store.Effect, error) {
	if err := d.beforeClaim(); err != nil {
		return nil, err
	}
	return d.Store.Claim(ctx, node, now, n, limit...)
}

func (d *fakeStore) Beat(ctx context.Context, node string, now time.Time) (time.Time, error) {
	if err := d.beforeClaim(); err != nil {
		return time.Time{}, err
	}
	return d.Store.Beat(ctx, node, now)
}

func (d *fakeStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	d.mu.Lock()
	f := d.commit
	d.mu.Unlock()
	if f != nil {
		return f(ctx, c, d.Store.Commit)
	}
	return d.Store.Commit(ctx, c)
}

func (d *fakeStore) Read(ctx context.Context, kind, id string) (store.Record, error) {
	d.mu.Lock()
	f := d.read
	d.mu.Unlock()
	if f != nil {
		return f(ctx, kind, id)
	}
	return d.Store.Read(ctx, kind, id)
}

func (d *fakeStore) Due(ctx context.Context, before time.Time, n int) ([]store.Record, error) {
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

// fixture is an engine with the clients of an agent and two people.
type fixture struct {
	*testing.T
	store  *fakeStore
	engine *engine.Engine
	agent  askback.Client
	ana    askback.Client
	ben    askback.Client
}

// newFixture returns a fixture with a new engine on a store, as after the start of a process.
func newFixture(t *testing.T, s engine.Store, o *engine.Options) *fixture {
	t.Helper()
	d, ok := s.(*fakeStore)
	if !ok {
		d = &fakeStore{Store: s}
	}
	e := engine.New(d, o)
	client := func(kind askback.Kind, name string) askback.Client {
		return e.As(askback.Principal{Kind: kind, Name: name, Channel: askback.ChannelTerminal})
	}
	return &fixture{
		t, d, e, client(askback.Agent, "bot"), client(askback.Responder, "ana"), client(askback.Responder, "ben"),
	}
}

// run calls Engine.Run on a goroutine. The function stop ends the call.
func (p *fixture) run() (stop func()) {
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

func (p *fixture) ask(r askback.Request) askback.Ask {
	p.Helper()
	a, err := p.agent.Ask(context.Background(), r)
	if err != nil {
		p.Fatalf("ask: %v", err)
	}
	return a
}

func (p *fixture) get(id string) askback.Ask {
	p.Helper()
	a, err := p.agent.Get(context.Background(), id)
	if err != nil {
		p.Fatalf("get: %v", err)
	}
	return a
}

// history returns the types of an ask's events.
func (p *fixture) history(a askback.Ask) []string {
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

// waiter is a call of Wait on its own goroutine.
type waiter struct {
	done chan struct{}
	ask  askback.Ask
	err  error
}

func (p *fixture) wait(ctx context.Context, id string) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.ask, w.err = p.agent.Wait(ctx, id)
	}()
	return w
}

// ended reports whether Wait has returned. In a synctest bubble, call synctest.Wait
// first.
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

func questionWithTimeout(by time.Duration, on askback.OnTimeout) askback.Request {
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
