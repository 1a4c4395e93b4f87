package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

// A database stays locked while a process has it open, even if its lock file is moved or deleted, and
// whatever path the other process uses.
func TestDatabaseStaysLockedWithoutItsLockFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":  func(path string) error { return os.Remove(path + ".lock") },
		"moved":    func(path string) error { return os.Rename(path+".lock", path+".moved") },
		"replaced": func(path string) error { return instance.WriteFile(path+".lock", nil) },
	} {
		path := filepath.Join(t.TempDir(), "askback.db")
		lock, err := instance.HoldDatabase(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if held, err := instance.IsHeld(path); !held || err != nil {
			t.Errorf("%s: IsHeld returns %v, %v", name, held, err)
		}
		if other, err := instance.HoldDatabase(path); !errors.Is(err, instance.ErrHeld) {
			t.Errorf("%s: another process gets %v, %v, want %v", name, other, err, instance.ErrHeld)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		if held, err := instance.IsHeld(path); held || err != nil {
			t.Errorf("%s: after the release, IsHeld returns %v, %v", name, held, err)
		}
		again, err := instance.HoldDatabase(path)
		if err != nil {
			t.Fatalf("%s: after the release: %v", name, err)
		}
		if err := again.Release(); err != nil {
			t.Error(err)
		}
	}
}

// A process that finds a database locked without its lock file connects to the server of the database.
func TestJoinFindsServerWithoutLockFile(t *testing.T) {
	p := place(t)
	lock, err := instance.HoldDatabase(p.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	want, _ := server(t, "secret")
	if err := errors.Join(p.Announce(want), os.Remove(p.Database+".lock")); err != nil {
		t.Fatal(err)
	}
	taken, got, err := p.Join(t.Context())
	if err != nil || taken != nil || got != want {
		t.Errorf("got %v, %v, %v, want the server", taken, got, err)
	}
}
