package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
	"github.com/askback/askback/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		runChild(path)
		return
	}
	goleak.VerifyTestMain(m)
}

func openAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatalf("Open: got %v, want no error", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: got %v, want no error", err)
		}
	})
	return s
}

func newSubject(t *testing.T) storetest.Subject {
	path := filepath.Join(t.TempDir(), "askback.db")
	return storetest.Subject{
		Store: openAt(t, path),
		Reopen: func(t *testing.T, closed bool) storetest.Store {
			if !closed {
				release := lockDatabase(t, path) // the writer may be moving the boundary of recent records
				path = copyDatabase(t, path)
				release()
			} else if wal, err := os.Stat(path + "-wal"); err == nil {
				t.Errorf("after Close: got a write-ahead log of %d bytes, want none", wal.Size())
			}
			return openAt(t, path)
		},
		Stall: func(t *testing.T) func() { return lockDatabase(t, path) },
	}
}

// copyDatabase copies the files that a killed process would leave. The store must not write
// meanwhile.
func copyDatabase(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "askback.db")
	for _, end := range []string{"", "-wal"} { // SQLite creates -shm itself
		b, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+end, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// lockDatabase locks the database as another program would, so that the writer waits.
func lockDatabase(t *testing.T, path string) (release func()) {
	t.Helper()
	db := openDatabase(t, path)
	if _, err := db.Exec("begin immediate"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.Exec("rollback"); err != nil {
			t.Error(err)
		}
	}
}

// openDatabase opens a file as another program would, with one connection.
func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// The store passes the tests of package storetest.
func TestStoreConforms(t *testing.T) { storetest.Run(t, newSubject) }

// SQLite returns the same results as the store in memory. Some records are recent, and other records are in
// the indices by owner.
func TestSQLiteBehavesLikeMemstore(t *testing.T) {
	sqlite.SetMaxRecent(t, 2, 1)
	memory := func(*testing.T) storetest.Subject { return storetest.Subject{Store: memstore.New()} }
	storetest.Walk(t, memory, newSubject)
}

// The settings apply to every connection, not only to the first connection of each kind (F2). Only the
// writer's connection may delete.
func TestSettingsApplyToEveryConnection(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "askback.db"))
	write, read, release, err := s.Connections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for n, conn := range append(read, write) {
		queryOnly := "1"
		if conn == write {
			queryOnly = "0"
		}
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000", "foreign_keys": "1", "fullfsync": "1",
			"checkpoint_fullfsync": "1", "wal_autocheckpoint": "1000", "trusted_schema": "0", "query_only": queryOnly,
		} {
			if got := firstText(t, conn, "pragma "+pragma); got != want {
				t.Errorf("connection %d: %s: got %q, want %q", n, pragma, got, want)
			}
		}
		deletion, err := conn.Prepare("delete from records")
		if err == nil {
			_, err = deletion.Step()
		}
		if wrote, may := err == nil, conn == write; wrote != may {
			t.Errorf("connection %d: a deletion: got %v, may write: %v", n, err, may)
		}
	}
}

// If all connections that read are in use, a read waits for a connection until its context ends.
func TestReadWaitsForConnection(t *testing.T) { synctest.Test(t, testReadWaits) }

func testReadWaits(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "askback.db"))
	_, _, release, err := s.Connections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := s.Connections(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("another connection after the context ended: got %v, want %v", err, context.Canceled)
	}
	result := make(chan error, 1)
	go func() {
		_, err := s.Read(t.Context(), "ask", "ask_1")
		result <- err
	}()
	synctest.Wait()
	if len(result) > 0 {
		t.Error("Read returned while all connections were in use")
	}
	release()
	if err := <-result; !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Read once a connection is free: got %v, want %v", err, store.ErrNotFound)
	}
}

// firstText returns the first column of the first row of a query.
func firstText(t *testing.T, conn *sqlite3.Conn, query string) string {
	t.Helper()
	rows, err := conn.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Reset()
	if row, err := rows.Step(); err != nil || !row {
		t.Fatalf("%s: got row %v, %v", query, row, err)
	}
	return rows.ColumnText(0)
}

func TestFilesOfOtherProgramsAreNotChanged(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "photos.db")
	execute(t, openDatabase(t, foreign), "create table photos (id integer)")
	text := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(text, []byte("Dear Ann"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{foreign, text} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlite.Open(path, nil)
		if !errors.Is(err, sqlite.ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open %s: got %v, want an error that names it", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("Open %s changed it (%v)", path, err)
		}
	}
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "no", "such.db"),
		nil); !strings.HasSuffix(fmt.Sprint(err), "such.db: no such file or directory") {
		t.Errorf("Open in a missing directory: got %v", err)
	}
	if _, err := sqlite.Open(t.TempDir(), nil); err == nil {
		t.Error("Open of a directory: got no error")
	}
}

// Only the owner may read the files, even if their path has special characters.
func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a?b#c%20d é.db")
	s := openAt(t, path)
	if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, want 0600", p, info.Mode())
		}
		files = append(files, strings.TrimPrefix(p, path))
		return err
	})
	if got, want := strings.Join(files, " "), " -reserve -shm -wal"; got != want || err != nil {
		t.Errorf("files next to the database: got %q and %v, want %q", got, err, want)
	}
}

func record(n int) store.Record {
	at := time.UnixMilli(1_795_000_000_000 + int64(n)).UTC()
	return store.Record{
		Kind: "ask", ID: fmt.Sprintf("ask_%026d", n), Stream: fmt.Sprintf("ses_%026d", n%1000),
		Key: fmt.Sprintf("key_%026d", n), Open: true, Owner: "agent-1", Agent: "Claude", Status: "pending",
		Created: at, Updated: at, Due: at.Add(time.Hour), Fixed: bytes.Repeat([]byte("f"), 700),
		State: bytes.Repeat([]byte("s"), 300),
	}
}

func event(r store.Record, what string) store.Event {
	return store.Event{Stream: r.Stream, Subject: r.ID, Type: what, At: r.Updated, Data: bytes.Repeat([]byte("d"), 120)}
}

// commitWaiting commits n changes concurrently while the database is locked. It returns once the writer has
// the first change and the other changes are in the queue.
func commitWaiting(t *testing.T, s *sqlite.Store, n int, change func(n int) store.Change) (results chan error) {
	t.Helper()
	results = make(chan error, n)
	until := func(what string, is func() bool) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
			if len(results) > 0 {
				t.Fatalf("until %s: Commit returned %v while the database is locked", what, <-results)
			}
			if time.Now().After(limit) {
				t.Fatalf("until %s: waited too long", what)
			}
		}
	}
	commit := func(n int) {
		_, err := s.Commit(t.Context(), change(n))
		results <- err
	}
	taken := s.Stats().Batches
	go commit(0)
	until("the first is taken", func() bool { return s.Stats().Batches == taken+1 })
	for i := range n - 1 {
		go commit(i + 1)
	}
	until("the others wait", func() bool { return s.Waiting() == n-1 })
	return results
}

// Changes that wait together are committed in one transaction, up to the size of a batch.
func TestWaitingChangesShareOneTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	release := lockDatabase(t, path)
	const many = 400
	results := commitWaiting(t, s, many,
		func(n int) store.Change { return store.Change{Put: []store.Record{record(n)}} })
	release()
	for range many {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if got := s.Stats(); got.Changes != many || got.Commits != 3 || got.Reruns != 0 {
		t.Errorf("Stats: got %+v, want %d changes in commits of 1, 256 and 143 without a rerun", got, many)
	}
}

// If a change fails with an unexpected error, only that change is lost. The other changes of its batch are
// kept.
func TestUnexpectedErrorLosesOnlyItsChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	var log bytes.Buffer
	s, err := sqlite.Open(path, &sqlite.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db := openDatabase(t, path)
	execute(t, db, `create trigger poison before insert on history when new.type = 'poison' begin select raise(abort, 'poisoned'); end`)
	release := lockDatabase(t, path)
	results := commitWaiting(t, s, 90, func(n int) store.Change {
		r := record(n)
		c := store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "asked")}}
		if n%30 == 7 {
			c.Events = append(c.Events, event(r, "poison"))
		}
		return c
	})
	release()
	failed := 0
	for range 90 {
		if err := <-results; err != nil {
			failed++
			if !strings.Contains(err.Error(), "poisoned") || errors.Is(err, store.ErrConflict) ||
				errors.Is(err, store.ErrUnknown) {
				t.Errorf("Commit: got %v, want the error of the database", err)
			}
		}
	}
	records, err := s.List(t.Context(), store.Query{Kind: "ask"})
	if failed != 3 || len(records) != 87 || err != nil {
		t.Errorf("got %d failures, %d records and %v, want 3 and 87", failed, len(records), err)
	}
	events, err := s.History(t.Context(), "", 0, 0)
	if err != nil || len(events) != 87 || events[86].Seq != 87 {
		t.Errorf("got %d events and %v, want 87 without a gap", len(events), err)
	}
	if got := s.Stats(); got.Reruns == 0 || got.Changes != 87 {
		t.Errorf("Stats: got %+v, want 87 changes after at least one rerun", got)
	}
	if !strings.Contains(log.String(), "poisoned") {
		t.Errorf("log: got %q, want the failure in it", log.String())
	}
}

// A stream that sorts after all streams from before the start has no events. Its first event is appended
// without a query for the newest event of the stream. An ask usually begins such a stream.
func TestEventOfNewStreamNeedsNoQuery(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(stream string, kept bool) {
		t.Helper()
		r := record(1)
		r.Stream = stream
		_, err := s.Commit(t.Context(), store.Change{Events: []store.Event{event(r, "asked")}})
		if (err == nil) != kept {
			t.Errorf("Commit of an event of %s: got %v, want it kept: %v", stream, err, kept)
		}
	}
	add("ses_2", true)
	add("ses_4", true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path)
	if err := s.BreakHeadQuery(); err != nil {
		t.Fatal(err)
	}
	add("ses_7", true)
	add("ses_5", true)
	add("ses_5", true)
	if _, err := s.Commit(t.Context(), store.Change{Prune: []store.EventFilter{{Stream: "ses_5"}}}); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{"ses_5", "ses_2", "ses_3", "ses_4"} {
		add(stream, false) // these streams need the query
	}
	add("ses_8", true)
}

// If the context ends while the change is being written, Commit still returns the result.
func TestCommitWaitsIfItsContextEndsDuringTheWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	release := lockDatabase(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := s.Commit(ctx, store.Change{Put: []store.Record{record(1)}})
		result <- err
	}()
	for limit := time.Now().Add(time.Minute); s.Stats().Batches == 0; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatal("no change was taken within a minute")
		}
	}
	cancel()
	for range 100 {
		select {
		case err := <-result:
			t.Fatalf("Commit while the database is locked: got %v, want it to wait", err)
		default:
			runtime.Gosched()
		}
	}
	release()
	if err := <-result; err != nil {
		t.Errorf("Commit: got %v, want no error", err)
	}
	if _, err := s.Read(t.Context(), "ask", record(1).ID); err != nil {
		t.Errorf("Read: got %v, want the record", err)
	}
}

// Close moves the write-ahead log into the database even if another program has the file open. In this case
// SQLite itself does not move the log.
func TestCloseMovesLogIntoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	db := openDatabase(t, path)
	var n int
	if err := db.QueryRow("select count(*) from records").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() != 0 {
		t.Errorf("write-ahead log after Close: got %v and %v, want an empty file", wal, err)
	}
}
