package main

import (
	"strings"
	"testing"
)

func TestOneProcessIsAttachedToASocket(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	first, err := attachOnce("/run/codex.sock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attachOnce("/run/codex.sock"); err == nil || !strings.Contains(err.Error(), "already attached to /run/codex.sock") {
		t.Errorf("the second one: got %v", err)
	}
	if other, err := attachOnce("/run/other.sock"); err != nil {
		t.Error(err)
	} else if err := other.Release(); err != nil {
		t.Error(err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if again, err := attachOnce("/run/codex.sock"); err != nil {
		t.Errorf("after its end: %v", err)
	} else if err := again.Release(); err != nil {
		t.Error(err)
	}
}
