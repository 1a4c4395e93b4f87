package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

// abandoned returns the ids of the asks for which Abandoned calls its function. The function returns err, and
// the test fails if Abandoned does not return err.
func abandoned(t *testing.T, p instance.Place, err error) (ids []string) {
	t.Helper()
	if got := p.Abandoned(func(id string) error { ids = append(ids, id); return err }); !errors.Is(got, err) {
		t.Errorf("got %v, want %v", got, err)
	}
	return ids
}

// An ask has a record until all waits for the ask have ended.
func TestAskIsAttendedUntilLastWaitEnds(t *testing.T) {
	p := instance.Place{Database: filepath.Join(t.TempDir(), "askback.db")}
	if got := abandoned(t, p, nil); got != nil {
		t.Errorf("got %v before any", got)
	}
	var leave []func()
	for range 2 {
		done, err := p.Attend("ask_1")
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, done)
	}
	for i, done := range leave {
		if got := abandoned(t, p, nil); got != nil || !p.Attended("ask_1") {
			t.Errorf("%d left: got %v, attended %t", i, got, p.Attended("ask_1"))
		}
		done()
	}
	if got := abandoned(t, p, nil); got != nil || p.Attended("ask_1") {
		t.Errorf("all left: got %v, attended %t", got, p.Attended("ask_1"))
	}
	if _, err := p.Attend("../ask_1"); err == nil {
		t.Error("a path is accepted as an id")
	}
}

// Abandoned calls its function for an ask until the function succeeds.
func TestAbandonedAskIsRetriedUntilHandled(t *testing.T) {
	p := instance.Place{Database: filepath.Join(t.TempDir(), "other.db")}
	done, err := p.Attend("ask_1")
	if err != nil {
		t.Fatal(err)
	}
	done()
	note := filepath.Join(filepath.Dir(p.Database), "other.db.attending", "ask_2") // the record of a killed process
	if err := os.WriteFile(note, []byte("held\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{errors.New("not now"), nil} {
		if got := abandoned(t, p, err); !slices.Equal(got, []string{"ask_2"}) {
			t.Errorf("got %v, want ask_2", got)
		}
	}
	if got := abandoned(t, p, nil); got != nil {
		t.Errorf("got %v, want none any more", got)
	}
}

// A process that has made its record, but has not locked the record yet, is still waiting. So its ask is not
// withdrawn.
func TestNewRecordIsNotAbandoned(t *testing.T) {
	p := instance.Place{Database: filepath.Join(t.TempDir(), "askback.db")}
	done, err := p.Attend("ask_1")
	if err != nil {
		t.Fatal(err)
	}
	done()
	if err := os.WriteFile(filepath.Join(filepath.Dir(p.Database), "attending", "ask_2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := abandoned(t, p, nil); got != nil || p.Attended("ask_2") {
		t.Errorf("got %v, attended %t", got, p.Attended("ask_2"))
	}
}
