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

// contest commits n changes of one record at once, and returns the worker that won.
func contest(t *testing.T, s Store, n int, change func(worker int) store.Change) (winner int) {
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
		t.Fatalf("%d at once: got %d winners and %d losers, want 1 and %d", n, wins.Load(), losses.Load(), n-1)
	}
	return winner
}

// answer returns the change by which a worker answers r.
func answer(r store.Record, worker int) store.Change {
	r.Open, r.Status, r.State, r.Fixed = false, "answered", fmt.Append(nil, worker), nil
	return store.Change{Put: []store.Record{r}, Events: []store.Event{event("ses_1", fmt.Sprint(worker))}}
}

// twoCommitters checks that one of two concurrent answers is kept (E10).
func twoCommitters(t *testing.T, sub Subject) {
	s := sub.Store
	for n := range 20 {
		r := record("ask", id(n))
		keep(t, s, put(r))
		r = kept(r)
		winner := contest(t, s, 2, func(worker int) store.Change { return answer(r, worker) })
		same(t, "whose answer it is", string(get(t, s, "ask", r.ID).State), fmt.Sprint(winner))
	}
	same(t, "one event for each ask", len(history(t, s, "")), 20)

	// The same for two that create the record.
	contest(t, s, 2, func(int) store.Change { return put(record("ask", "ask_new")) })
	contest(t, s, 2, func(worker int) store.Change { return put(keyed("ask", fmt.Sprint("ask_k", worker), "once")) })
}

// hundredCommitters checks that one of a hundred concurrent answers is kept. The other 99
// return ErrConflict and leave nothing in the record or the history (E10, F6).
func hundredCommitters(t *testing.T, sub Subject) {
	s := sub.Store
	r := record("ask", "ask_1")
	keep(t, s, put(r))
	winner := contest(t, s, 100, func(worker int) store.Change { return answer(kept(r), worker) })
	same(t, "whose answer it is", string(get(t, s, "ask", "ask_1").State), fmt.Sprint(winner))
	events := history(t, s, "")
	if len(events) != 1 || events[0].Type != fmt.Sprint(winner) {
		t.Fatalf("history: got %+v, want the winner %d only", events, winner)
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
	same(t, "the version at the end", get(t, s, "ask", "ask_1").Version, int64(102))
	events = history(t, s, "")
	same(t, "events at the end", len(events), 101)
	gapless(t, events)
}

// contestedSecond checks that a change with a conflict in its second record leaves nothing
// of its first.
func contestedSecond(t *testing.T, sub Subject) {
	s := sub.Store
	session := record("session", "ses_1")
	keep(t, s, put(session))
	winner := contest(t, s, 50, func(worker int) store.Change {
		c := answer(kept(session), worker)
		c.Put = append([]store.Record{record("ask", id(worker))}, c.Put...)
		return c
	})
	same(t, "the ask that was kept", ids(list(t, s, store.Query{Kind: "ask"})), []string{id(winner)})
	events := history(t, s, "")
	same(t, "events", len(events), 1)
	gapless(t, events)
}

func poison(t *testing.T, sub Subject) {
	s := sub.Store
	taken := keyed("ask", "ask_taken", "taken")
	keep(t, s, put(taken))
	bad := []store.Change{
		{Put: []store.Record{record("ask", "ask_half"), keyed("ask", "ask_half2", "taken")}, Events: []store.Event{event("ses_bad", "x")}},
		{Put: []store.Record{record("ask", "ask_half"), taken}, Events: []store.Event{event("ses_bad", "x")}},
	}
	for _, c := range impossible() {
		bad = append(bad, c)
	}
	var release func()
	if sub.Stall != nil {
		release = sub.Stall(t) // so that all are in one batch
	}
	results := make(chan error)
	for n := range 60 {
		go func() {
			c := store.Change{Put: []store.Record{record("good", id(n))}, Events: []store.Event{event("ses_good", "said")}}
			_, err := s.Commit(t.Context(), c)
			results <- err
		}()
		go func() {
			_, err := s.Commit(t.Context(), bad[n%len(bad)])
			if err == nil {
				results <- errors.New("a poisoned change was kept")
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
	same(t, "good ones kept", len(list(t, s, store.Query{Kind: "good"})), 60)
	same(t, "bad ones kept", ids(list(t, s, store.Query{Kind: "ask"})), []string{"ask_taken"})
	events := history(t, s, "")
	same(t, "events", len(events), 60)
	gapless(t, events)
}

// An outcome is the result of a Commit that creates the record id.
type outcome struct {
	id  string
	err error
}

func start(ctx context.Context, s Store, id string, results chan<- outcome) {
	go func() {
		c := store.Change{Put: []store.Record{record("ask", id)}, Events: []store.Event{event("ses_1", id)}}
		_, err := s.Commit(ctx, c)
		results <- outcome{id, err}
	}()
}

// checkAcknowledged fails unless the store has exactly the acknowledged records, once each.
func checkAcknowledged(t *testing.T, s Store, outcomes []outcome, refusals ...error) {
	t.Helper()
	acknowledged := 0
	for _, o := range outcomes {
		if o.err == nil {
			acknowledged++
			get(t, s, "ask", o.id)
			continue
		}
		known := false
		for _, r := range refusals {
			known = known || errors.Is(o.err, r)
		}
		if !known {
			t.Errorf("Commit: got %v, want nil or one of %v", o.err, refusals)
		}
		missing(t, s, "ask", o.id)
	}
	events := history(t, s, "")
	same(t, "events", len(events), acknowledged)
	gapless(t, events)
}

// fullQueue checks that a full queue rejects a change at once, and that the changes in the
// queue are kept.
func fullQueue(t *testing.T, sub Subject) {
	if sub.Stall == nil {
		t.Skip("there is no queue")
	}
	s := sub.Store
	release := sub.Stall(t)
	results := make(chan outcome)
	var outcomes []outcome
	started := 0
	for full := false; !full; {
		if started == 20_000 {
			release()
			t.Fatalf("%d changes wait and the queue is not full", started)
		}
		start(t.Context(), s, id(started), results)
		started++
		select {
		case o := <-results:
			outcomes = append(outcomes, o)
			full = errors.Is(o.err, store.ErrFull)
			if !full {
				t.Errorf("told while nothing could be written: %v", o.err)
			}
		default:
			runtime.Gosched()
		}
	}
	release()
	for len(outcomes) < started {
		outcomes = append(outcomes, <-results)
	}
	checkAcknowledged(t, s, outcomes, store.ErrFull)
}

// cancelled checks that after an error of ctx nothing was kept, whenever ctx ended.
func cancelled(t *testing.T, sub Subject) {
	s := sub.Store
	results := make(chan outcome, 300)
	for n := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		start(ctx, s, id(n), results)
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
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Commit(gone, put(record("ask", "ask_gone")))
	checkAcknowledged(t, s, append(outcomes, outcome{"ask_gone", err}), context.Canceled)
	if err == nil {
		t.Error("Commit for a caller who had gone: got nil, want context.Canceled")
	}
	for name, err := range reads(gone, s) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s for a caller who had gone: got %v, want context.Canceled", name, err)
		}
	}
}

// givenUp checks that a waiting change is given up at once when its ctx ends.
func givenUp(t *testing.T, sub Subject) {
	if sub.Stall == nil {
		t.Skip("there is no queue")
	}
	s := sub.Store
	release := sub.Stall(t)
	results := make(chan outcome)
	var outcomes []outcome
	started := 0
	// The writer may have taken some changes before it was stalled, and their
	// Commit waits. The others return.
	for ; len(outcomes) == 0 && started < 1000; started++ {
		ctx, cancel := context.WithCancel(t.Context())
		start(ctx, s, id(started), results)
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
		t.Errorf("told while nothing could be written: got %v, want context.Canceled", outcomes[0].err)
	}
	checkAcknowledged(t, s, outcomes, context.Canceled)
}
