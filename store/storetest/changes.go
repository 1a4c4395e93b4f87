package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback/store"
)

func keyed(kind, id, key string) store.Record {
	r := record(kind, id)
	r.Key = key
	return r
}

func checkKey(t *testing.T, s Store, kind, key, id string) {
	t.Helper()
	r, err := s.ReadKey(t.Context(), kind, key)
	if id == "" {
		if !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("ReadKey %s %s: got %q and %v, want ErrNotFound", kind, key, r.ID, err)
		}
		return
	}
	if err != nil || r.ID != id || r.Key != key {
		t.Fatalf("ReadKey %s %s: got %q with key %q and %v, want %q", kind, key, r.ID, r.Key, err, id)
	}
}

func testKeys(t *testing.T, sub Subject) {
	s := sub.Store
	checkKey(t, s, "ask", "k", "")
	a := keyed("ask", "ask_1", "k")
	mustCommit(t, s, put(a, keyed("token", "tok_1", "k"))) // a record of another kind may have the same key
	checkKey(t, s, "ask", "k", "ask_1")
	checkKey(t, s, "token", "k", "tok_1")
	a = committed(a)
	a.Key = "other"
	mustCommit(t, s, put(a))
	checkKey(t, s, "ask", "k", "")
	checkKey(t, s, "ask", "other", "ask_1")
	a = committed(a)
	a.Key = ""
	mustCommit(t, s, put(a))
	checkKey(t, s, "ask", "other", "")
	checkKey(t, s, "ask", "", "") // the empty key finds no record
	mustCommit(t, s, put(keyed("ask", "ask_2", "k"), keyed("ask", "ask_3", "other")))
	checkKey(t, s, "ask", "k", "ask_2")
	mustCommit(t, s, put(record("ask", "ask_4"), record("ask", "ask_5"))) // several records without a key
}

// testTakenKeys checks that a change with the key of another record is a conflict. The key must still find
// the other record. So two requests with the same key create one ask.
func testTakenKeys(t *testing.T, sub Subject) {
	s := sub.Store
	a, b := keyed("ask", "ask_1", "k"), record("ask", "ask_2")
	mustCommit(t, s, put(a, b))
	mustConflict(t, s, put(keyed("ask", "ask_3", "k")))
	mustNotExist(t, s, "ask", "ask_3")
	b = committed(b)
	b.Key = "k"
	mustConflict(t, s, put(b))
	mustEqual(t, "the version of the rejected record", mustRead(t, s, "ask", "ask_2").Version, int64(1))
	mustConflict(t, s, put(keyed("ask", "ask_4", "new"), keyed("ask", "ask_5", "new")))
	checkKey(t, s, "ask", "new", "")
	checkKey(t, s, "ask", "k", "ask_1")
	mustCommit(t, s, put(committed(a))) // a record may keep its own key
	checkKey(t, s, "ask", "k", "ask_1")
}

func testMovedKeys(t *testing.T, sub Subject) {
	s := sub.Store
	a, b := keyed("ask", "ask_1", "k"), record("ask", "ask_2")
	mustCommit(t, s, put(a, b))
	a, b = committed(a), committed(b)

	a.Key, b.Key = "", "k"
	mustConflict(t, s, put(b, a)) // the record a still has the key when the record b is written
	checkKey(t, s, "ask", "k", "ask_1")
	mustCommit(t, s, put(a, b))
	checkKey(t, s, "ask", "k", "ask_2")

	// Deletions come before the records of Put.
	c := keyed("ask", "ask_3", "k")
	mustCommit(t, s, store.Change{Put: []store.Record{c}, Delete: []store.Ref{ref(committed(b))}})
	checkKey(t, s, "ask", "k", "ask_3")
	mustNotExist(t, s, "ask", "ask_2")

	// Two records cannot swap their keys in one change.
	d := keyed("ask", "ask_4", "l")
	mustCommit(t, s, put(d))
	c, d = committed(c), committed(d)
	c.Key, d.Key = "l", "k"
	mustConflict(t, s, put(c, d))
	checkKey(t, s, "ask", "k", "ask_3")
	checkKey(t, s, "ask", "l", "ask_4")
}

// testAtomicity checks that a change of several records and events is committed as a
// whole or not at all (E8, F2).
func testAtomicity(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 50 {
		c.Put = append(c.Put, record("ask", id(n)))
		c.Events = append(c.Events, event("ses_1", "asked"), event("ses_2", "asked"))
	}
	mustCommit(t, s, c)
	mustEqual(t, "number of records", len(mustList(t, s, store.Query{Kind: "ask"})), 50)
	checkNumbers(t, allEvents(t, s, ""))
	before := mustList(t, s, store.Query{Kind: "ask"})

	// One stale version, at any position, rejects the whole change.
	for stale := range 8 {
		next := store.Change{Events: []store.Event{event("ses_1", "answered"), event("ses_9", "never")}}
		for n, r := range before[:8] {
			r.State, r.Key = []byte("next"), id(n)
			if n == stale {
				r.Version++
			}
			if n%3 == 2 {
				next.Delete = append(next.Delete, ref(r))
			} else {
				next.Put = append(next.Put, r)
			}
		}
		mustConflict(t, s, next)
	}
	mustConflict(t, s, put(record("ask", "ask_new"), record("ask", id(7))))
	mustNotExist(t, s, "ask", "ask_new")
	mustEqual(t, "the records", mustList(t, s, store.Query{Kind: "ask"}), before)
	mustEqual(t, "the history", len(allEvents(t, s, "")), 100)
	mustEqual(t, "the next number", mustCommit(t, s, store.Change{Events: []store.Event{event("ses_9", "first")}}),
		int64(101))
	checkNumbers(t, allEvents(t, s, ""))
}

// invalidChanges returns changes that every store must reject, keyed by the reason.
func invalidChanges() map[string]store.Change {
	one := func(change func(*store.Record)) store.Change {
		r := record("ask", "ask_bad")
		change(&r)
		// The valid record before r must not be kept.
		return store.Change{
			Put: []store.Record{record("ask", "ask_beside"), r}, Events: []store.Event{event("ses_bad", "asked")},
		}
	}
	huge := make([]byte, 16<<20)
	bad := map[string]store.Change{
		"a new record without fixed": one(func(r *store.Record) { r.Fixed = nil }),
		"no kind":                    one(func(r *store.Record) { r.Kind = "" }),
		"no id":                      one(func(r *store.Record) { r.ID = "" }),
		"a negative version":         one(func(r *store.Record) { r.Version = -1 }),
		"a record twice":             one(func(r *store.Record) { r.ID = "ask_beside" }),
		"NUL in a name":              one(func(r *store.Record) { r.To = []string{"a\x00b"} }),
		"a status that is no UTF-8":  one(func(r *store.Record) { r.Status = "\xff" }),
		"too many bytes":             one(func(r *store.Record) { r.State = huge }),
	}
	twice := one(func(*store.Record) {})
	twice.Delete = []store.Ref{{Kind: "ask", ID: "ask_bad", Version: 1}}
	bad["put and deleted"] = twice
	untyped := one(func(*store.Record) {})
	untyped.Events[0].Type = ""
	bad["an event without a type"] = untyped
	aboutNothing := one(func(*store.Record) {})
	aboutNothing.Events[0].Subject = ""
	bad["an event without a subject"] = aboutNothing
	nameless := one(func(*store.Record) {})
	nameless.Delete = []store.Ref{{Kind: "ask", Version: 1}}
	bad["deleting nothing"] = nameless
	return bad
}

func testInvalidChanges(t *testing.T, sub Subject) {
	s := sub.Store
	for name, c := range invalidChanges() {
		_, err := s.Commit(t.Context(), c)
		if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrUnknown) ||
			!strings.HasPrefix(err.Error(), "invalid change: ") {
			t.Errorf("%s: got %v, want an error other than ErrConflict and ErrUnknown", name, err)
		}
	}
	mustEqual(t, "records that were kept", ids(mustList(t, s, store.Query{Kind: "ask"})), []string{})
	mustEqual(t, "events that were kept", len(allEvents(t, s, "")), 0)
	mustCommit(t, s, put(record("ask", "ask_bad"), record("ask", "ask_beside")))
}
