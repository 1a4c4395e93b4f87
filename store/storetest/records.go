package storetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

func testFields(t *testing.T, sub Subject) {
	s := sub.Store
	full := store.Record{
		Kind: "ask", ID: "ask_1", Stream: "ses_1", Key: "once", Open: true, Owner: "agent-7", Agent: "Claude",
		Status: "pending", To: []string{"ann", "bob"}, Created: noon, Updated: noon.Add(time.Millisecond),
		Due:   noon.Add(time.Hour),
		Fixed: []byte(`{"q":"?"}`), State: []byte{0, 1, 0xff},
	}
	bare := store.Record{Kind: "ask", ID: "ask_2", Fixed: []byte("f")}
	mustCommit(t, s, put(full, bare))
	mustEqual(t, "a full record", mustRead(t, s, "ask", "ask_1"), committed(full))
	mustEqual(t, "a bare record", mustRead(t, s, "ask", "ask_2"), committed(bare))

	// The store returns times in UTC with milliseconds.
	zone := time.FixedZone("", 5*3600)
	when := time.Date(1969, 7, 20, 20, 17, 40, 123_456_789, time.UTC)
	odd := store.Record{
		Kind: "ask", ID: "ask_3", Created: when.In(zone), Updated: when.In(zone), Due: when.In(zone),
		Fixed: []byte{}, State: []byte{}, To: []string{},
	}
	mustCommit(t, s, put(odd))
	want := store.Record{Kind: "ask", ID: "ask_3", Version: 1}
	want.Created = time.Date(1969, 7, 20, 20, 17, 40, 123_000_000, time.UTC)
	want.Updated, want.Due = want.Created, want.Created
	mustEqual(t, "times of another zone and empty slices", mustRead(t, s, "ask", "ask_3"), want)
	due, err := s.Due(t.Context(), want.Due, 1)
	if err != nil || len(due) != 1 || due[0].ID != "ask_3" {
		t.Fatalf("Due at its millisecond: got %v and %v, want ask_3", ids(due), err)
	}

	fullEvent := store.Event{
		Stream: "ses_1", Subject: "ask_1", Type: "asked", At: when.In(zone), Data: []byte(`{"a":1}`),
	}
	bareEvent := store.Event{Type: "started"}
	first := mustCommit(t, s, store.Change{Events: []store.Event{fullEvent, bareEvent}})
	fullEvent.Seq, fullEvent.StreamSeq, fullEvent.At = 1, 1, want.Created
	bareEvent.Seq, bareEvent.StreamSeq = 2, 1
	mustEqual(t, "the first Seq", first, int64(1))
	mustEqual(t, "events", allEvents(t, s, ""), []store.Event{fullEvent, bareEvent})

	mustEqual(t, "the Seq of a change without events", mustCommit(t, s, put(record("ask", "ask_4"))), int64(0))
	mustEqual(t, "the Seq of an empty change", mustCommit(t, s, store.Change{}), int64(0))
}

var oddNames = []string{
	"two\nlines", "\n", `back\slash`, `\n`, `\`, `"quoted"`, `'; drop table records; --`, ",", `","`, "a,b", "%", "_",
	"日本語", "مرحبا", "🙂", "é", "e\u0301", " spaces ", "\t", "\u2028", "\x01", strings.Repeat("long", 1000), "",
}

func testOddStrings(t *testing.T, sub Subject) {
	s := sub.Store
	for i, odd := range oddNames {
		r := record("kind"+odd, "ask"+odd)
		r.Stream, r.Key, r.Owner, r.Agent, r.Status = odd, odd, odd, odd, odd
		r.To = []string{odd, "x" + odd, odd + odd}
		mustCommit(t, s, store.Change{
			Put: []store.Record{r}, Events: []store.Event{{Stream: "s" + odd, Subject: odd + "x", Type: "t" + odd}},
		})
		mustEqual(t, "a record named "+odd, mustRead(t, s, r.Kind, r.ID), committed(r))
		e := allEvents(t, s, "s"+odd)
		if len(e) != 1 || e[0].Subject != odd+"x" || e[0].Type != "t"+odd || e[0].Seq != int64(i)+1 {
			t.Fatalf("event of %q: got %+v", odd, e)
		}
		if odd == "" {
			continue
		}
		byKey, err := s.ReadKey(t.Context(), r.Kind, odd)
		if err != nil || byKey.ID != r.ID {
			t.Fatalf("ReadKey %q: got %q and %v, want %q", odd, byKey.ID, err, r.ID)
		}
		q := store.Query{Kind: r.Kind, Status: odd, Stream: odd, Owner: odd, Agent: odd, For: odd}
		mustEqual(t, "List of "+odd, ids(mustList(t, s, q)), []string{r.ID})
	}
}

func testLargeValues(t *testing.T, sub Subject) {
	s := sub.Store
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	r := record("ask", "ask_1")
	r.Fixed, r.State = large, large
	e := event("ses_1", "asked")
	e.Data = large
	mustCommit(t, s, store.Change{Put: []store.Record{r}, Events: []store.Event{e}})
	mustEqual(t, "a record of two megabytes", mustRead(t, s, "ask", "ask_1"), committed(r))
	mustEqual(t, "an event of a megabyte", allEvents(t, s, "")[0].Data, large)
}

func testCopies(t *testing.T, sub Subject) {
	s := sub.Store
	r, e := record("ask", "ask_1"), event("ses_1", "asked")
	r.To = []string{"ann"}
	want := committed(record("ask", "ask_1"))
	want.To = []string{"ann"}
	mustCommit(t, s, store.Change{Put: []store.Record{r}, Events: []store.Event{e}})
	overwrite := func(r store.Record) { r.Fixed[0], r.State[0], r.To[0] = 'X', 'X', "eve" }
	overwrite(r)
	e.Data[0] = 'X'
	mustEqual(t, "after a write into the slices that were passed", mustRead(t, s, "ask", "ask_1"), want)
	overwrite(mustRead(t, s, "ask", "ask_1"))
	overwrite(mustList(t, s, store.Query{Kind: "ask"})[0])
	allEvents(t, s, "")[0].Data[0] = 'X'
	mustEqual(t, "after a write into the slices that were returned", mustRead(t, s, "ask", "ask_1"), want)
	mustEqual(t, "after a write into an event", allEvents(t, s, "")[0].Data, []byte(`{}`))
}

func testVersions(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	mustConflict(t, s, put(store.Record{Kind: "ask", ID: "ask_1", Version: 1})) // the record does not exist yet
	mustCommit(t, s, put(r))
	mustConflict(t, s, put(r)) // the record exists already
	for v := int64(1); v < 5; v++ {
		r.Version = v + 1
		mustConflict(t, s, put(r)) // a future version
		r.Version = v
		r.State = []byte{byte(v)}
		mustCommit(t, s, put(r))
		mustEqual(t, "the next version", mustRead(t, s, "ask", "ask_1"), committed(r))
		mustConflict(t, s, put(r)) // an old version: a second answer is too late (E10)
	}
}

func testFixed(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	mustCommit(t, s, put(r))
	next := committed(r)
	next.Fixed, next.State = nil, nil
	mustCommit(t, s, put(next))
	got := mustRead(t, s, "ask", "ask_1")
	mustEqual(t, "Fixed, which was nil", string(got.Fixed), "fixed ask_1")
	mustEqual(t, "State, which was nil", got.State, []byte(nil))
	got.Fixed = []byte("other")
	mustCommit(t, s, put(got))
	mustEqual(t, "the record with another Fixed", mustRead(t, s, "ask", "ask_1"), committed(got))
}

func testColumns(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	r.Stream, r.Owner, r.Key, r.Due = "ses_1", "agent-1", "k", noon
	mustCommit(t, s, put(r))
	for name, change := range map[string]func(*store.Record){
		"stream": func(r *store.Record) { r.Stream = "ses_2" }, "no stream": func(r *store.Record) { r.Stream = "" },
		"key": func(r *store.Record) { r.Key = "k2" }, "no key": func(r *store.Record) { r.Key = "" },
		"open": func(r *store.Record) { r.Open = !r.Open }, "unacked": func(r *store.Record) { r.Unacked = !r.Unacked },
		"owner": func(r *store.Record) { r.Owner += "x" },
		"agent": func(r *store.Record) { r.Agent += "x" }, "status": func(r *store.Record) { r.Status += "x" },
		"to": func(r *store.Record) { r.To = []string{"ann"} }, "to all": func(r *store.Record) { r.To = nil },
		"created":   func(r *store.Record) { r.Created = r.Created.Add(time.Hour) },
		"updated":   func(r *store.Record) { r.Updated = r.Updated.Add(time.Hour) },
		"due":       func(r *store.Record) { r.Due = r.Due.Add(time.Hour) },
		"never due": func(r *store.Record) { r.Due = time.Time{} },
		"all": func(r *store.Record) {
			r.Stream, r.Key, r.Open, r.Owner, r.Due = "ses_3", "k3", !r.Open, "agent-3", noon.Add(time.Minute)
		},
	} {
		r = mustRead(t, s, "ask", "ask_1")
		change(&r)
		mustCommit(t, s, put(r))
		mustEqual(t, name, mustRead(t, s, "ask", "ask_1"), committed(r))
		checkReads(t, s, committed(r))
	}
}

// checkReads fails the test unless ReadKey, List and Due return r whenever they should. The store must
// contain only r.
func checkReads(t *testing.T, s Store, r store.Record) {
	t.Helper()
	if r.Key != "" {
		got, err := s.ReadKey(t.Context(), r.Kind, r.Key)
		if err != nil {
			t.Fatalf("ReadKey: got %v, want the record", err)
		}
		mustEqual(t, "read by key", got, r)
	}
	for _, q := range []store.Query{{}, {Open: &r.Open}, {Stream: r.Stream}, {Open: &r.Open, Owner: r.Owner}} {
		q.Kind = r.Kind
		mustEqual(t, "listed", mustList(t, s, q), []store.Record{r})
	}
	closed := !r.Open
	mustEqual(t, "listed with the opposite of Open", ids(mustList(t, s, store.Query{Kind: r.Kind, Open: &closed})),
		[]string{})
	due, err := s.Due(t.Context(), noon.Add(1000*time.Hour), 0)
	if want := !r.Due.IsZero(); err != nil || len(due) == 1 != want {
		t.Fatalf("Due: got %v and %v, want the record: %v", ids(due), err, want)
	}
}

func testDelete(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	r.Key, r.Stream, r.Owner, r.Due = "k", "ses_1", "agent-1", noon
	mustConflict(t, s, store.Change{Delete: []store.Ref{ref(committed(r))}})
	mustConflict(t, s, store.Change{Delete: []store.Ref{ref(r)}}) // version 0 does not exist
	mustCommit(t, s, put(r))
	mustConflict(t, s, store.Change{Delete: []store.Ref{ref(r)}})
	mustConflict(t, s, store.Change{Delete: []store.Ref{ref(committed(committed(r)))}})
	mustCommit(t, s,
		store.Change{Delete: []store.Ref{ref(committed(r))}, Events: []store.Event{event("ses_1", "deleted")}})
	mustNotExist(t, s, "ask", "ask_1")
	if _, err := s.ReadKey(t.Context(), "ask", "k"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("ReadKey of a deleted record: got %v, want ErrNotFound", err)
	}
	for _, q := range []store.Query{{}, {Open: &r.Open}, {Stream: "ses_1"}, {Open: &r.Open, Owner: "agent-1"}} {
		q.Kind = "ask"
		mustEqual(t, "listed after deletion", ids(mustList(t, s, q)), []string{})
	}
	if due, err := s.Due(t.Context(), noon, 0); err != nil || len(due) != 0 {
		t.Fatalf("Due of a deleted record: got %v and %v, want none", ids(due), err)
	}
	mustConflict(t, s, put(committed(r)))
	mustCommit(t, s, put(r)) // a record that is created again begins with version 1
	checkReads(t, s, committed(r))
	mustEqual(t, "events after the deletion", len(allEvents(t, s, "ses_1")), 1)
}
