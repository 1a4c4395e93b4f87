package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

func TestOneProcessIsAttachedToASocket(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	attach := func(socket string) (release func()) {
		t.Helper()
		release, err := attachOnce(socket, instance.Hold)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	release := attach("/run/codex.sock")
	if _, err := attachOnce("/run/codex.sock", instance.Hold); err == nil ||
		!strings.Contains(err.Error(), "already attached to /run/codex.sock") {
		t.Errorf("the second one: got %v", err)
	}
	attach("/run/other.sock")()
	release()
	attach("/run/codex.sock")()
}

// On a system without locks, such as Windows, attaching works without a lock. Other errors of the lock are
// returned.
func TestAttachWorksOnSystemsWithoutLocks(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	release, err := attachOnce("/run/codex.sock", func(string) (*instance.Lock, error) {
		return nil, fmt.Errorf("lock: %w", errors.ErrUnsupported)
	})
	if err != nil {
		t.Fatal(err)
	}
	release()
	want := errors.New("read-only file system")
	if _, err := attachOnce("/run/codex.sock",
		func(string) (*instance.Lock, error) { return nil, want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}
