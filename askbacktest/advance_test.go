package askbacktest_test

import (
	"context"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A slowStore returns late from the commit of an outcome. Advance sees the commit before.
type slowStore struct {
	engine.Store
	until     time.Time     // no deadline is later
	committed chan struct{} // closed when readers of the store see the outcome
	read      chan struct{} // closed when a client has read the ask
}

// Commit implements [store.Store].
func (s slowStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	first, err := s.Store.Commit(ctx, c)
	if due, _ := s.Store.Due(ctx, s.until, 1); len(due) == 0 {
		close(s.committed)
		select {
		case <-s.read:
		case <-time.After(100 * time.Millisecond):
		}
	}
	return first, err
}

// Due implements [store.Queue]. Advance reads one row, the engine reads more.
func (s slowStore) Due(ctx context.Context, until time.Time, limit int) ([]store.Record, error) {
	if limit == 1 {
		<-s.committed
	}
	return s.Store.Due(ctx, until, limit)
}

// After Advance, every client reads the outcome of a deadline, even if the engine returns late from its commit.
func TestAdvanceWaitsForTheEngine(t *testing.T) {
	slow := slowStore{
		memstore.New(), time.Now().Add(time.Hour), make(chan struct{}), make(chan struct{}),
	}
	instance := askbacktest.On(t, slow, nil)
	bot := instance.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	r := question("Which database?", "SQLite", "PostgreSQL")
	r.Timeout = time.Minute
	instance.Person("ana", askbacktest.Ignore("database"))
	a, err := bot.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	instance.Advance(time.Hour)
	a, err = bot.Get(t.Context(), a.ID)
	close(slow.read)
	if err != nil || a.Status != askback.Expired {
		t.Errorf("got %q and error %v, want expired", summary(a), err)
	}
}
