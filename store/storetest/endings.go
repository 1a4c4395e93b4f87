package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/askback/askback/store"
)

// callAll calls each method except Commit, Close and the methods of Index. It returns the errors, keyed by
// method name.
func callAll(ctx context.Context, s Store) map[string]error {
	errs := map[string]error{}
	_, errs["Read"] = s.Read(ctx, "ask", "ask_1")
	_, errs["ReadKey"] = s.ReadKey(ctx, "ask", "k")
	_, errs["List"] = s.List(ctx, store.Query{Kind: "ask"})
	_, errs["History"] = s.History(ctx, "", 0, 1)
	_, errs["CountOpen"] = s.CountOpen(ctx, "ask", "agent-1", 1)
	_, errs["Totals"] = s.Totals(ctx, "ask")
	_, errs["Recent"] = s.Recent(ctx, "ses_1", 0, 1)
	_, _, errs["Subjects"] = s.Subjects(ctx,
		store.SubjectQuery{Query: store.Query{Kind: "ask"}, Types: []string{"answered"}})
	_, _, errs["Head"] = s.Head(ctx, "ses_1")
	_, errs["Due"] = s.Due(ctx, noon, 1)
	_, errs["Beat"] = s.Beat(ctx, "node", noon)
	_, errs["Claim"] = s.Claim(ctx, "node", noon, 1)
	_, errs["Dead"] = s.Dead(ctx, store.Query{})
	_, errs["Effects"] = s.Effects(ctx, store.Query{})
	return errs
}

func testClosedStore(t *testing.T, sub Subject) {
	s := sub.Store
	mustCommit(t, s, put(record("ask", "ask_1")))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: got %v, want no error", err)
		}
	}
	errs := callAll(t.Context(), s)
	_, errs["Commit"] = s.Commit(t.Context(), put(record("ask", "ask_2")))
	for name, err := range errs {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after Close: got %v, want ErrClosed", name, err)
		}
	}
}

func testCloseWhileBusy(t *testing.T, sub Subject) {
	s := sub.Store
	const many = 200
	results := make(chan outcome, many)
	for n := range many {
		commitAsync(t.Context(), s, id(n), results)
		if n == many/2 {
			go func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: got %v, want no error", err)
				}
				results <- outcome{}
			}()
		}
	}
	var outcomes []outcome
	for range many + 1 {
		if o := <-results; o.id != "" {
			outcomes = append(outcomes, o)
		}
	}
	for _, o := range outcomes {
		if o.err != nil && !errors.Is(o.err, store.ErrClosed) {
			t.Errorf("Commit: got %v, want nil or ErrClosed", o.err)
		}
	}
	if sub.Reopen != nil {
		checkResults(t, sub.Reopen(t, true), outcomes, store.ErrClosed)
	}
}

func testReopen(t *testing.T, sub Subject) { checkRestart(t, sub, true) }
func testKill(t *testing.T, sub Subject)   { checkRestart(t, sub, false) }

// checkRestart checks that a restart keeps acknowledged changes, and that the numbers of events continue
// (F2). If closed is true, the store is closed before the restart, otherwise it is killed.
func checkRestart(t *testing.T, sub Subject, closed bool) {
	if sub.Reopen == nil {
		t.Skip("the data ends with the process")
	}
	s := sub.Store
	for n := range 20 {
		r := record("ask", id(n))
		r.Key, r.Stream, r.Owner, r.To, r.Due = id(n), "ses_1", "agent-1", []string{"ann"}, noon
		mustCommit(t, s,
			store.Change{Put: []store.Record{r}, Events: []store.Event{event(fmt.Sprint("ses_", n%3), "asked")}})
	}
	mustCommit(t, s, store.Change{Delete: []store.Ref{{Kind: "ask", ID: id(3), Version: 1}}})
	records, events := mustList(t, s, store.Query{Kind: "ask"}), allEvents(t, s, "")

	if closed {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: got %v, want no error", err)
		}
	}
	s = sub.Reopen(t, closed)
	mustEqual(t, "records after the restart", mustList(t, s, store.Query{Kind: "ask"}), records)
	mustEqual(t, "history after the restart", allEvents(t, s, ""), events)
	checkKey(t, s, "ask", id(4), id(4))
	mustConflict(t, s, put(record("ask", id(4))))
	mustConflict(t, s, put(keyed("ask", "ask_new", id(4))))
	r := mustRead(t, s, "ask", id(4))
	first := mustCommit(t, s, store.Change{
		Put: []store.Record{r}, Events: []store.Event{event("ses_1", "answered"), event("ses_new", "started")},
	})
	mustEqual(t, "the next number", first, int64(21))
	checkNumbers(t, allEvents(t, s, ""))
}
