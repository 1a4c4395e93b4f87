package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// commitOwned commits an open record and an unacked record for each number. The owners are agent-0, agent-1
// and agent-2 in turn.
func commitOwned(t *testing.T, s *sqlite.Store, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		open, unacked := record(2*n), record(2*n+1)
		open.Owner = fmt.Sprintf("agent-%d", n%3)
		unacked.Owner, unacked.Open, unacked.Unacked = open.Owner, false, true
		if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{open, unacked}}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkOwned checks the lists of every owner in both directions, as a whole and in pages.
func checkOwned(t *testing.T, s *sqlite.Store, numbers []int) {
	t.Helper()
	for owner := range 3 {
		for _, unacked := range []bool{false, true} {
			q := store.Query{Kind: "ask", Owner: fmt.Sprintf("agent-%d", owner), Unacked: unacked}
			var want []string
			for _, n := range numbers {
				if n%3 == owner {
					want = append(want, record(2*n+int(bit(unacked))).ID)
				}
			}
			if !unacked {
				q.Open = new(true)
			}
			slices.Sort(want)
			for _, q.Newest = range []bool{false, true} {
				for _, q.Limit = range []int{0, 2} {
					if got := allIDs(t, s, q); !cmp.Equal(got, want) {
						t.Fatalf("List %+v: got %q, want %q", q, got, want)
					}
				}
				slices.Reverse(want)
			}
		}
	}
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// allIDs returns the ids of all pages of a list.
func allIDs(t *testing.T, s *sqlite.Store, q store.Query) (ids []string) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, idsOf(page)...)
		if len(page) == 0 || len(page) < store.AtMost(q.Limit) {
			return ids
		}
		q.After = page[len(page)-1].ID
	}
}

// countRecent returns the number of records that are open or unacked, and the number of these records that
// are in no index by owner.
func countRecent(t *testing.T, db *sql.DB) (all, recent int) {
	t.Helper()
	row := db.QueryRow("select count(*), coalesce(sum(recent), 0) from records where open = 1 or unacked = 1")
	if err := row.Scan(&all, &recent); err != nil {
		t.Fatal(err)
	}
	return all, recent
}

// The lists of an owner are complete while records move to the indices by owner, and after a restart. They
// are complete even if a new record sorts before the records in the indices.
func TestListsForAnOwnerReturnOldAndRecentRecords(t *testing.T) {
	sqlite.SetMaxRecent(t, 7, 4)
	path := filepath.Join(t.TempDir(), "askback.db")
	var numbers []int
	s := openAt(t, path)
	add := func(n int) {
		commitOwned(t, s, n)
		numbers = append(numbers, n)
		checkOwned(t, s, numbers)
	}
	for n := 10; n < 40; n++ {
		add(n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := openDatabase(t, path)
	if all, recent := countRecent(t, db); all != 60 || recent == 0 || recent > 2*(7+4) {
		t.Errorf("got %d of %d records that are recent, want some and at most 22", recent, all)
	}
	s = openAt(t, path)
	for _, n := range []int{3, 50, 20 + 1000, 4} {
		add(n)
	}
	r, err := s.Read(t.Context(), "ask", record(2*12).ID)
	if err != nil {
		t.Fatal(err)
	}
	r.Open, r.Fixed = false, nil
	// the first change removes the record from the index by owner, the second change adds it again
	for _, r.Open = range []bool{false, true} {
		if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{r}}); err != nil {
			t.Fatal(err)
		}
		r.Version++
	}
	checkOwned(t, s, numbers)
	if v := verifyFile(t, path); v.Damaged != 0 {
		t.Errorf("Verify: got %+v, want no damaged row", v)
	}
}

// A record that is settled and acknowledged soon is never in an index by owner, however many such records
// there are.
func TestSettledRecordsAreNotAddedToIndexByOwner(t *testing.T) {
	sqlite.SetMaxRecent(t, 7, 4)
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	for n := range 50 {
		r := record(n)
		for _, state := range []struct{ open, unacked bool }{{true, false}, {false, true}, {false, false}} {
			r.Open, r.Unacked = state.open, state.unacked
			if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{r}}); err != nil {
				t.Fatal(err)
			}
			r.Version++
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var old, boundaries int
	db := openDatabase(t, path)
	if err := db.QueryRow(
		"select (select count(*) from records where recent = 0), (select count(*) from boundaries)",
	).Scan(&old, &boundaries); err != nil {
		t.Fatal(err)
	}
	if old != 0 || boundaries != 0 {
		t.Errorf("got %d records that are not recent and %d boundaries, want none", old, boundaries)
	}
}

// If each process adds only one record, recent records do not accumulate.
func TestShortProcessesDoNotAccumulateRecentRecords(t *testing.T) {
	sqlite.SetMaxRecent(t, 7, 4)
	path := filepath.Join(t.TempDir(), "askback.db")
	for n := range 40 {
		s := openAt(t, path)
		commitOwned(t, s, n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if all, recent := countRecent(t, openDatabase(t, path)); all != 80 || recent > 2*(7+4) {
		t.Errorf("got %d of %d records that are recent, want at most 22", recent, all)
	}
}

// A record that fits on a full disk is added even if the indices by owner cannot be extended.
func TestRecordIsAddedIfIndexByOwnerDoesNotFit(t *testing.T) {
	sqlite.SetMaxRecent(t, 40, 30)
	s := openAt(t, filepath.Join(t.TempDir(), "askback.db"))
	add := func(n int) error {
		r := record(n)
		r.Owner = strings.Repeat("o", 1500) // with such a long owner, the index needs more pages than the record
		_, err := s.Commit(t.Context(), store.Change{Put: []store.Record{r}})
		return err
	}
	const before = 2 * 30 // the next record moves the boundary
	for n := range before {
		if err := add(n); err != nil {
			t.Fatal(err)
		}
	}
	write, _, release, err := s.Connections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var pages int64
	count := func(row *sqlite3.Stmt) error {
		pages = row.ColumnInt64(0)
		return nil
	}
	if err := sqlitex.ExecuteTransient(write, "pragma page_count",
		&sqlitex.ExecOptions{ResultFunc: count}); err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(write, fmt.Sprintf("pragma max_page_count = %d", pages+5), nil); err != nil {
		t.Fatal(err)
	}
	if err := add(before); err != nil {
		t.Errorf("Commit: got %v, want no error", err)
	}
	if n := s.Stats().Reruns; n != 1 {
		t.Errorf("got %d transactions that were repeated, want the one whose indices did not fit", n)
	}
}

// Verify reports an open record whose column recent is wrong, because lists of its owner would
// omit it. Settled records are in none of these lists.
func TestVerifyReportsWrongRecentColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	fillDatabase(t, path)
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	settled := record(9)
	settled.Open = false
	_, err = s.Commit(t.Context(), store.Change{Put: []store.Record{settled}})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string][]string{
		"update records set recent = 0 where id = '" + settled.ID + "'":            nil,
		"update records set recent = 0 where id = '" + record(2).ID + "'":          {"ask " + record(2).ID},
		"update records set recent = 1 where id = '" + record(2).ID + "'":          nil,
		"insert into boundaries (kind, id) values ('ask', '" + record(1).ID + "')": {"ask " + record(1).ID},
		// this boundary is for grants and not for asks
		"insert into boundaries (kind, id) values ('grant', 'grt_1')": nil,
	} {
		executeOnFile(t, path, change)
		if v := verifyFile(t, path); !cmp.Equal(v.Names, want) {
			t.Errorf("after %q: got %+v, want %q", change, v, want)
		}
		executeOnFile(t, path, "delete from boundaries; update records set recent = 1")
	}
}
