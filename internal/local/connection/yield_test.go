package connection

import (
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// yield hands over the database and waits until the instance is closed.
func yield(t *testing.T, i *Instance) {
	t.Helper()
	if err := i.Yield(); err != nil {
		t.Fatal(err)
	}
	<-i.conn.closing.Done()
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// A command does not connect to a closing instance, because it would soon lose the
// connection.
func TestClosingInstanceDoesNotProveItsIdentity(t *testing.T) {
	t.Parallel()
	c := connected(t, t.TempDir())
	s, ok := c.options.Place.Last()
	if err := s.Proves(t.Context()); !ok || err != nil {
		t.Fatalf("before: %v, %v; want a proof", ok, err)
	}
	c.instance.conn.end()
	if err := s.Proves(t.Context()); err == nil {
		t.Error("got a proof of an instance that closes")
	}
}

// A process that yielded the database waits before it opens the database again, so that another process can
// open the database first.
func TestYieldedDatabaseIsReopenedAfterAPause(t *testing.T) {
	t.Parallel()
	c := connected(t, t.TempDir())
	yield(t, c.instance)
	start := time.Now()
	if _, err := c.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < yieldedTime {
		t.Errorf("took the database back after %v, want at least %v", took, yieldedTime)
	}
}

func TestProcessUsesTheNextServerAfterYield(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := connected(t, dir)
	yield(t, c.instance)
	server, err := newConnector(t, dir, instance.KindServe).TakeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := c.connect(t.Context())
	if err != nil || conn.pages != server.PublicURL() {
		t.Errorf("got %v, %v; want a connection to %s", conn, err, server.PublicURL())
	}
}
