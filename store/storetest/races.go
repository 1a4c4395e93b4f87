package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/askback/askback/store"
)

// commitConcurrently commits n changes concurrently. It fails the test unless one change is committed and all
// others are conflicts. It returns the number of the worker whose change was committed.
func commitConcurrently(t *testing.T, s Store, n int, change func(worker int) store.Change) (winner int) {
	t.Helper()
	var wins, losses atomic.Int32
	parallel(n, func(worker int) {
		switch _, err := s.Commit(t.Context(), change(worker)); {
		case err == nil:
			wins.Add(1)
			winner = worker
		case errors.Is(err, store.ErrConflict):
			losses.Add(1)
		default:
			t.Errorf("Commit: got %v, want nil or ErrConflict", err)
		}
	})
	if wins.Load() != 1 || int(losses.Load()) != n-1 {
		t.Fatalf("%d concurrent commits: got %d without an error and %d conflicts, want 1 and %d", n, wins.Load(),
			losses.Load(), n-1)
	}
	return winner
}

// answer returns the change with which a worker answers the ask r.
func answer(r store.Record, worker int) store.Change {
	r.Open, r.Status, r.State, r.Fixed = false, "answered", fmt.Append(nil, worker), nil
	return store.Change{Put: []store.Record{r}, Events: []store.Event{event("ses_1", fmt.Sprint(worker))}}
}

// testTwoCommits checks that one of two concurrent answers is kept. The same must hold for two concurrent
// changes that create the same record or use the same key (E10).
func testTwoCommits(t *testing.T, sub Subject) {
	s := sub.Store
	for n := range 20 {
		r := record("ask", id(n))
		mustCommit(t, s, put(r))
		r = committed(r)
		winner := commitConcurrently(t, s, 2, func(worker int) store.Change { return answer(r, worker) })
		mustEqual(t, "the answer that was kept", string(mustRead(t, s, "ask", r.ID).State), fmt.Sprint(winner))
	}
	mustEqual(t, "one event for each ask", len(allEvents(t, s, "")), 20)

	// Of two changes that create the same record, one is kept.
	commitConcurrently(t, s, 2, func(int) store.Change { return put(record("ask", "ask_new")) })
	commitConcurrently(t, s, 2,
		func(worker int) store.Change { return put(keyed("ask", fmt.Sprint("ask_k", worker), "once")) })
}

// testHundredCommits checks that one of a hundred concurrent answers is kept. The other 99 commits return
// ErrConflict and leave nothing in the record or the history (E10, F6). If each worker reads the record again
// after a conflict, all commits succeed.
func testHundredCommits(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	mustCommit(t, s, put(r))
	winner := commitConcurrently(t, s, 100, func(worker int) store.Change { return answer(committed(r), worker) })
	mustEqual(t, "the answer that was kept", string(mustRead(t, s, "ask", "ask_1").State), fmt.Sprint(winner))
	events := allEvents(t, s, "")
	if len(events) != 1 || events[0].Type != fmt.Sprint(winner) {
		t.Fatalf("history: got %+v, want only the event of worker %d", events, winner)
	}

	parallel(100, func(worker int) {
		for {
			r, err := s.Read(t.Context(), "ask", "ask_1")
			if err != nil {
				t.Errorf("Read: got %v, want no error", err)
				return
			}
			_, err = s.Commit(t.Context(), answer(r, worker))
			if err == nil {
				return
			}
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("Commit: got %v, want nil or ErrConflict", err)
				return
			}
		}
	})
	mustEqual(t, "the version after all", mustRead(t, s, "ask", "ask_1").Version, int64(102))
	events = allEvents(t, s, "")
	mustEqual(t, "number of events", len(events), 101)
	checkNumbers(t, events)
}

// testPartialConflict checks that a change with a conflict in its second record does not write its first
// record.
func testPartialConflict(t *testing.T, sub Subject) {
	s := sub.Store
	session := record("session", "ses_1")
	mustCommit(t, s, put(session))
	winner := commitConcurrently(t, s, 50, func(worker int) store.Change {
		c := answer(committed(session), worker)
		c.Put = append([]store.Record{record("ask", id(worker))}, c.Put...)
		return c
	})
	mustEqual(t, "the ask that was kept", ids(mustList(t, s, store.Query{Kind: "ask"})), []string{id(winner)})
	events := allEvents(t, s, "")
	mustEqual(t, "events", len(events), 1)
	checkNumbers(t, events)
}

func testFailingChange(t *testing.T, sub Subject) {
	s := sub.Store
	taken := keyed("ask", "ask_taken", "taken")
	mustCommit(t, s, put(taken))
	bad := []store.Change{
		{Put: []store.Record{record("ask", "ask_half"), keyed("ask", "ask_half2", "taken")}, Events: []store.Event{
			event("ses_bad", "x"),
		}},
		{Put: []store.Record{record("ask", "ask_half"), taken}, Events: []store.Event{event("ses_bad", "x")}},
	}
	for _, c := range invalidChanges() {
		bad = append(bad, c)
	}
	var release func()
	if sub.Stall != nil {
		release = sub.Stall(t) // while commits are blocked, all changes come into one batch
	}
	results := make(chan error)
	for n := range 60 {
		go func() {
			c := store.Change{
				Put: []store.Record{record("good", id(n))}, Events: []store.Event{event("ses_good", "asked")},
			}
			_, err := s.Commit(t.Context(), c)
			results <- err
		}()
		go func() {
			_, err := s.Commit(t.Context(), bad[n%len(bad)])
			if err == nil {
				results <- errors.New("an invalid change was kept")
				return
			}
			results <- nil
		}()
	}
	if release != nil {
		runtime.Gosched()
		release()
	}
	for range 120 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	mustEqual(t, "valid changes that were kept", len(mustList(t, s, store.Query{Kind: "good"})), 60)
	mustEqual(t, "other records", ids(mustList(t, s, store.Query{Kind: "ask"})), []string{"ask_taken"})
	events := allEvents(t, s, "")
	mustEqual(t, "events", len(events), 60)
	checkNumbers(t, events)
}

// An outcome is the result of a Commit that creates the record with this id.
type outcome struct {
	id  string
	err error
}

// commitAsync creates a record in a goroutine and sends the outcome.
func commitAsync(ctx context.Context, s Store, id string, results chan<- outcome) {
	go func() {
		c := store.Change{Put: []store.Record{record("ask", id)}, Events: []store.Event{event("ses_1", id)}}
		_, err := s.Commit(ctx, c)
		results <- outcome{id, err}
	}()
}

// checkResults fails the test unless the store has exactly the records whose Commit returned nil. Every other
// error must be an error in errs.
func checkResults(t *testing.T, s Store, outcomes []outcome, errs ...error) {
	t.Helper()
	acknowledged := 0
	for _, o := range outcomes {
		if o.err == nil {
			acknowledged++
			mustRead(t, s, "ask", o.id)
			continue
		}
		known := false
		for _, r := range errs {
			known = known || errors.Is(o.err, r)
		}
		if !known {
			t.Errorf("Commit: got %v, want nil or one of %v", o.err, errs)
		}
		mustNotExist(t, s, "ask", o.id)
	}
	events := allEvents(t, s, "")
	mustEqual(t, "events", len(events), acknowledged)
	checkNumbers(t, events)
}

// testFullQueue checks that a full queue rejects a change without delay, and that the changes in the queue
// are committed.
func testFullQueue(t *testing.T, sub Subject) {
	if sub.Stall == nil {
		t.Skip("the store has no queue")
	}
	s := sub.Store
	release := sub.Stall(t)
	results := make(chan outcome)
	var outcomes []outcome
	started := 0
	for full := false; !full; {
		if started == 20_000 {
			release()
			t.Fatalf("the queue is not full after %d changes", started)
		}
		commitAsync(t.Context(), s, id(started), results)
		started++
		select {
		case o := <-results:
			outcomes = append(outcomes, o)
			full = errors.Is(o.err, store.ErrFull)
			if !full {
				t.Errorf("Commit while the store is stalled: got %v, want it to wait or ErrFull", o.err)
			}
		default:
			runtime.Gosched()
		}
	}
	release()
	for len(outcomes) < started {
		outcomes = append(outcomes, <-results)
	}
	checkResults(t, s, outcomes, store.ErrFull)
}

// testCancellation checks that nothing of a change is kept if Commit returns the error of ctx, whenever ctx
// ends. If ctx has ended, the other methods must return its error.
func testCancellation(t *testing.T, sub Subject) {
	s := sub.Store
	results := make(chan outcome, 300)
	for n := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		commitAsync(ctx, s, id(n), results)
		go func() {
			for range n % 7 {
				runtime.Gosched()
			}
			cancel()
		}()
	}
	var outcomes []outcome
	for range 300 {
		outcomes = append(outcomes, <-results)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Commit(ended, put(record("ask", "ask_late")))
	checkResults(t, s, append(outcomes, outcome{"ask_late", err}), context.Canceled)
	if err == nil {
		t.Error("Commit with a cancelled context: got nil, want context.Canceled")
	}
	for name, err := range callAll(ended, s) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: got %v, want context.Canceled", name, err)
		}
	}
}

// testWaitingCancelled checks that Commit returns immediately if its ctx ends while the change waits in the
// queue.
func testWaitingCancelled(t *testing.T, sub Subject) {
	if sub.Stall == nil {
		t.Skip("the store has no queue")
	}
	s := sub.Store
	release := sub.Stall(t)
	results := make(chan outcome)
	var outcomes []outcome
	started := 0
	// The writer may have taken some changes before it was blocked. The calls of Commit for these changes
	// wait, and the other calls return.
	for ; len(outcomes) == 0 && started < 1000; started++ {
		ctx, cancel := context.WithCancel(t.Context())
		commitAsync(ctx, s, id(started), results)
		runtime.Gosched()
		cancel()
		select {
		case o := <-results:
			outcomes = append(outcomes, o)
		default:
		}
	}
	release()
	for len(outcomes) < started {
		outcomes = append(outcomes, <-results)
	}
	if !errors.Is(outcomes[0].err, context.Canceled) {
		t.Errorf("Commit while the store is stalled: got %v, want context.Canceled", outcomes[0].err)
	}
	checkResults(t, s, outcomes, context.Canceled)
}
