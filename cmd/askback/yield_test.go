package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/askback/askback/internal/instance"
)

// newHolder returns the connector of an askback ask that runs in this process and
// holds its database.
func newHolder(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("ASKBACK_TOKEN", "")
	t.Setenv("ASKBACK_URL", "")
	d, err := (&commands{DB: filepath.Join(dir, "askback.db")}).desk(waiting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.leave(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// A holder that is ending still replies, but does not prove its identity. A client
// that connected now would lose its server in a moment.
func TestEndingHolderDoesNotProveItself(t *testing.T) {
	d := newHolder(t)
	s, ok := d.place.Last()
	if err := s.Proves(t.Context()); !ok || err != nil {
		t.Fatalf("before: %v, %v, want a proof", ok, err)
	}
	d.holder.at.end()
	if err := s.Proves(t.Context()); err == nil {
		t.Error("the holder proves itself while it ends")
	}
}

// A holder that yielded the database leaves the process that asked for it time to
// open it before it takes the database back.
func TestYieldingHolderWaitsBeforeItTakesTheDatabaseBack(t *testing.T) {
	d := newHolder(t)
	before := d.home
	if err := d.holder.yield(); err != nil {
		t.Fatal(err)
	}
	<-d.holder.ended
	begun := time.Now()
	at, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < guestTime {
		t.Errorf("the holder took the database back after %v, want at least %v", took, guestTime)
	}
	if at.pages != before {
		t.Logf("another process took the port: pages moved from %s to %s", before, at.pages)
	}
}

// If another server opens the yielded database, the former holder connects to it.
func TestFormerHolderConnectsToTheNewServer(t *testing.T) {
	d := newHolder(t)
	if err := d.holder.yield(); err != nil {
		t.Fatal(err)
	}
	<-d.holder.ended
	server, err := (&commands{DB: d.place.Database}).desk(serving{kind: instance.KindServe, listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := server.takeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.close(); err != nil {
			t.Error(err)
		}
	})
	own, err := d.connect(t.Context())
	if err != nil || own.pages != other.pages {
		t.Errorf("got %v, %v, want a connection to %s", own, err, other.pages)
	}
}
