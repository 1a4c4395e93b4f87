package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A failingStore is a store that returns the errors that a test sets.
type failingStore struct {
	*memstore.Store
	commit, read error // if not nil, the errors of commits and reads
}

func (f *failingStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	if f.commit != nil {
		return 0, f.commit
	}
	return f.Store.Commit(ctx, c)
}

func (f *failingStore) Read(ctx context.Context, kind, id string) (store.Record, error) {
	if f.read != nil {
		return store.Record{}, f.read
	}
	return f.Store.Read(ctx, kind, id)
}

func (f *failingStore) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	if f.read != nil {
		return store.Record{}, f.read
	}
	return f.Store.ReadKey(ctx, kind, key)
}

// A full disk, an unknown outcome, a failed store and a damaged record each have a problem. The client turns
// each problem into the matching error of package askback.
func TestStoreErrorsAreReturnedAsProblems(t *testing.T) {
	kept := &failingStore{Store: memstore.New()}
	w := newFixtureOn(t, engine.New(kept, &engine.Options{CacheBytes: 1}), kept.Store, nil)
	agent := w.As(bot)
	a, err := agent.Ask(t.Context(), question("Go on?"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fault  error
		want   error
		status int
		word   string
	}{
		{store.ErrDiskFull, askback.ErrDiskFull, 507, "disk-full"},
		{fmt.Errorf("%w: disk I/O error", store.ErrUnknown), askback.ErrUnknown, 503, "unknown"},
		{store.ErrFailed, askback.ErrStopping, 503, "stopping"},
	} {
		kept.commit = c.fault
		if _, err := agent.Cancel(t.Context(), a.ID, ""); !errors.Is(err, c.want) {
			t.Errorf("the client got %v, want %v", err, c.want)
		}
		got := w.send("POST", "/api/v1/asks/"+a.ID+"/cancel", w.token(bot), "")
		if got.status != c.status || !strings.Contains(got.body, httpapi.TypePrefix+c.word+`"`) {
			t.Errorf("got %d %s, want %d and %s", got.status, got.body, c.status, c.word)
		}
	}
	kept.commit, kept.read = nil, store.DamagedError{Kind: "ask", ID: a.ID}
	if _, err := agent.Get(t.Context(), a.ID); !errors.Is(err, askback.ErrDamaged) ||
		!strings.Contains(err.Error(), a.ID) {
		t.Errorf("the client got %v, want %v that names %s", err, askback.ErrDamaged, a.ID)
	}
	got := w.send("GET", "/api/v1/asks/"+a.ID, w.token(bot), "")
	if got.status != 500 || !strings.Contains(got.body, httpapi.TypePrefix+`damaged"`) ||
		!strings.Contains(got.body, a.ID) {
		t.Errorf("got %d %s, want 500, damaged, and the id", got.status, got.body)
	}
}

// GET /readyz returns the reason why a server accepts no calls, or the warnings of a server that accepts
// calls.
func TestReadyzReturnsStateOfServer(t *testing.T) {
	var ready httpapi.Readiness
	var fault error
	w := newFixture(t,
		&httpapi.Options{Ready: func(context.Context) (httpapi.Readiness, error) { return ready, fault }})
	for _, c := range []struct {
		ready  httpapi.Readiness
		fault  error
		status int
		want   string
	}{
		{status: 200, want: `{"status":"ready","proof":null,"settings":null,"damaged":[],"people":null}`},
		{
			ready: httpapi.Readiness{Settings: "refused", Damaged: []string{"ask ask_1"}}, status: 200,
			want: `{"status":"ready","proof":null,"settings":"refused","damaged":["ask ask_1"],"people":null}`,
		},
		{fault: askback.ErrDiskFull, status: 507, want: `problem:disk-full"`},
		{fault: fmt.Errorf("%w: a page cannot be read", askback.ErrDamaged), status: 503, want: `problem:damaged","title":"Service Unavailable","status":503,"detail":"the database is damaged: a page cannot be read"`},
		{fault: errors.New("the database failed: disk I/O error"), status: 503, want: `problem:failed","title":"Service Unavailable","status":503,"detail":"the database failed: disk I/O error"`},
	} {
		ready, fault = c.ready, c.fault
		if got := w.send("GET", "/readyz", "", ""); got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.want)
		}
	}
}
