package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

const pageSize = 4096

// fillPages creates a database with many open records, which are due, and as many events.
func fillPages(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var c store.Change
	for n := range 300 {
		r := record(n + 1)
		r.Owner, r.Status, r.Stream, r.Due, r.State = "bot", "pending", "ses_1",
			time.UnixMilli(1_700_000_000_000+int64(n)).UTC(), bytes.Repeat([]byte{'s'}, 400)
		e := event(r, "asked")
		e.Stream, e.Type, e.Data = "ses_1", "asked", bytes.Repeat([]byte{' '}, 200)
		c.Put, c.Events = append(c.Put, r), append(c.Events, e)
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// lists reads all lists of a store. It returns the ids or event numbers in each list, and the error of each
// list, keyed by the name of the list.
func lists(t *testing.T, s *sqlite.Store) (all map[string][]string, errs map[string]error) {
	t.Helper()
	all, errs = map[string][]string{}, map[string]error{}
	records := func(name string, list []store.Record, err error) { all[name], errs[name] = idsOf(list), err }
	events := func(name string, list []store.Event, err error) {
		var ids []string
		for _, seq := range seqsOf(list) {
			ids = append(ids, fmt.Sprint(seq))
		}
		all[name], errs[name] = ids, err
	}
	for name, q := range map[string]store.Query{
		"inbox":   {Kind: "ask", Open: new(true), Newest: true},
		"of one":  {Kind: "ask", Open: new(true), Owner: "bot"},
		"all":     {Kind: "ask"},
		"scanned": {Kind: "ask", Status: "pending", Scan: 100_000},
		"session": {Kind: "ask", Stream: "ses_1"},
	} {
		list, err := s.List(t.Context(), q)
		records(name, list, err)
	}
	due, err := s.Due(t.Context(), time.Now(), 0)
	records("due", due, err)
	history, err := s.History(t.Context(), "", 0, 0)
	events("history", history, err)
	history, err = s.History(t.Context(), "ses_1", 0, 0)
	events("stream", history, err)
	history, err = s.Recent(t.Context(), "ses_1", 0, 0)
	events("recent", history, err)
	subjects, _, err := s.Subjects(t.Context(),
		store.SubjectQuery{Query: store.Query{Kind: "ask"}, Types: []string{"asked"}})
	var ids []string
	for _, one := range subjects {
		ids = append(ids, one.ID)
	}
	all["subjects"], errs["subjects"] = ids, err
	return all, errs
}

// isPart reports whether part has only elements of whole, in the same order.
func isPart(part, whole []string) bool {
	for _, s := range part {
		i := slices.Index(whole, s)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}

// If a page of the file cannot be read, lists return the records and events on other pages. The health of the
// store reports the page.
func TestDamagedPageHidesOnlyItsRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	fillPages(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	want, errs := lists(t, s)
	for name, err := range errs {
		if len(want[name]) != 300 || err != nil {
			t.Fatalf("%s: got %d, %v before the damage, want 300", name, len(want[name]), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	failed, incomplete, opened, named := map[string]int{}, 0, 0, 0
	for page := 1; page < len(whole)/pageSize; page++ {
		if page > 12 && page%9 > 0 { // most pages are similar, so only every ninth page is damaged
			continue
		}
		damaged := slices.Clone(whole)
		copy(damaged[page*pageSize:], bytes.Repeat([]byte{0xff}, pageSize))
		path := filepath.Join(t.TempDir(), "askback.db")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(path, nil)
		if err != nil {
			continue // this page has the schema
		}
		opened++
		got, errs := lists(t, s)
		for name, err := range errs {
			missing := len(want[name]) - len(got[name])
			switch {
			case errors.Is(err, sqlite.ErrPage):
				failed[name]++
			case err != nil:
				t.Errorf("page %d: %s: %v", page, name, err)
			case !isPart(got[name], want[name]):
				t.Errorf("page %d: %s has other records or another order: %v", page, name, got[name])
			case missing > 130:
				t.Errorf("page %d: %s omits %d of %d", page, name, missing, len(want[name]))
			}
			if err != nil || missing > 0 {
				incomplete++
				if h := s.Health(); !h.Unreadable || len(h.Damaged) == 0 {
					t.Errorf("page %d: %s is not complete, and the store is healthy: %+v", page, name, h)
				}
			}
		}
		named += len(s.Health().Damaged) - 1
		if err := s.Close(); err != nil && !errors.Is(err, sqlite.ErrPage) {
			t.Logf("page %d: close: %v", page, err)
		}
	}
	t.Logf("%d pages, %d opened, %d lists incomplete, %d records named, failed: %v", len(whole)/pageSize, opened,
		incomplete, named, failed)
	for name, n := range failed {
		if n > 4 { // the roots of the tables and the index
			t.Errorf("%s fails for %d of %d pages", name, n, opened)
		}
	}
	if named < 100 {
		t.Errorf("%d damaged records are named, of at least a page of each table", named)
	}
	if opened < 20 || incomplete == 0 {
		t.Errorf("%d databases were opened, %d lists were not complete", opened, incomplete)
	}
}
