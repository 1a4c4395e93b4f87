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

func holds(t *testing.T, s Store, kind, key, id string) {
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

func keys(t *testing.T, sub Subject) {
	s := sub.Store
	holds(t, s, "ask", "k", "")
	a := keyed("ask", "ask_1", "k")
	keep(t, s, put(a, keyed("token", "tok_1", "k"))) // the same key of another kind
	holds(t, s, "ask", "k", "ask_1")
	holds(t, s, "token", "k", "tok_1")
	a = kept(a)
	a.Key = "other"
	keep(t, s, put(a))
	holds(t, s, "ask", "k", "")
	holds(t, s, "ask", "other", "ask_1")
	a = kept(a)
	a.Key = ""
	keep(t, s, put(a))
	holds(t, s, "ask", "other", "")
	holds(t, s, "ask", "", "") // the empty key finds no record
	keep(t, s, put(keyed("ask", "ask_2", "k"), keyed("ask", "ask_3", "other")))
	holds(t, s, "ask", "k", "ask_2")
	keep(t, s, put(record("ask", "ask_4"), record("ask", "ask_5"))) // several records without a key
}

// takenKeys checks that a key that is taken is a conflict, and still finds its record. So
// two requests with one key create one ask.
func takenKeys(t *testing.T, sub Subject) {
	s := sub.Store
	a, b := keyed("ask", "ask_1", "k"), record("ask", "ask_2")
	keep(t, s, put(a, b))
	conflict(t, s, put(keyed("ask", "ask_3", "k")))
	missing(t, s, "ask", "ask_3")
	b = kept(b)
	b.Key = "k"
	conflict(t, s, put(b))
	same(t, "the one that wanted the key", get(t, s, "ask", "ask_2").Version, int64(1))
	conflict(t, s, put(keyed("ask", "ask_4", "new"), keyed("ask", "ask_5", "new")))
	holds(t, s, "ask", "new", "")
	holds(t, s, "ask", "k", "ask_1")
	keep(t, s, put(kept(a))) // a record may keep its own key
	holds(t, s, "ask", "k", "ask_1")
}

func keysMove(t *testing.T, sub Subject) {
	s := sub.Store
	a, b := keyed("ask", "ask_1", "k"), record("ask", "ask_2")
	keep(t, s, put(a, b))
	a, b = kept(a), kept(b)

	a.Key, b.Key = "", "k"
	conflict(t, s, put(b, a)) // a still has the key when b is written
	holds(t, s, "ask", "k", "ask_1")
	keep(t, s, put(a, b))
	holds(t, s, "ask", "k", "ask_2")

	// Deletions come before the records of Put.
	c := keyed("ask", "ask_3", "k")
	keep(t, s, store.Change{Put: []store.Record{c}, Delete: []store.Ref{ref(kept(b))}})
	holds(t, s, "ask", "k", "ask_3")
	missing(t, s, "ask", "ask_2")

	// Two records cannot swap their keys in one change.
	d := keyed("ask", "ask_4", "l")
	keep(t, s, put(d))
	c, d = kept(c), kept(d)
	c.Key, d.Key = "l", "k"
	conflict(t, s, put(c, d))
	holds(t, s, "ask", "k", "ask_3")
	holds(t, s, "ask", "l", "ask_4")
}

// wholeOrNothing checks that a change of several records and events is committed as a
// whole or not at all (E8, F2).
func wholeOrNothing(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 50 {
		c.Put = append(c.Put, record("ask", id(n)))
		c.Events = append(c.Events, event("ses_1", "asked"), event("ses_2", "asked"))
	}
	keep(t, s, c)
	same(t, "all of them", len(list(t, s, store.Query{Kind: "ask"})), 50)
	gapless(t, history(t, s, ""))
	before := list(t, s, store.Query{Kind: "ask"})

	// One stale version at any position of the change keeps all of it out.
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
		conflict(t, s, next)
	}
	conflict(t, s, put(record("ask", "ask_new"), record("ask", id(7))))
	missing(t, s, "ask", "ask_new")
	same(t, "the records", list(t, s, store.Query{Kind: "ask"}), before)
	same(t, "the history", len(history(t, s, "")), 100)
	same(t, "the next number", keep(t, s, store.Change{Events: []store.Event{event("ses_9", "first")}}), int64(101))
	gapless(t, history(t, s, ""))
}

// impossible returns changes that every store rejects.
func impossible() map[string]store.Change {
	one := func(change func(*store.Record)) store.Change {
		r := record("ask", "ask_bad")
		change(&r)
		// The valid record before it must not be kept either.
		return store.Change{Put: []store.Record{record("ask", "ask_beside"), r}, Events: []store.Event{event("ses_bad", "asked")}}
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
	nameless := one(func(*store.Record) {})
	nameless.Delete = []store.Ref{{Kind: "ask", Version: 1}}
	bad["deleting nothing"] = nameless
	return bad
}

func refusals(t *testing.T, sub Subject) {
	s := sub.Store
	for name, c := range impossible() {
		_, err := s.Commit(t.Context(), c)
		if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrUnknown) || !strings.HasPrefix(err.Error(), "refused: ") {
			t.Errorf("%s: got %v, want a refusal that is no conflict", name, err)
		}
	}
	same(t, "kept of it", ids(list(t, s, store.Query{Kind: "ask"})), []string{})
	same(t, "history of it", len(history(t, s, "")), 0)
	keep(t, s, put(record("ask", "ask_bad"), record("ask", "ask_beside")))
}
