package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// find returns the ids of the documents with a word.
func find(t *testing.T, s *sqlite.Store, word string) []string {
	t.Helper()
	ids, err := s.Find(t.Context(), store.Search{Phrases: []store.Phrase{{Words: []string{word}}}})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// addDocument adds the document of a record, with one word, and moves the position to seq.
func addDocument(t *testing.T, s *sqlite.Store, r store.Record, seq int64) {
	t.Helper()
	d := store.Document{Kind: r.Kind, ID: r.ID, At: r.Created, Words: "table"}
	if err := s.UpdateIndex(t.Context(), store.IndexUpdate{From: seq - 1, To: seq, Add: []store.Document{d}}); err != nil {
		t.Fatal(err)
	}
}

// A database of an older version has an empty index after its migration, which can be
// filled.
func TestIndexIsAddedByMigration(t *testing.T) {
	s, _ := openDump(t, "schema5.sql")
	if seq, err := s.Indexed(t.Context()); err != nil || seq != 0 {
		t.Errorf("Indexed: got %d, %v, want 0", seq, err)
	}
	addDocument(t, s, record(1), 1)
	if got, want := find(t, s, "table"), []string{record(1).ID}; !slices.Equal(got, want) {
		t.Errorf("Find: got %q, want %q", got, want)
	}
}

// If a table of the index is missing, the index begins again with its first position.
func TestMissingIndexIsCreated(t *testing.T) {
	for _, table := range []string{"search", "search_ids", "search_position"} {
		path := filepath.Join(t.TempDir(), "askback.db")
		s := openAt(t, path)
		if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
			t.Fatal(err)
		}
		addDocument(t, s, record(1), 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		db := openDatabase(t, path)
		execute(t, db, "drop table "+table)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s = openAt(t, path)
		if seq, err := s.Indexed(t.Context()); err != nil || seq != 0 {
			t.Errorf("without %s: Indexed: got %d, %v, want 0", table, seq, err)
		}
		if got := find(t, s, "table"); len(got) != 0 {
			t.Errorf("without %s: Find: got %q, want nothing", table, got)
		}
		addDocument(t, s, record(1), 1)
		if got := find(t, s, "table"); len(got) != 1 {
			t.Errorf("without %s, filled again: Find: got %q, want one", table, got)
		}
	}
}
