// Package storetest tests implementations of store.Store.
//
// Run tests a store against the contract of package store. Walk applies the same random operations to two
// stores and compares all results.
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

// A Store is the interface that the stores under test must implement.
type Store interface {
	store.Store
	store.Queue
	store.Index
}

// A Subject is a new, empty store under test. The function that opens the store must also close it, with
// t.Cleanup.
type Subject struct {
	Store Store

	// Reopen opens the data of the store again, as a new process would. If closed is true, the store is
	// closed before. Otherwise it is killed. The suite does not use the old store again. Reopen is nil if the
	// data ends with the process.
	Reopen func(t *testing.T, closed bool) Store

	// Stall blocks all commits until release is called, which the suite does soon. Stall is nil if the store
	// has no queue.
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
		{"every field is stored", testFields},
		{"odd strings are stored", testOddStrings},
		{"large values are stored", testLargeValues},
		{"slices are copied", testCopies},
		{"versions are compared", testVersions},
		{"a nil Fixed keeps the stored Fixed", testFixed},
		{"any column may change", testColumns},
		{"a key finds its record", testKeys},
		{"a taken key is a conflict", testTakenKeys},
		{"a key can move within a change", testMovedKeys},
		{"a deleted record cannot be read", testDelete},
		{"a change is kept as a whole or not at all", testAtomicity},
		{"invalid changes are rejected", testInvalidChanges},
		{"a list has what its query selects", testList},
		{"a list by name matches whole names", testListFor},
		{"a list has at most MaxList records", testLimits},
		{"a list examines at most Scan records", testScan},
		{"many records keep their order", testManyRecords},
		{"due records come in order", testDue},
		{"history is numbered", testNumbers},
		{"history is read in pages", testPages},
		{"events find their records", testSubjects},
		{"events can be pruned", testPrune},
		{"history has many streams", testManyStreams},
		{"events become visible in order", testVisibility},
		{"every field of an effect is stored", testEffectFields},
		{"odd strings of an effect are stored", testOddEffectStrings},
		{"effects are claimed in order of due", testClaimOrder},
		{"effects of some kinds are limited", testClaimLimit},
		{"a claim has at most MaxList effects", testClaimLimits},
		{"an effect is claimed by one node", testClaimByNodes},
		{"a lost claim is a conflict", testLostClaims},
		{"a completion without its claim is a conflict", testCompletions},
		{"a retry waits for its time", testRetries},
		{"dead letters are listed and revived", testDeadLetters},
		{"effects are listed", testEffectList},
		{"an unclaimed effect can be withdrawn", testWithdrawal},
		{"a held effect is not claimed until its key is released", testHeldEffects},
		{"effects are committed with their records", testEffectAtomicity},
		{"deleting a record deletes its effects", testDeletedEffects},
		{"invalid effects are rejected", testInvalidEffects},
		{"a search finds words and phrases", testFind},
		{"pages of a search are complete", testFindPages},
		{"the index has a position", testIndexPosition},
		{"a change removes documents from the index", testUnindex},
		{"one of two concurrent changes is kept", testTwoCommits},
		{"one of a hundred concurrent changes is kept", testHundredCommits},
		{"a conflict leaves nothing behind", testPartialConflict},
		{"a failing change does not affect others", testFailingChange},
		{"a failing change does not affect a claim", testClaimInFailingBatch},
		{"a full queue rejects without delay", testFullQueue},
		{"a cancelled commit keeps nothing", testCancellation},
		{"a waiting commit can be cancelled", testWaitingCancelled},
		{"a closed store returns ErrClosed", testClosedStore},
		{"Close keeps the changes in the queue", testCloseWhileBusy},
		{"changes survive a restart", testReopen},
		{"changes survive a kill", testKill},
		{"a restart frees every claim", testClaimsAfterClose},
		{"a kill frees every claim", testClaimsAfterKill},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// noon is the time of the records and events that record and event return.
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

func mustCommit(t *testing.T, s Store, c store.Change) (first int64) {
	t.Helper()
	first, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("Commit: got %v, want no error", err)
	}
	return first
}

func mustConflict(t *testing.T, s Store, c store.Change) {
	t.Helper()
	if first, err := s.Commit(t.Context(), c); !errors.Is(err, store.ErrConflict) || first != 0 {
		t.Fatalf("Commit: got %d and %v, want 0 and ErrConflict", first, err)
	}
}

func mustRead(t *testing.T, s Store, kind, id string) store.Record {
	t.Helper()
	r, err := s.Read(t.Context(), kind, id)
	if err != nil {
		t.Fatalf("Read %s %s: got %v, want the record", kind, id, err)
	}
	return r
}

func mustNotExist(t *testing.T, s Store, kind, id string) {
	t.Helper()
	if r, err := s.Read(t.Context(), kind, id); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Read %s %s: got %+v and %v, want ErrNotFound", kind, id, r, err)
	}
}

func mustList(t *testing.T, s Store, q store.Query) []store.Record {
	t.Helper()
	records, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List %+v: got %v, want no error", q, err)
	}
	return records
}

func mustEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Fatalf("%s: got + want -\n%s", what, diff)
	}
}

// difference returns cmp.Diff(want, got). Because cmp.Diff is slow, it is called only if the values differ.
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

// committed returns r as the store must return it after a commit, with the next version.
func committed(r store.Record) store.Record {
	r.Version++
	return r
}

// readHistory returns all events of a stream with a Seq larger than after. If stream is "", it returns the
// events of all streams. It reads in pages.
func readHistory(ctx context.Context, s Store, stream string, after int64) ([]store.Event, error) {
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

func allEvents(t *testing.T, s Store, stream string) []store.Event {
	t.Helper()
	all, err := readHistory(t.Context(), s, stream, 0)
	if err != nil {
		t.Fatalf("History %q: got %v, want no error", stream, err)
	}
	return all
}

// checkNumbers fails the test unless the events are numbered 1, 2, 3 … without a gap (F2). This must hold
// over all streams and within each stream.
func checkNumbers(t *testing.T, events []store.Event) {
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
