package storetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

func everyField(t *testing.T, sub Subject) {
	s := sub.Store
	full := store.Record{
		Kind: "ask", ID: "ask_1", Stream: "ses_1", Key: "once", Open: true, Owner: "agent-7", Agent: "Claude", Status: "pending",
		To: []string{"ann", "bob"}, Created: noon, Updated: noon.Add(time.Millisecond), Due: noon.Add(time.Hour),
		Fixed: []byte(`{"q":"?"}`), State: []byte{0, 1, 0xff},
	}
	bare := store.Record{Kind: "ask", ID: "ask_2", Fixed: []byte("f")}
	keep(t, s, put(full, bare))
	same(t, "a full record", get(t, s, "ask", "ask_1"), kept(full))
	same(t, "a bare record", get(t, s, "ask", "ask_2"), kept(bare))

	// The store returns times in UTC with milliseconds.
	zone := time.FixedZone("", 5*3600)
	when := time.Date(1969, 7, 20, 20, 17, 40, 123_456_789, time.UTC)
	odd := store.Record{
		Kind: "ask", ID: "ask_3", Created: when.In(zone), Updated: when.In(zone), Due: when.In(zone),
		Fixed: []byte{}, State: []byte{}, To: []string{},
	}
	keep(t, s, put(odd))
	want := store.Record{Kind: "ask", ID: "ask_3", Version: 1}
	want.Created = time.Date(1969, 7, 20, 20, 17, 40, 123_000_000, time.UTC)
	want.Updated, want.Due = want.Created, want.Created
	same(t, "odd times and empty slices", get(t, s, "ask", "ask_3"), want)
	due, err := s.Due(t.Context(), want.Due, 1)
	if err != nil || len(due) != 1 || due[0].ID != "ask_3" {
		t.Fatalf("Due at its millisecond: got %v and %v, want ask_3", ids(due), err)
	}

	said := store.Event{Stream: "ses_1", Subject: "ask_1", Type: "asked", At: when.In(zone), Data: []byte(`{"a":1}`)}
	bareEvent := store.Event{Type: "started"}
	first := keep(t, s, store.Change{Events: []store.Event{said, bareEvent}})
	said.Seq, said.StreamSeq, said.At = 1, 1, want.Created
	bareEvent.Seq, bareEvent.StreamSeq = 2, 1
	same(t, "the first Seq", first, int64(1))
	same(t, "events", history(t, s, ""), []store.Event{said, bareEvent})

	same(t, "the Seq of no events", keep(t, s, put(record("ask", "ask_4"))), int64(0))
	same(t, "the Seq of nothing at all", keep(t, s, store.Change{}), int64(0))
}

var oddNames = []string{
	"two\nlines", "\n", `back\slash`, `\n`, `\`, `"quoted"`, `'; drop table records; --`, ",", `","`, "a,b", "%", "_",
	"日本語", "مرحبا", "🙂", "é", "e\u0301", " spaces ", "\t", "\u2028", "\x01", strings.Repeat("long", 1000), "",
}

func oddStrings(t *testing.T, sub Subject) {
	s := sub.Store
	for i, odd := range oddNames {
		r := record("kind"+odd, "ask"+odd)
		r.Stream, r.Key, r.Owner, r.Agent, r.Status = odd, odd, odd, odd, odd
		r.To = []string{odd, "x" + odd, odd + odd}
		keep(t, s, store.Change{Put: []store.Record{r}, Events: []store.Event{{Stream: "s" + odd, Subject: odd, Type: "t" + odd}}})
		same(t, "a record named "+odd, get(t, s, r.Kind, r.ID), kept(r))
		e := history(t, s, "s"+odd)
		if len(e) != 1 || e[0].Subject != odd || e[0].Type != "t"+odd || e[0].Seq != int64(i)+1 {
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
		same(t, "List of "+odd, ids(list(t, s, q)), []string{r.ID})
	}
}

func largeBytes(t *testing.T, sub Subject) {
	s := sub.Store
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	r := record("ask", "ask_1")
	r.Fixed, r.State = large, large
	e := event("ses_1", "asked")
	e.Data = large
	keep(t, s, store.Change{Put: []store.Record{r}, Events: []store.Event{e}})
	same(t, "a megabyte twice", get(t, s, "ask", "ask_1"), kept(r))
	same(t, "an event of a megabyte", history(t, s, "")[0].Data, large)
}

func copies(t *testing.T, sub Subject) {
	s := sub.Store
	r, e := record("ask", "ask_1"), event("ses_1", "asked")
	r.To = []string{"ann"}
	want := kept(record("ask", "ask_1"))
	want.To = []string{"ann"}
	keep(t, s, store.Change{Put: []store.Record{r}, Events: []store.Event{e}})
	scribble := func(r store.Record) { r.Fixed[0], r.State[0], r.To[0] = 'X', 'X', "eve" }
	scribble(r)
	e.Data[0] = 'X'
	same(t, "after writing into what was given", get(t, s, "ask", "ask_1"), want)
	scribble(get(t, s, "ask", "ask_1"))
	scribble(list(t, s, store.Query{Kind: "ask"})[0])
	history(t, s, "")[0].Data[0] = 'X'
	same(t, "after writing into what was returned", get(t, s, "ask", "ask_1"), want)
	same(t, "after writing into an event", history(t, s, "")[0].Data, []byte(`{}`))
}

func versions(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	conflict(t, s, put(store.Record{Kind: "ask", ID: "ask_1", Version: 1})) // the record does not exist yet
	keep(t, s, put(r))
	conflict(t, s, put(r)) // the record exists already
	for v := int64(1); v < 5; v++ {
		r.Version = v + 1
		conflict(t, s, put(r)) // a version that is still to come
		r.Version = v
		r.State = []byte{byte(v)}
		keep(t, s, put(r))
		same(t, "the next version", get(t, s, "ask", "ask_1"), kept(r))
		conflict(t, s, put(r)) // an old version: a second answer is too late (E10)
	}
}

func fixedStays(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	keep(t, s, put(r))
	next := kept(r)
	next.Fixed, next.State = nil, nil
	keep(t, s, put(next))
	got := get(t, s, "ask", "ask_1")
	same(t, "fixed, not given", string(got.Fixed), "fixed ask_1")
	same(t, "state, given as none", got.State, []byte(nil))
	got.Fixed = []byte("other")
	keep(t, s, put(got))
	same(t, "fixed, given", get(t, s, "ask", "ask_1"), kept(got))
}

func columnsChange(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	r.Stream, r.Owner, r.Key, r.Due = "ses_1", "agent-1", "k", noon
	keep(t, s, put(r))
	for name, change := range map[string]func(*store.Record){
		"stream": func(r *store.Record) { r.Stream = "ses_2" }, "no stream": func(r *store.Record) { r.Stream = "" },
		"key": func(r *store.Record) { r.Key = "k2" }, "no key": func(r *store.Record) { r.Key = "" },
		"open": func(r *store.Record) { r.Open = !r.Open }, "unacked": func(r *store.Record) { r.Unacked = !r.Unacked },
		"owner": func(r *store.Record) { r.Owner += "x" },
		"agent": func(r *store.Record) { r.Agent += "x" }, "status": func(r *store.Record) { r.Status += "x" },
		"to": func(r *store.Record) { r.To = []string{"ann"} }, "to all": func(r *store.Record) { r.To = nil },
		"created": func(r *store.Record) { r.Created = r.Created.Add(time.Hour) },
		"updated": func(r *store.Record) { r.Updated = r.Updated.Add(time.Hour) },
		"due":     func(r *store.Record) { r.Due = r.Due.Add(time.Hour) }, "never due": func(r *store.Record) { r.Due = time.Time{} },
		"all": func(r *store.Record) {
			r.Stream, r.Key, r.Open, r.Owner, r.Due = "ses_3", "k3", !r.Open, "agent-3", noon.Add(time.Minute)
		},
	} {
		r = get(t, s, "ask", "ask_1")
		change(&r)
		keep(t, s, put(r))
		same(t, name, get(t, s, "ask", "ask_1"), kept(r))
		found(t, s, kept(r))
	}
}

// found fails unless every read that must return the record returns it, once.
func found(t *testing.T, s Store, r store.Record) {
	t.Helper()
	if r.Key != "" {
		got, err := s.ReadKey(t.Context(), r.Kind, r.Key)
		if err != nil {
			t.Fatalf("ReadKey: got %v, want the record", err)
		}
		same(t, "by key", got, r)
	}
	for _, q := range []store.Query{{}, {Open: &r.Open}, {Stream: r.Stream}, {Open: &r.Open, Owner: r.Owner}} {
		q.Kind = r.Kind
		same(t, "listed", list(t, s, q), []store.Record{r})
	}
	closed := !r.Open
	same(t, "listed as what it is not", ids(list(t, s, store.Query{Kind: r.Kind, Open: &closed})), []string{})
	due, err := s.Due(t.Context(), noon.Add(1000*time.Hour), 0)
	if want := !r.Due.IsZero(); err != nil || len(due) == 1 != want {
		t.Fatalf("Due: got %v and %v, want it there: %v", ids(due), err, want)
	}
}

func deleting(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	r.Key, r.Stream, r.Owner, r.Due = "k", "ses_1", "agent-1", noon
	conflict(t, s, store.Change{Delete: []store.Ref{ref(kept(r))}})
	conflict(t, s, store.Change{Delete: []store.Ref{ref(r)}}) // version 0 does not exist
	keep(t, s, put(r))
	conflict(t, s, store.Change{Delete: []store.Ref{ref(r)}})
	conflict(t, s, store.Change{Delete: []store.Ref{ref(kept(kept(r)))}})
	keep(t, s, store.Change{Delete: []store.Ref{ref(kept(r))}, Events: []store.Event{event("ses_1", "deleted")}})
	missing(t, s, "ask", "ask_1")
	if _, err := s.ReadKey(t.Context(), "ask", "k"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("ReadKey of a deleted record: got %v, want ErrNotFound", err)
	}
	for _, q := range []store.Query{{}, {Open: &r.Open}, {Stream: "ses_1"}, {Open: &r.Open, Owner: "agent-1"}} {
		q.Kind = "ask"
		same(t, "listed after deletion", ids(list(t, s, q)), []string{})
	}
	if due, err := s.Due(t.Context(), noon, 0); err != nil || len(due) != 0 {
		t.Fatalf("Due of a deleted record: got %v and %v, want none", ids(due), err)
	}
	conflict(t, s, put(kept(r)))
	keep(t, s, put(r)) // a record that is created again begins with version 1
	found(t, s, kept(r))
	same(t, "what happened stays", len(history(t, s, "ses_1")), 1)
}
