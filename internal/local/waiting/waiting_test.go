package waiting_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/waiting"
)

// newBook returns a book of a process that lives until the end of the test, or until the book is closed.
func newBook(t *testing.T, dir string) *waiting.Book {
	t.Helper()
	b := waiting.New(dir, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = b.Close() }) // otherwise, the garbage collector closes the lock
	return b
}

// question returns a name that no other question has.
const question = "0a1b"

// take requires that client gets ask, which is "" for none.
func take(t *testing.T, b *waiting.Book, client, ask string) {
	t.Helper()
	want := ""
	if ask != "" {
		want = "key of " + ask
	}
	if got, key := b.Take(question, client, time.Now()); got != ask || key != want {
		t.Errorf("%s got %q with the key %q, want %q", client, got, key, ask)
	}
}

// The question of a process that has ended is taken by one client. The question of a process that lives is
// not taken.
func TestQuestionOfEndedProcessIsTakenOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "waiting")
	first := newBook(t, dir)
	first.Wait(question, "ask_1", "key of ask_1", "one")
	take(t, newBook(t, dir), "two", "")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	var takers sync.WaitGroup
	got := make(chan string, 10)
	for range cap(got) {
		b := newBook(t, dir)
		takers.Go(func() {
			id, _ := b.Take(question, "other", time.Now())
			got <- id
		})
	}
	takers.Wait()
	close(got)
	taken := 0
	for id := range got {
		if id == "ask_1" {
			taken++
		} else if id != "" {
			t.Errorf("got %q", id)
		}
	}
	if taken != 1 {
		t.Errorf("%d clients got the question, want 1", taken)
	}
}

// A question is passed on again if the next client ends, too. It is not passed on after its answer was
// delivered.
func TestQuestionIsPassedOnUntilItIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for i, client := range []string{"one", "two", "three"} {
		b := newBook(t, dir)
		if i == 0 {
			b.Wait(question, "ask_1", "key of ask_1", client)
		} else {
			take(t, b, client, "ask_1")
		}
		if got, _ := b.Of(question, client); got != "ask_1" {
			t.Errorf("%s waits for %q", client, got)
		}
		if client == "three" {
			b.Remove("ask_1")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	take(t, newBook(t, dir), "four", "")
	if entries, err := os.ReadDir(filepath.Join(dir, question)); err == nil {
		t.Errorf("%d files are left", len(entries))
	}
}

// Within a process, a question is taken only if its client has ended, and only by a client that began later.
func TestQuestionOfLiveClientIsNotTaken(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		b := newBook(t, dir)
		before := time.Now().Add(-time.Minute)
		b.Wait(question, "ask_1", "key of ask_1", "one")
		take(t, b, "two", "")
		b.Idle("ask_1", "one")
		take(t, b, "two", "")
		b.End("ask_1", "two") // the question is not of this client
		take(t, b, "two", "")
		b.End("ask_1", "one")
		take(t, b, "one", "")
		b.Alive("one")
		take(t, b, "two", "")
		b.EndClient("one")
		if got, _ := b.Take(question, "two", before); got != "" {
			t.Errorf("a client that began before got %q", got)
		}
		if b.IsTaken("ask_1", "one") {
			t.Error("the question is taken")
		}
		take(t, b, "two", "ask_1")
		take(t, b, "three", "")
		b.Alive("one")
		of, _ := b.Of(question, "one")
		if !b.IsTaken("ask_1", "one") || b.IsTaken("ask_1", "two") || of != "" {
			t.Error("the question does not belong to the second client only")
		}
		b.Resume("ask_1", "one")
		b.End("ask_1", "one")
		take(t, b, "three", "")
	}
}

// After the end of a process, the question of a client that waited is taken. The question of a client with a
// reply is not taken, because the client may live.
func TestIdleClientOfEndedProcessMayLive(t *testing.T) {
	for idle, want := range map[bool]string{true: "", false: "ask_1"} {
		dir := t.TempDir()
		b := newBook(t, dir)
		b.Wait(question, "ask_1", "key of ask_1", "one")
		if idle {
			b.Idle("ask_1", "one")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		take(t, newBook(t, dir), "two", want)
	}
}

// Records and locks of processes that ended long ago are removed. Damaged records are ignored.
func TestOldRecordsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := newBook(t, dir)
	old.Wait(question, "ask_1", "key of ask_1", "one")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	live := newBook(t, dir)
	live.Wait("ffff", "ask_2", "key of ask_2", "two")
	if err := os.WriteFile(filepath.Join(dir, question, "ask_0"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	take(t, newBook(t, dir), "three", "ask_1")
	ages := func() {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			past := time.Now().AddDate(0, -2, 0)
			return os.Chtimes(path, past, past)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ages()
	newBook(t, dir).Wait("eeee", "ask_3", "key of ask_3", "four")
	if _, err := os.Stat(filepath.Join(dir, question, "ask_0")); err == nil {
		t.Error("an old record is kept")
	}
	if _, err := os.Stat(filepath.Join(dir, "ffff", "ask_2")); err != nil {
		t.Error("the record of a live process was removed")
	}
	if locks, _ := filepath.Glob(filepath.Join(dir, "*.lock")); len(locks) > 3 {
		t.Errorf("%d locks are kept", len(locks))
	}
}

// The number of records is limited, because only a client that gets its answer removes its record (T25). A question
// whose record is gone is asked again.
func TestNumberOfRecordsIsLimited(t *testing.T) {
	b := newBook(t, "")
	const most = 10_000
	kept := 0
	for i := range most + 500 {
		b.Wait(fmt.Sprint("question ", i), fmt.Sprint("ask_", i), "key", "one")
	}
	for i := range most + 500 {
		if b.IsTaken(fmt.Sprint("ask_", i), "two") {
			kept++
		}
	}
	if kept != most {
		t.Errorf("%d records are kept, want %d", kept, most)
	}
	b.Wait("question", "ask_last", "key", "one")
	if !b.IsTaken("ask_last", "two") {
		t.Error("the newest record is not kept")
	}
}
