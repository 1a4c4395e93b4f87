package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// openDump creates a database from a dump in testdata, which an older version wrote,
// and opens it.
func openDump(t *testing.T, dump string) (s *sqlite.Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "askback.db")
	text, err := os.ReadFile("testdata/" + dump)
	if err != nil {
		t.Fatal(err)
	}
	db := openDatabase(t, path)
	execute(t, db, string(text))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return openAt(t, path), path
}

// dropHeld undoes the migration to schema 12.
const dropHeld = `drop index effects_due; drop index effects_held; alter table effects drop column held;
	create index effects_due on effects (due, id) where node is null and dead = 0;`

// The content of a database of schema 5 can be read after its migration: unacknowledged
// asks, events, and effects that were claimed, free and dead.
func TestSchema5IsMigrated(t *testing.T) {
	s, path := openDump(t, "schema5.sql")
	unacked, err := s.List(t.Context(), store.Query{Kind: "ask", Owner: "agent-1", Unacked: true})
	if got, want := idsOf(unacked), []string{record(1).ID}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("List of what is not acknowledged: got %q, %v, want %q", got, err, want)
	}
	next := record(4)
	if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{next}}); err != nil {
		t.Error(err)
	}
	open, err := s.List(t.Context(), store.Query{Kind: "ask", Owner: next.Owner, Open: new(true)})
	if got, want := idsOf(open), []string{record(2).ID, record(3).ID, next.ID}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("List of what is open: got %q, %v, want %q", got, err, want)
	}
	events, err := s.History(t.Context(), "", 0, 0)
	if err != nil || len(events) != 1 || events[0].Type != "asked" {
		t.Errorf("History: got %+v, %v, want one event", events, err)
	}
	dead, err := s.Dead(t.Context(), store.Query{})
	if err != nil || len(dead) != 1 || dead[0].ID != "eff_1" || dead[0].Error != "no" {
		t.Errorf("Dead: got %+v, %v, want eff_1", dead, err)
	}
	effects, err := s.Claim(t.Context(), "node", record(2).Created, 0)
	if err != nil || len(effects) != 2 || effects[0].ID != "eff_2" || effects[0].Attempts != 2 ||
		effects[1].ID != "eff_3" {
		t.Errorf("Claim: got %+v, %v, want eff_2 again and eff_3", effects, err)
	}
	if v := verifyFile(t, path); v.Rows != 8 || v.Damaged != 0 || v.Without != 0 {
		t.Errorf("Verify: got %+v, want eight rows with their checksums", v)
	}
}

// In schema 10, the subject of an event about its own session was the id of the session. Such events are
// read, shown and pruned like present events.
func TestEventsOfSchema10AreAboutTheirSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	add := func() {
		t.Helper()
		e := store.Event{Stream: "ses_1", Subject: "ses_1", Type: "message", At: record(1).Created}
		if _, err := s.Commit(
			t.Context(),
			store.Change{Events: []store.Event{e, {Stream: "ses_1", Subject: "ask_1", Type: "asked", At: e.At}}},
		); err != nil {
			t.Fatal(err)
		}
	}
	add()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := openDatabase(t, path)
	if got := table(t, db, "select subject from history order by seq"); got != "\nask_1" {
		t.Fatalf("stored subjects: got %q", got)
	}
	execute(t, db, dropHeld+`update history set subject = stream where subject = ''; drop view events;
		create view events as select seq, stream as session_id, n as session_seq, subject, type, data, at from history;
		delete from goose_db_version where version_id > 10`)
	s = openAt(t, path)
	add()
	if got, want := table(t, db, "select subject from events order by seq"), "ses_1\nask_1\nses_1\nask_1"; got != want {
		t.Errorf("subjects of the view: got %q, want %q", got, want)
	}
	if v := verifyFile(t, path); v.Rows != 4 || v.Damaged != 0 {
		t.Errorf("Verify: got %+v, want four rows", v)
	}
	subjects := func() (all []string) {
		events, err := s.History(t.Context(), "ses_1", 0, 0)
		for _, e := range events {
			all = append(all, e.Subject)
		}
		if err != nil {
			t.Error(err)
		}
		return all
	}
	if got, want := subjects(), []string{"ses_1", "ask_1", "ses_1", "ask_1"}; !cmp.Equal(got, want) {
		t.Errorf("got events about %q, want %q", got, want)
	}
	if _, err := s.Commit(t.Context(),
		store.Change{Prune: []store.EventFilter{{Stream: "ses_1", Subject: "ses_1"}}}); err != nil {
		t.Fatal(err)
	}
	if got, want := subjects(), []string{"ask_1", "ask_1"}; !cmp.Equal(got, want) {
		t.Errorf("after pruning: got events about %q, want %q", got, want)
	}
}

// A database of a newer version is refused, and its file does not change, so that the newer version can be
// installed again.
func TestNewerSchemaIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	openAt(t, path).Close()
	db := openDatabase(t, path)
	execute(t, db, "insert into goose_db_version (version_id, is_applied) values (99, 1)")
	before := readFile(t, path)
	_, err := sqlite.Open(path, nil)
	if !bytes.Equal(readFile(t, path), before) {
		t.Error("Open changed the file")
	}
	want := fmt.Sprintf("version 99, and this program supports versions up to %d", sqlite.SchemaVersion)
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "install that version") {
		t.Errorf("Open: got %v, want an error that has both versions and what to do", err)
	}
	if !errors.Is(err, sqlite.ErrNewer) {
		t.Errorf("Open: got %v, want %v", err, sqlite.ErrNewer)
	}
	execute(t, db, "delete from goose_db_version where version_id = 99")
	openAt(t, path)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSchemaVersionIsTheNewestMigration(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) != sqlite.SchemaVersion {
		t.Errorf("SchemaVersion: got %d, want %d (%v)", sqlite.SchemaVersion, len(files), err)
	}
}
