// Package storetest tests implementations of store.Store.
//
// Run tests one store against the contract of package store. Walk applies the same
// random operations to two stores and compares all results.
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

// A Store is a store under test.
type Store interface {
	store.Store
	store.Queue
}

// A Subject is a new, empty store under test. The function that opens it closes it with
// t.Cleanup.
type Subject struct {
	Store Store

	// Reopen opens the data of the store as a new process would: after Close if
	// closed is true, otherwise as a killed process leaves it. The suite does
	// not use the old store again. It is nil if the data ends with the process.
	Reopen func(t *testing.T, closed bool) Store

	// Stall blocks all commits until release is called, which the suite does
	// soon. It is nil if the store has no queue.
	Stall func(t *testing.T) (release func())
}

// Run tests a store against the contract of package store. It calls open once for each
// subtest.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"every field is stored", everyField},
		{"odd strings are stored", oddStrings},
		{"large values are stored", largeBytes},
		{"slices are copied", copies},
		{"versions are compared", versions},
		{"nil Fixed leaves the stored one", fixedStays},
		{"any column may change", columnsChange},
		{"a key finds its record", keys},
		{"a taken key is a conflict", takenKeys},
		{"keys move within a change", keysMove},
		{"a deleted record is gone", deleting},
		{"a change is kept as a whole or not at all", wholeOrNothing},
		{"invalid changes are rejected", refusals},
		{"a list has what its query selects", listing},
		{"a list by name matches whole names", addressed},
		{"a list is bounded", bounds},
		{"many records keep their order", manyRecords},
		{"due records come in order", dueOrder},
		{"history is numbered", numbering},
		{"history is read in pages", paging},
		{"history can be deleted", cleaning},
		{"history has many streams", manyStreams},
		{"numbers become visible in order", tailing},
		{"every field of an effect is stored", everyEffectField},
		{"odd strings of an effect are stored", oddEffectStrings},
		{"effects are claimed in order of due", claimOrder},
		{"a claim is bounded", claimBounds},
		{"an effect is claimed by one node", claimsByTwoNodes},
		{"a lost claim is a conflict", lostClaims},
		{"a completion without its claim is a conflict", completions},
		{"a retry is put off", retries},
		{"dead letters are listed and revived", deadLettersRevive},
		{"an unclaimed effect can be withdrawn", withdrawing},
		{"effects are committed with their records", effectsWithRecords},
		{"deleting a record deletes its effects", effectsOfDeleted},
		{"invalid effects are rejected", effectRefusals},
		{"one of two concurrent changes is kept", twoCommitters},
		{"one of a hundred concurrent changes is kept", hundredCommitters},
		{"a conflict leaves nothing behind", contestedSecond},
		{"a failing change does not affect others", poison},
		{"a full queue rejects at once", fullQueue},
		{"a cancelled change is kept or not", cancelled},
		{"a waiting change can be given up", givenUp},
		{"a closed store returns ErrClosed", closedRefuses},
		{"Close keeps the changes in the queue", closingWhileBusy},
		{"changes survive a restart", reopening},
		{"changes survive a kill", killing},
		{"a restart frees every claim", claimsAfterClose},
		{"a kill frees every claim", claimsAfterKill},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// noon is the base of the times in this suite.
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

// difference returns cmp.Diff of values that are not equal, because cmp.Diff is slow.
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

// kept returns the record that the store must return after r was committed.
func kept(r store.Record) store.Record {
	r.Version++
	return r
}

// everything returns all events of one stream or, if stream is "", of all. It reads them
// in pages.
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

// gapless fails unless the events are numbered 1, 2, 3 … without a gap, over all and
// within each stream (F2).
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
