package storetest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

// testClaimLimit checks that a limit for some kinds does not delay effects of other kinds, whichever effect
// is due first.
func testClaimLimit(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n, kind := range []string{"run.a", "run.b", "send", "run.a", "running", "send", "run."} {
		e := effect(fmt.Sprint("eff_", n))
		e.Kind, e.Due = kind, noon.Add(time.Duration(n)*time.Millisecond)
		effects = append(effects, e)
	}
	commitEffects(t, s, effects...)
	claim := func(what string, n, limit int, want ...string) {
		t.Helper()
		got, err := s.Claim(t.Context(), "node", later, n, store.KindLimit{Prefix: "run.", Max: limit})
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, what, effectIDs(got), want)
	}
	claim("no runs", 1, 0, "eff_2")
	claim("one run", 2, 1, "eff_0", "eff_4")
	claim("no runs, all others", 0, 0, "eff_5")
	claim("fewer than the limit", 1, 5, "eff_1")
	claim("all", 0, 5, "eff_3", "eff_6")
}

func testClaimOrder(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n, due := range []int{3, 1, 2, 1, 4, 2} {
		e := effect(fmt.Sprint("eff_", n))
		e.Due = noon.Add(time.Duration(due) * time.Millisecond)
		effects = append(effects, e)
	}
	commitEffects(t, s, effects...)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	mustEqual(t, "before the first is due", mustClaim(t, s, "node", noon, 0), noEffects)
	mustEqual(t, "the first that is due", effectIDs(mustClaim(t, s, "node", at(2), 1)), []string{"eff_1"})
	mustEqual(t, "the next two", effectIDs(mustClaim(t, s, "node", at(2), 2)), []string{"eff_3", "eff_2"})
	mustEqual(t, "all that are due", effectIDs(mustClaim(t, s, "node", at(3), 0)), []string{"eff_5", "eff_0"})
	mustEqual(t, "all at their time", effectIDs(mustClaim(t, s, "node", at(4), -1)), []string{"eff_4"})
	mustEqual(t, "when all are claimed", mustClaim(t, s, "node", later, 0), noEffects)
	if _, err := s.Claim(t.Context(), "", noon, 1); err == nil || !strings.Contains(err.Error(), "needs a name") {
		t.Errorf("Claim without a node: got %v, want an error", err)
	}
	if _, err := s.Beat(t.Context(), "a\x00b", noon); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("Beat of a node with NUL in its name: got %v, want an error", err)
	}
	if now, err := s.Beat(t.Context(), "node", noon); err != nil || now.IsZero() {
		t.Errorf("Beat: got %v and %v, want a time", now, err)
	}
}

// testClaimLimits checks that Claim and Dead return at most MaxList effects.
func testClaimLimits(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n := range store.MaxList + 5 {
		effects = append(effects, effect(fmt.Sprintf("eff_%05d", n)))
	}
	commitEffects(t, s, effects...)
	all := mustClaim(t, s, "node", noon, store.MaxList+1)
	mustEqual(t, "the most that one Claim returns", len(all), store.MaxList)
	var c store.Change
	for _, e := range append(all, mustClaim(t, s, "node", noon, 0)...) {
		c.Done = append(c.Done, store.Completion{ID: e.ID, Node: "node", Dead: true})
	}
	mustCommit(t, s, c)
	for limit, want := range map[int]int{0: store.MaxList, -1: store.MaxList, 3: 3, store.MaxList + 1: store.MaxList} {
		mustEqual(t, fmt.Sprint("Dead of ", limit), len(mustListDead(t, s, store.Query{Limit: limit})), want)
	}
}

// testClaimByNodes checks that several nodes claim each effect once, while other effects are added.
func testClaimByNodes(t *testing.T, sub Subject) {
	s := sub.Store
	const nodes, each = 4, 50
	var mu sync.Mutex
	times := map[string]int{}
	parallel(2*nodes, func(worker int) {
		node := fmt.Sprint("node-", worker/2)
		for n := range each {
			if worker%2 == 0 {
				r := record("ask", fmt.Sprintf("ask_%d_%d", worker, n))
				e := effect("eff_" + r.ID)
				e.Subject = r.ID
				if _, err := s.Commit(t.Context(),
					store.Change{Put: []store.Record{r}, Effects: []store.Effect{e}}); err != nil {
					t.Errorf("Commit: got %v, want no error", err)
				}
				continue
			}
			effects, err := s.Claim(t.Context(), node, noon, 3)
			if err != nil {
				t.Errorf("Claim: got %v, want no error", err)
			}
			mu.Lock()
			for _, e := range effects {
				times[e.ID]++
			}
			mu.Unlock()
		}
	})
	for _, e := range mustClaim(t, s, "last", noon, 0) {
		times[e.ID]++
	}
	mustEqual(t, "effects", len(times), nodes*each)
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s was claimed %d times, want once", id, n)
		}
	}
}

func testLostClaims(t *testing.T, sub Subject) {
	s := sub.Store
	e := effect("eff_1")
	r := commitEffects(t, s, e)
	mustClaim(t, s, "a", noon, 1)
	mustBeat(t, s, "a", noon.Add(store.HeartbeatInterval))
	timeout := noon.Add(store.HeartbeatInterval + store.HeartbeatTimeout)
	mustEqual(t, "claimed again just before the timeout", mustClaim(t, s, "b", timeout.Add(-time.Millisecond), 1),
		noEffects)
	mustEqual(t, "claimed by the same node after the timeout", mustClaim(t, s, "a", timeout, 1), noEffects)
	timeout = timeout.Add(store.HeartbeatTimeout)
	mustBeat(t, s, "b", timeout)
	mustEqual(t, "claimed again after the timeout", mustClaim(t, s, "b", timeout, 1),
		[]store.Effect{claimed(e, "b", 2)})

	next := effect("eff_2")
	result := func(node string) store.Change {
		return store.Change{
			Put: []store.Record{r}, Events: []store.Event{event("ses_1", "sent by "+node)},
			Effects: []store.Effect{next},
			Done:    []store.Completion{{ID: "eff_1", Node: node}},
		}
	}
	mustConflict(t, s, result("a"))
	mustEqual(t, "the record after the late result", mustRead(t, s, "ask", "ask_1"), r)
	mustEqual(t, "effects of the late result", mustClaim(t, s, "c", timeout, 0), noEffects)
	mustEqual(t, "events of the late result", len(allEvents(t, s, "")), 0)
	mustCommit(t, s, result("b"))
	mustEqual(t, "the event", allEvents(t, s, "")[0].Type, "sent by b")
	mustEqual(t, "the next effect", mustClaim(t, s, "a", timeout, 0), []store.Effect{claimed(next, "a", 1)})
	mustEqual(t, "claims after all nodes are gone", effectIDs(mustClaim(t, s, "c", timeout.Add(time.Hour), 0)),
		[]string{"eff_2"})
}

// testCompletions checks that a completion is a conflict if the effect does not exist or is not claimed by
// the node of the completion. One of several concurrent completions succeeds.
func testCompletions(t *testing.T, sub Subject) {
	s := sub.Store
	commitEffects(t, s, effect("eff_1"), effect("eff_2"))
	for _, how := range []store.Completion{{}, {Retry: noon}, {Dead: true}} {
		as := func(id, node string) store.Change {
			how.ID, how.Node = id, node
			return complete(how)
		}
		mustConflict(t, s, as("eff_9", "")) // the effect does not exist
		mustConflict(t, s, as("eff_9", "a"))
		mustConflict(t, s, as("eff_1", "a")) // the effect is not claimed
	}
	mustClaim(t, s, "a", noon, 1)
	for _, how := range []store.Completion{{}, {Retry: noon}, {Dead: true}} {
		how.ID = "eff_1"
		mustConflict(t, s, complete(how)) // the effect is claimed
		how.Node = "b"
		mustConflict(t, s, complete(how)) // the effect is claimed by another node
		how.Node = "a"
		// the second completion finds no claimed effect
		mustConflict(t, s, complete(how, store.Completion{ID: "eff_2", Node: "a"}))
	}
	mustEqual(t, "effects that are free", effectIDs(mustClaim(t, s, "b", noon, 0)), []string{"eff_2"})
	mustEqual(t, "dead letters", mustListDead(t, s, store.Query{}), noEffects)
	commitConcurrently(t, s, 10, func(int) store.Change { return complete(store.Completion{ID: "eff_1", Node: "a"}) })
	mustEqual(t, "effects after the timeout", effectIDs(mustClaim(t, s, "c", later, 0)), []string{"eff_2"})
}

// testClaimInFailingBatch checks that claims are kept if another change of their batch fails after the store
// has written a part of that change.
func testClaimInFailingBatch(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n := range 30 {
		effects = append(effects, effect(fmt.Sprintf("eff_%05d", n)))
	}
	commitEffects(t, s, effects...)
	var release func()
	if sub.Stall != nil {
		release = sub.Stall(t) // while commits are blocked, all changes come into one batch
	}
	failing := put(record("ask", "ask_new"), record("ask", "ask_1"))
	results := make(chan []store.Effect, 10)
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			claimed, err := s.Claim(t.Context(), fmt.Sprint("node-", n), noon, 3)
			if err != nil {
				t.Errorf("Claim: got %v, want no error", err)
			}
			results <- claimed
		})
		wg.Go(func() {
			if _, err := s.Commit(t.Context(), failing); !errors.Is(err, store.ErrConflict) {
				t.Errorf("Commit: got %v, want ErrConflict", err)
			}
		})
	}
	if release != nil {
		runtime.Gosched()
		release()
	}
	wg.Wait()
	var got []string
	for range 10 {
		for _, e := range <-results {
			mustEqual(t, "attempts", e.Attempts, 1)
			mustCommit(t, s, complete(store.Completion{ID: e.ID, Node: e.Node}))
			got = append(got, e.ID)
		}
	}
	slices.Sort(got)
	mustEqual(t, "claimed", got, effectIDs(effects))
	mustEqual(t, "effects after all were completed", mustClaim(t, s, "last", later, 0), noEffects)
	mustNotExist(t, s, "ask", "ask_new")
}

func testClaimsAfterClose(t *testing.T, sub Subject) { checkClaimsAfterRestart(t, sub, true) }
func testClaimsAfterKill(t *testing.T, sub Subject)  { checkClaimsAfterRestart(t, sub, false) }

// checkClaimsAfterRestart checks that a restart frees every claim, and that effects and their attempts are
// kept. If closed is true, the store is closed before the restart, otherwise it is killed.
func checkClaimsAfterRestart(t *testing.T, sub Subject, closed bool) {
	if sub.Reopen == nil {
		t.Skip("the data ends with the process")
	}
	s := sub.Store
	claimedBefore, free, dead, retried := effect("eff_1"), effect("eff_2"), effect("eff_3"), effect("eff_4")
	free.Due = noon.Add(time.Millisecond)
	commitEffects(t, s, claimedBefore, free, dead, retried, effect("eff_5"))
	mustEqual(t, "claimed", len(mustClaim(t, s, "a", noon, 0)), 4)
	mustCommit(t, s, complete(
		store.Completion{ID: "eff_3", Node: "a", Dead: true, Error: "no"},
		store.Completion{ID: "eff_4", Node: "a", Retry: noon.Add(time.Second), Error: "not yet"},
		store.Completion{ID: "eff_5", Node: "a"},
	))
	if closed {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: got %v, want no error", err)
		}
	}
	s = sub.Reopen(t, closed)
	// the claim is free even for a node with the same name
	mustConflict(t, s, complete(store.Completion{ID: "eff_1", Node: "a"}))
	mustBeat(t, s, "a", noon)
	retried.Due, retried.Error, retried.Attempts = noon.Add(time.Second), "not yet", 1
	want := []store.Effect{claimed(claimedBefore, "b", 2), claimed(free, "b", 1), claimed(retried, "b", 2)}
	mustEqual(t, "claimed after the restart", mustClaim(t, s, "b", noon.Add(time.Second), 0), want)
	dead.Error, dead.Attempts, dead.Dead = "no", 1, true
	mustEqual(t, "dead letters after the restart", mustListDead(t, s, store.Query{}), []store.Effect{dead})
	mustCommit(t, s, complete(store.Completion{ID: "eff_1", Node: "b"}))
	mustEqual(t, "claimed twice", slices.Contains(effectIDs(mustClaim(t, s, "c", later, 0)), "eff_1"), false)
}
