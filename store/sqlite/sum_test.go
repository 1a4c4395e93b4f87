package sqlite_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// fillDatabase creates a database with three records, each with two events in one stream. It
// returns the second record. No column of the records is null.
func fillDatabase(t *testing.T, path string) (second store.Record) {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		r := record(n + 1)
		r.Key, r.Stream, r.To, r.Unacked = r.ID, "ses_1", []string{"ana", "ben"}, true
		r.State = bytes.Repeat([]byte{'0' + byte(n)}, 300)
		r.Due = time.UnixMilli(1_700_000_000_000).UTC()
		change := store.Change{Put: []store.Record{r}}
		for _, what := range []string{"asked", "seen"} {
			e := event(r, what)
			e.Stream = "ses_1"
			change.Events = append(change.Events, e)
		}
		if _, err := s.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if second, err = s.Read(t.Context(), "ask", record(2).ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return second
}

// executeOnFile runs a statement on a closed database, as another program would.
func executeOnFile(t *testing.T, path, text string) {
	t.Helper()
	db := openDatabase(t, path)
	execute(t, db, "pragma ignore_check_constraints = on")
	execute(t, db, text)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// If another program changes a column of a record, Read returns a DamagedError with the id of the record, and
// lists omit the record.
func TestRecordChangedByAnotherProgramIsNotReturned(t *testing.T) {
	for _, column := range []string{
		"version = version + 1", "stream = 'ses_2'", "key = 'other'", "key = null", "open = 0", "open = 7",
		"owner = 'eve'", "agent = 'eve'", "status = 'answered'", "names = null",
		"names = char(10) || 'eve' || char(10)", "names = 'x'", "created = created + 1", "updated = updated + 1",
		"due = due + 1", "due = null", "state = cast('other' as blob)", "state = null",
		"fixed = cast('other' as blob)", "unacked = 0", "sum = sum + 1", "fixed_sum = fixed_sum + 1",
	} {
		t.Run(column, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "askback.db")
			want := fillDatabase(t, path)
			executeOnFile(t, path, "update records set "+column+" where id = '"+want.ID+"'")
			var log bytes.Buffer
			s := openWithLog(t, path, &log)
			var damaged store.DamagedError
			if got, err := s.Read(t.Context(), "ask", want.ID); !errors.As(err, &damaged) || damaged.ID != want.ID {
				t.Errorf("Read: got %+v, %v, want a DamagedError with the id", got, err)
			}
			if got, err := s.ReadKey(t.Context(), "ask", want.Key); !strings.HasPrefix(column, "key") &&
				!errors.As(err, &damaged) {
				t.Errorf("ReadKey: got %+v, %v, want a DamagedError", got, err)
			}
			rest := []string{record(1).ID, record(3).ID}
			list, err := s.List(t.Context(), store.Query{Kind: "ask", Limit: 2})
			if got := idsOf(list); err != nil || !cmp.Equal(got, rest) {
				t.Errorf("List: got %q, %v, want %q", got, err, rest)
			}
			due, err := s.Due(t.Context(), time.Now(), 2)
			if got := idsOf(due); err != nil || !cmp.Equal(got, rest) {
				t.Errorf("Due: got %q, %v, want %q", got, err, rest)
			}
			if n := strings.Count(log.String(), want.ID); n != 1 {
				t.Errorf("got the log %s, want one line that names the record", log.String())
			}
			if got := s.Health().Damaged; !cmp.Equal(got, []string{"ask " + want.ID}) {
				t.Errorf("Health: got %q, want the record", got)
			}
			if v := verifyFile(t, path); v.Damaged != 1 || v.Rows != 9 ||
				!cmp.Equal(v.Names, []string{"ask " + want.ID}) {
				t.Errorf("Verify: got %+v, want the record of nine rows", v)
			}
		})
	}
}

// If another program changes a column of an event, lists omit the event, and the numbers of later events do
// not change.
func TestChangedEventIsOmitted(t *testing.T) {
	for _, column := range []string{
		"n = n + 1", "subject = 'ask_x'", "type = 'answered'", "at = at + 1", `data = cast('{"a":2}' as blob)`,
		"data = null", "sum = 1",
	} {
		t.Run(column, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "askback.db")
			fillDatabase(t, path)
			executeOnFile(t, path, "update history set "+column+" where seq in (4, 6)")
			s := openAt(t, path)
			for stream, want := range map[string][]int64{"": {1, 2, 3, 5}, "ses_1": {1, 2, 3, 5}} {
				events, err := s.History(t.Context(), stream, 0, 4)
				if got := seqsOf(events); err != nil || !cmp.Equal(got, want) {
					t.Errorf("History of %q: got %v, %v, want %v", stream, got, err, want)
				}
			}
			events, err := s.Recent(t.Context(), "ses_1", 0, 2)
			if got, want := seqsOf(events), []int64{5, 3}; err != nil || !cmp.Equal(got, want) {
				t.Errorf("Recent: got %v, %v, want %v", got, err, want)
			}
			if seq, n, err := s.Head(t.Context(), "ses_1"); seq != 6 || n != 6 || err != nil {
				t.Errorf("Head: got %d, %d, %v, want 6, 6", seq, n, err)
			}
			e := event(record(1), "more")
			e.Stream = "ses_1"
			if _, err := s.Commit(t.Context(), store.Change{Events: []store.Event{e}}); err != nil {
				t.Fatal(err)
			}
			if events, err := s.History(t.Context(), "ses_1", 6, 4); err != nil || len(events) != 1 ||
				events[0].StreamSeq != 7 {
				t.Errorf("the next event: got %+v, %v, want number 7", events, err)
			}
			if v := verifyFile(t, path); v.Damaged != 2 ||
				!cmp.Equal(v.Names, []string{"event 4 of ses_1", "event 6 of ses_1"}) {
				t.Errorf("Verify: got %+v, want two events", v)
			}
		})
	}
}

// If another program changes a column of an effect, Claim and Dead omit the effect and return the other
// effects.
func TestChangedEffectIsOmitted(t *testing.T) {
	for _, column := range []string{
		"id = id || 'x'", "kind = 'call'", "subject_kind = 'token'", "subject = 'ask_x'", "stream = 'ses_2'",
		"due = due - 1", "created = created + 1", "attempts = attempts + 1", "node = 'a'", "node = ''",
		"dead = 1 - dead", "dead = 2", "error = 'x'", "data = cast('{}' as blob)", "data = null", "sum = 1",
	} {
		t.Run(column, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "askback.db")
			s := openAt(t, path)
			r := record(1)
			change := store.Change{Put: []store.Record{r}}
			var dead []store.Completion
			for _, id := range []string{"eff_1", "eff_2", "eff_3", "eff_4", "eff_5", "eff_6"} {
				change.Effects = append(change.Effects, store.Effect{
					ID: id, Kind: "send", SubjectKind: r.Kind, Subject: r.ID, Stream: r.Stream, Due: r.Created,
					Created: r.Created, Data: []byte(`{"a":1}`),
				})
				if id <= "eff_3" {
					dead = append(dead, store.Completion{ID: id, Node: "a", Dead: true, Error: "no"})
				}
			}
			if _, err := s.Commit(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Claim(t.Context(), "a", r.Created, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Commit(t.Context(), store.Change{Done: dead}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			executeOnFile(t, path, "update effects set "+column+" where id in ('eff_2', 'eff_5')")
			s = openAt(t, path)
			left := func(effects []store.Effect, err error) (ids []string) {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				for _, e := range effects {
					ids = append(ids, e.ID)
				}
				return ids
			}
			if got, want := left(s.Dead(t.Context(), store.Query{Limit: 2})), []string{
				"eff_1", "eff_3",
			}; !cmp.Equal(got, want) {
				t.Errorf("Dead: got %q, want %q", got, want)
			}
			got := left(s.Claim(t.Context(), "a", r.Created, 2))
			if want := []string{"eff_4", "eff_6"}; !cmp.Equal(got, want) {
				t.Errorf("Claim: got %q, want %q", got, want)
			}
			if v := verifyFile(t, path); v.Damaged != 2 || v.Rows != 7 ||
				!strings.HasPrefix(v.Names[0], "effect eff_2") {
				t.Errorf("Verify: got %+v, want the effect", v)
			}
		})
	}
}

// After one bit of a record is flipped in the file, the store returns the record as it was
// written or an error.
func TestRowWithAFlippedBitIsNotReturned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	want := fillDatabase(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, want.State)
	if at < 200 {
		t.Fatal("the record is not in the file")
	}
	undamaged := 0
	for i := at - 160; i < at+160; i += 3 {
		broken := bytes.Clone(whole)
		broken[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(path, nil)
		if err != nil {
			continue // an error is allowed
		}
		for n := range 3 {
			r, err := s.Read(t.Context(), "ask", record(n+1).ID)
			if err != nil {
				continue
			}
			undamaged++
			if diff := cmp.Diff(want, r); n == 1 && diff != "" {
				t.Errorf("byte %d: Read returned a changed record:\n%s", i, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if undamaged < 200 {
		t.Errorf("got %d records, want most of the undamaged ones", undamaged)
	}
}

// The rows of a database without checksums can be read. Columns get a checksum when they are written. Verify
// counts the rows without a checksum.
func TestRowsWithoutChecksumsAreRead(t *testing.T) {
	s, path := openDump(t, "schema3.sql")
	asks, err := s.List(t.Context(), store.Query{Kind: "ask"})
	if err != nil || len(asks) != 1 || !bytes.Contains(asks[0].Fixed, []byte("deploy")) {
		t.Fatalf("List: got %+v, %v, want the ask", asks, err)
	}
	events, err := s.History(t.Context(), asks[0].Stream, 0, 10)
	if err != nil || len(events) != 2 {
		t.Errorf("History: got %+v, %v, want two events", events, err)
	}
	before := verifyFile(t, path)
	r := asks[0]
	r.Fixed = nil
	if _, err := s.Commit(t.Context(),
		store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "more")}}); err != nil {
		t.Fatal(err)
	}
	after := verifyFile(t, path)
	if before.Without != before.Rows || before.Damaged != 0 || after.Rows != before.Rows+1 ||
		after.Without != before.Without {
		t.Errorf("got %+v and then %+v, want no row with checksums, and then only the new event with them", before,
			after)
	}
	executeOnFile(t, path, "update records set status = 'expired' where kind = 'ask'")
	if got, err := s.Read(t.Context(), "ask", r.ID); !errors.Is(err, store.DamagedError{Kind: "ask", ID: r.ID}) {
		t.Errorf("Read of a record that was written and then changed: got %+v, %v, want a DamagedError", got, err)
	}
}

func openWithLog(t *testing.T, path string, log *bytes.Buffer) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, &sqlite.Options{Log: textLogger(log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: got %v, want no error", err)
		}
	})
	return s
}

func verifyFile(t *testing.T, path string) sqlite.Verification {
	t.Helper()
	v, err := sqlite.Verify(t.Context(), (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func idsOf(records []store.Record) (ids []string) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

func seqsOf(events []store.Event) (seqs []int64) {
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func textLogger(log *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) }

// A value of another type than the schema requires is damage, even if its bytes match the checksum or the row
// has no checksum.
func TestValueOfAnotherTypeIsReportedAsDamage(t *testing.T) {
	for change, want := range map[string]string{
		"update records set open = 7, sum = null where id = '" + record(2).ID + "'":        "ask " + record(2).ID,
		"update records set state = cast(state as text) where id = '" + record(2).ID + "'": "ask " + record(2).ID,
		"update records set agent = cast(agent as blob) where id = '" + record(2).ID + "'": "ask " + record(2).ID,
		"update history set data = cast(data as text) where seq = 4":                       "event 4 of ses_1",
		"update history set type = cast(type as blob), sum = null where seq = 4":           "event 4 of ses_1",
	} {
		path := filepath.Join(t.TempDir(), "askback.db")
		fillDatabase(t, path)
		executeOnFile(t, path,
			"pragma writable_schema = on; update sqlite_schema set sql = replace(sql, ') strict', ')')")
		executeOnFile(t, path, change)
		if v := verifyFile(t, path); !cmp.Equal(v.Names, []string{want}) {
			t.Errorf("after %q: got %+v, want %s", change, v, want)
		}
	}
}
