package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

func claimOrder(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n, due := range []int{3, 1, 2, 1, 4, 2} {
		e := effect(fmt.Sprint("eff_", n))
		e.Due = noon.Add(time.Duration(due) * time.Millisecond)
		effects = append(effects, e)
	}
	withEffects(t, s, effects...)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	same(t, "before the first is due", claim(t, s, "node", noon, 0), noEffects)
	same(t, "the first", effectIDs(claim(t, s, "node", at(2), 1)), []string{"eff_1"})
	same(t, "two more", effectIDs(claim(t, s, "node", at(2), 2)), []string{"eff_3", "eff_2"})
	same(t, "all that are due", effectIDs(claim(t, s, "node", at(3), 0)), []string{"eff_5", "eff_0"})
	same(t, "all at their time", effectIDs(claim(t, s, "node", at(4), -1)), []string{"eff_4"})
	same(t, "no more", claim(t, s, "node", later, 0), noEffects)
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

// claimBounds checks the most effects that one call returns.
func claimBounds(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n := range store.MaxList + 5 {
		effects = append(effects, effect(fmt.Sprintf("eff_%05d", n)))
	}
	withEffects(t, s, effects...)
	all := claim(t, s, "node", noon, store.MaxList+1)
	same(t, "the most that one Claim returns", len(all), store.MaxList)
	var c store.Change
	for _, e := range append(all, claim(t, s, "node", noon, 0)...) {
		c.Done = append(c.Done, store.Completion{ID: e.ID, Node: "node", Dead: true})
	}
	keep(t, s, c)
	for limit, want := range map[int]int{0: store.MaxList, -1: store.MaxList, 3: 3, store.MaxList + 1: store.MaxList} {
		same(t, fmt.Sprint("Dead of ", limit), len(deadLetters(t, s, store.Query{Limit: limit})), want)
	}
}

// claimsByTwoNodes checks that each effect is claimed by one node, while others are added.
func claimsByTwoNodes(t *testing.T, sub Subject) {
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
				if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{r}, Effects: []store.Effect{e}}); err != nil {
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
	for _, e := range claim(t, s, "last", noon, 0) {
		times[e.ID]++
	}
	same(t, "effects", len(times), nodes*each)
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s was claimed %d times, want once", id, n)
		}
	}
}

func lostClaims(t *testing.T, sub Subject) {
	s := sub.Store
	e := effect("eff_1")
	r := withEffects(t, s, e)
	claim(t, s, "a", noon, 1)
	beat(t, s, "a", noon.Add(store.HeartbeatInterval))
	timeout := noon.Add(store.HeartbeatInterval + store.HeartbeatTimeout)
	same(t, "claimed again just before the timeout", claim(t, s, "b", timeout.Add(-time.Millisecond), 1), noEffects)
	same(t, "claimed by the same node after the timeout", claim(t, s, "a", timeout, 1), noEffects)
	timeout = timeout.Add(store.HeartbeatTimeout)
	beat(t, s, "b", timeout)
	same(t, "claimed again after the timeout", claim(t, s, "b", timeout, 1), []store.Effect{claimed(e, "b", 2)})

	next := effect("eff_2")
	result := func(node string) store.Change {
		return store.Change{
			Put: []store.Record{r}, Events: []store.Event{event("ses_1", "sent by "+node)}, Effects: []store.Effect{next},
			Done: []store.Completion{{ID: "eff_1", Node: node}},
		}
	}
	conflict(t, s, result("a"))
	same(t, "the record after the late result", get(t, s, "ask", "ask_1"), r)
	same(t, "effects of the late result", claim(t, s, "c", timeout, 0), noEffects)
	same(t, "events of the late result", len(history(t, s, "")), 0)
	keep(t, s, result("b"))
	same(t, "the event", history(t, s, "")[0].Type, "sent by b")
	same(t, "the next effect", claim(t, s, "a", timeout, 0), []store.Effect{claimed(next, "a", 1)})
	same(t, "claims after all nodes are gone", effectIDs(claim(t, s, "c", timeout.Add(time.Hour), 0)), []string{"eff_2"})
}

// completions checks that a completion that does not match the claim is a conflict.
func completions(t *testing.T, sub Subject) {
	s := sub.Store
	withEffects(t, s, effect("eff_1"), effect("eff_2"))
	for _, how := range []store.Completion{{}, {Retry: noon}, {Dead: true}} {
		as := func(id, node string) store.Change {
			how.ID, how.Node = id, node
			return done(how)
		}
		conflict(t, s, as("eff_9", "")) // it does not exist
		conflict(t, s, as("eff_9", "a"))
		conflict(t, s, as("eff_1", "a")) // it is not claimed
	}
	claim(t, s, "a", noon, 1)
	for _, how := range []store.Completion{{}, {Retry: noon}, {Dead: true}} {
		how.ID = "eff_1"
		conflict(t, s, done(how)) // it is claimed
		how.Node = "b"
		conflict(t, s, done(how)) // it is claimed by another node
		how.Node = "a"
		conflict(t, s, done(how, store.Completion{ID: "eff_2", Node: "a"})) // the second is not claimed
	}
	same(t, "effects that are free", effectIDs(claim(t, s, "b", noon, 0)), []string{"eff_2"})
	same(t, "dead letters", deadLetters(t, s, store.Query{}), noEffects)
	contest(t, s, 10, func(int) store.Change { return done(store.Completion{ID: "eff_1", Node: "a"}) })
	same(t, "effects after the timeout", effectIDs(claim(t, s, "c", later, 0)), []string{"eff_2"})
}

func claimsAfterClose(t *testing.T, sub Subject) { claimsAfterRestart(t, sub, true) }
func claimsAfterKill(t *testing.T, sub Subject)  { claimsAfterRestart(t, sub, false) }

// claimsAfterRestart checks that a restart frees every claim, and that effects and their
// attempts outlive it.
func claimsAfterRestart(t *testing.T, sub Subject, closed bool) {
	if sub.Reopen == nil {
		t.Skip("nothing outlives the process")
	}
	s := sub.Store
	claimedBefore, free, dead, retried := effect("eff_1"), effect("eff_2"), effect("eff_3"), effect("eff_4")
	free.Due = noon.Add(time.Millisecond)
	withEffects(t, s, claimedBefore, free, dead, retried, effect("eff_5"))
	same(t, "claimed", len(claim(t, s, "a", noon, 0)), 4)
	keep(t, s, done(
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
	conflict(t, s, done(store.Completion{ID: "eff_1", Node: "a"})) // also for a node of the same name
	beat(t, s, "a", noon)
	retried.Due, retried.Error, retried.Attempts = noon.Add(time.Second), "not yet", 1
	want := []store.Effect{claimed(claimedBefore, "b", 2), claimed(free, "b", 1), claimed(retried, "b", 2)}
	same(t, "claimed after the restart", claim(t, s, "b", noon.Add(time.Second), 0), want)
	dead.Error, dead.Attempts = "no", 1
	same(t, "dead letters after the restart", deadLetters(t, s, store.Query{}), []store.Effect{dead})
	keep(t, s, done(store.Completion{ID: "eff_1", Node: "b"}))
	same(t, "claimed twice", slices.Contains(effectIDs(claim(t, s, "c", later, 0)), "eff_1"), false)
}
