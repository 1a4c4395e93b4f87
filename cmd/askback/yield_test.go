package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/askback/askback/internal/instance"
)

// holding returns the desk of an askback ask that holds a database, in this process.
func holding(t *testing.T) *desk {
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

// A holder that is ending answers, but proves itself to nobody: whoever came now
// would attach to a server that is gone in a moment, its own caller among them.
func TestEndingHolderProvesNothing(t *testing.T) {
	d := holding(t)
	s, ok := d.place.Last()
	if err := s.Proves(t.Context()); !ok || err != nil {
		t.Fatalf("before: %v, %v, want a proof", ok, err)
	}
	d.holder.at.end()
	if err := s.Proves(t.Context()); err == nil {
		t.Error("it proves itself while it ends")
	}
}

// Who gave the database up takes it back last: not before whoever asked for it
// had time to come.
func TestWhoYieldedTakesItBackLast(t *testing.T) {
	d := holding(t)
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
		t.Errorf("it took the database back after %v, want %v at the least", took, guestTime)
	}
	if at.pages != before {
		t.Logf("the port was taken meanwhile: links to %s lead to %s now", before, at.pages)
	}
}

// Somebody else came: the one who yielded is a guest there.
func TestWhoYieldedIsAGuest(t *testing.T) {
	d := holding(t)
	if err := d.holder.yield(); err != nil {
		t.Fatal(err)
	}
	<-d.holder.ended
	server, err := (&commands{DB: d.place.Database}).desk(serving{kind: instance.KindServe, listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := server.takeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := theirs.close(); err != nil {
			t.Error(err)
		}
	})
	ours, err := d.connect(t.Context())
	if err != nil || ours.pages != theirs.pages {
		t.Errorf("got %v, %v, want a connection to %s", ours, err, theirs.pages)
	}
}
