package sqlite_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// find returns the ids of the documents that contain a word.
func find(t *testing.T, s *sqlite.Store, word string) []string {
	t.Helper()
	ids, err := s.Find(t.Context(), store.Search{Phrases: []store.Phrase{{Words: []string{word}}}})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// addDocument adds a document with one word for a record. It moves the position of the index to seq.
func addDocument(t *testing.T, s *sqlite.Store, r store.Record, seq int64) {
	t.Helper()
	d := store.Document{Kind: r.Kind, ID: r.ID, At: r.Created, Words: "table"}
	if err := s.UpdateIndex(t.Context(),
		store.IndexUpdate{From: seq - 1, To: seq, Add: []store.Document{d}}); err != nil {
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

// The index of schema 8 sorts asks by the time at which they were made. The index of schema 9 has no words
// for the principals that may list an ask. The migration empties both indices, even if they are damaged, so
// that they are filled again.
func TestIndexOfEarlierSchemaIsFilledAgain(t *testing.T) {
	for version, damage := range map[string]string{
		"8": "", "9": "", "8 ": "drop table search_ids", "9 ": "delete from search_data",
	} {
		path := filepath.Join(t.TempDir(), "askback.db")
		s := openAt(t, path)
		if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
			t.Fatal(err)
		}
		addDocument(t, s, record(1), 1)
		s.Close()
		executeOnFile(t, path, dropHeld+"delete from goose_db_version where version_id > "+version+"; "+damage)
		s = openAt(t, path)
		if seq, err := s.Indexed(t.Context()); err != nil || seq != 0 || len(find(t, s, "table")) != 0 {
			t.Errorf("%q: got position %d, %v, want an empty index", damage, seq, err)
		}
		addDocument(t, s, record(1), 1)
		s.Close()
		s = openAt(t, path) // the index is not emptied again
		if got := find(t, s, "table"); len(got) != 1 {
			t.Errorf("%q: got %q after another start, want the ask", damage, got)
		}
	}
}

// indexDamages are statements that damage the index.
var indexDamages = []string{
	"drop table search",
	"drop table search_ids",
	"drop table search_position",
	"drop table search_config",
	"drop table search_data",
	"drop table search_docsize",
	"drop table search_idx",
	"delete from search_position",
	"delete from search_data",
	"delete from search_data where id = 10", // the structure
	"update search_data set block = x'ffffffffffffffffffff' where id = 10",         // the structure
	"update search_data set block = x'00' where id = 10",                           // the structure
	"update search_data set block = x'ff' where id > 10",                           // the words
	"update search_data set block = x'ffffffffffffffffffffffffffff' where id > 10", // the words
	"delete from search_data where id > 10",                                        // the words
	"update search_data set block = x'ffffffff' where id = 1",                      // the averages
	"update search_docsize set sz = x''",
	"update search_config set v = 99",
	"delete from search_config",
}

// An indexed is a database with records 1 to 3, whose index has the documents of records 1 and 2.
// [indexed.fill] adds the third document.
type indexed struct {
	*sqlite.Store
	path string
	log  *strings.Builder // the messages since the database was opened again
}

func (i *indexed) open(t *testing.T) {
	t.Helper()
	i.log = &strings.Builder{}
	s, err := sqlite.Open(i.path, &sqlite.Options{Log: slog.New(slog.NewTextHandler(i.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	i.Store = s
}

func newIndexed(t *testing.T) indexed {
	i := indexed{path: filepath.Join(t.TempDir(), "askback.db")}
	i.open(t)
	s := i.Store
	for n := 1; n <= 3; n++ {
		r := record(n)
		if _, err := s.Commit(t.Context(),
			store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "answered")}}); err != nil {
			t.Fatal(err)
		}
		if n < 3 {
			addDocument(t, s, r, int64(n))
		}
	}
	return i
}

func (i indexed) damage(t *testing.T, statement string) {
	t.Helper()
	db := openDatabase(t, i.path)
	execute(t, db, statement)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// fill adds the missing documents to the index, as the engine does.
func (i indexed) fill(t *testing.T) {
	t.Helper()
	for conflicts := 0; conflicts < 3; {
		from, err := i.Indexed(t.Context())
		if err != nil {
			t.Fatalf("Indexed: %v", err)
		}
		events, err := i.History(t.Context(), "", from, 1)
		if err != nil {
			t.Fatalf("History: %v", err)
		}
		if len(events) == 0 {
			return
		}
		u := store.IndexUpdate{From: from, To: events[0].Seq}
		if r, err := i.Read(t.Context(), "ask", events[0].Subject); err == nil {
			u.Add = []store.Document{{Kind: r.Kind, ID: r.ID, At: r.Created, Words: "table"}}
		}
		switch err := i.UpdateIndex(t.Context(), u); {
		case errors.Is(err, store.ErrConflict):
			conflicts++
		case err != nil:
			t.Fatalf("UpdateIndex: %v", err)
		}
	}
	t.Fatal("UpdateIndex: got conflicts only")
}

// check checks that all calls that use the index succeed, and that no row is reported as damaged.
func (i indexed) check(t *testing.T) {
	t.Helper()
	find(t, i.Store, "table")
	i.fill(t)
	if got, want := find(t, i.Store,
		"table"), []string{record(3).ID, record(2).ID, record(1).ID}; !slices.Equal(got, want) {
		t.Errorf("Find: got %q, want %q", got, want)
	}
	r := record(2)
	r.Version = 1
	drop := store.Change{Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: 1}}, Unindex: []string{r.ID}}
	if _, err := i.Commit(t.Context(), drop); err != nil {
		t.Errorf("Commit: %v", err)
	}
	i.fill(t)
	if got, want := find(t, i.Store, "table"), []string{record(3).ID, record(1).ID}; !slices.Equal(got, want) {
		t.Errorf("Find: got %q after a deletion, want %q", got, want)
	}
	if h := i.Health(); h.Failed != nil || len(h.Damaged) != 0 {
		t.Errorf("Health: got %+v, want no damage", h)
	}
	if n := strings.Count(i.log.String(), "it is filled again"); n > 1 {
		t.Errorf("%d messages, want one at most:\n%s", n, i.log)
	}
}

// A damaged index, or an index that has lost one of its tables, is emptied. This happens when the database is
// opened or the index is used (E9). The position of the index is then 0. No other data changes.
func TestDamagedIndexIsCreatedAgain(t *testing.T) {
	for _, statement := range indexDamages {
		t.Run(statement, func(t *testing.T) {
			t.Run("closed", func(t *testing.T) {
				i := newIndexed(t)
				if err := i.Close(); err != nil {
					t.Fatal(err)
				}
				i.damage(t, statement)
				i.open(t)
				i.check(t)
			})
			t.Run("open", func(t *testing.T) {
				i := newIndexed(t)
				i.damage(t, statement)
				i.check(t)
			})
			t.Run("changed first", func(t *testing.T) {
				i := newIndexed(t)
				i.damage(t, statement)
				r := record(4)
				if _, err := i.Commit(t.Context(),
					store.Change{Put: []store.Record{r}, Unindex: []string{record(1).ID}}); err != nil {
					t.Errorf("Commit: %v", err)
				}
				if _, err := i.Read(t.Context(), r.Kind, r.ID); err != nil {
					t.Errorf("Read: %v", err)
				}
				i.fill(t)
			})
		})
	}
}
