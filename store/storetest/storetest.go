// Package storetest is what every store must do.
//
// Run holds one store to its contract; Walk does the same random things to two
// stores and compares everything they say.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/store"
)

// A Store is what the suite needs of its subject.
type Store interface {
	store.Store
	store.Queue
}

// A Subject is a fresh, empty store and what can be done to it from outside.
// Whoever opens it sees to its end with t.Cleanup.
type Subject struct {
	Store Store

	// Reopen opens what the store has kept so far as a new process would:
	// after Close when closed is true, otherwise as a killed process leaves
	// it. The suite uses the old store no more. Nil if nothing outlives the
	// process.
	Reopen func(t *testing.T, closed bool) Store

	// Stall lets nothing be committed until release is called. The suite calls
	// release soon. Nil if there is no queue in which a change could wait.
	Stall func(t *testing.T) (release func())
}

// Run holds a store to the contract of package store. open is called once for
// each subtest.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"every field comes back", everyField},
		{"odd strings come back", oddStrings},
		{"large bytes come back", largeBytes},
		{"what is handed over is copied", copies},
		{"a version is compared", versions},
		{"fixed stays unless given", fixedStays},
		{"any column may change", columnsChange},
		{"a key finds its record", keys},
		{"a key is taken once", takenKeys},
		{"keys move within a change", keysMove},
		{"a deleted record is gone", deleting},
		{"a change is kept whole or not at all", wholeOrNothing},
		{"an impossible change is refused", refusals},
		{"a list has what was asked for", listing},
		{"a list is for a name", addressed},
		{"a list is bounded", bounds},
		{"many records keep their order", manyRecords},
		{"due records come in order", dueOrder},
		{"history is numbered", numbering},
		{"history is read in pages", paging},
		{"history is cleaned away", cleaning},
		{"history has many streams", manyStreams},
		{"numbers follow the commits", tailing},
		{"one of two wins", twoCommitters},
		{"one of a hundred wins", hundredCommitters},
		{"a loser leaves nothing behind", contestedSecond},
		{"a poisoned change harms nobody else", poison},
		{"a full queue is refused at once", fullQueue},
		{"a cancelled change is kept or not", cancelled},
		{"a waiting change can be given up", givenUp},
		{"a closed store refuses", closedRefuses},
		{"closing keeps what was taken", closingWhileBusy},
		{"what was kept is there after a restart", reopening},
		{"what was kept is there after a kill", killing},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// noon is when things happen in this suite.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func record(kind, id string) store.Record {
	return store.Record{
		Kind: kind, ID: id, Created: noon, Updated: noon, Status: "pending", Open: true,
		Fixed: []byte("fixed " + id), State: []byte("state " + id),
	}
}

func event(stream, what string) store.Event {
	return store.Event{Stream: stream, Subject: "ask_1", Type: what, At: noon, Data: []byte(`{}`)}
}

func put(records ...store.Record) store.Change { return store.Change{Put: records} }

func ref(r store.Record) store.Ref { return store.Ref{Kind: r.Kind, ID: r.ID, Version: r.Version} }

func keep(t *testing.T, s Store, c store.Change) (first int64) {
	t.Helper()
	first, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("Commit: got %v, want no error", err)
	}
	return first
}

func conflict(t *testing.T, s Store, c store.Change) {
	t.Helper()
	if first, err := s.Commit(t.Context(), c); !errors.Is(err, store.ErrConflict) || first != 0 {
		t.Fatalf("Commit: got %d and %v, want 0 and ErrConflict", first, err)
	}
}

func get(t *testing.T, s Store, kind, id string) store.Record {
	t.Helper()
	r, err := s.Read(t.Context(), kind, id)
	if err != nil {
		t.Fatalf("Read %s %s: got %v, want the record", kind, id, err)
	}
	return r
}

func missing(t *testing.T, s Store, kind, id string) {
	t.Helper()
	if r, err := s.Read(t.Context(), kind, id); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Read %s %s: got %+v and %v, want ErrNotFound", kind, id, r, err)
	}
}

func list(t *testing.T, s Store, q store.Query) []store.Record {
	t.Helper()
	records, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List %+v: got %v, want no error", q, err)
	}
	return records
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Fatalf("%s: got + want -\n%s", what, diff)
	}
}

// difference is cmp.Diff, which is slow, for what is not plainly equal.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func ids(records []store.Record) []string {
	names := []string{}
	for _, r := range records {
		names = append(names, r.ID)
	}
	return names
}

// kept is how a record reads after it was put as r.
func kept(r store.Record) store.Record {
	r.Version++
	return r
}

// everything pages through the whole history, or that of one stream.
func everything(ctx context.Context, s Store, stream string, after int64) ([]store.Event, error) {
	var all []store.Event
	for {
		page, err := s.History(ctx, stream, after, 0)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		after = page[len(page)-1].Seq
	}
}

func history(t *testing.T, s Store, stream string) []store.Event {
	t.Helper()
	all, err := everything(t.Context(), s, stream, 0)
	if err != nil {
		t.Fatalf("History %q: got %v, want no error", stream, err)
	}
	return all
}

// gapless fails unless the events are all there are and numbered 1, 2, 3 …
// over all and within each stream. (F2)
func gapless(t *testing.T, events []store.Event) {
	t.Helper()
	heads := map[string]int64{}
	for i, e := range events {
		heads[e.Stream]++
		if e.Seq != int64(i)+1 || e.StreamSeq != heads[e.Stream] {
			t.Fatalf("event %d of %q: got Seq %d and StreamSeq %d, want %d and %d",
				i, e.Stream, e.Seq, e.StreamSeq, i+1, heads[e.Stream])
		}
	}
}

func id(n int) string { return fmt.Sprintf("ask_%05d", n) }
