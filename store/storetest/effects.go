package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

// effect returns an effect of record("ask", "ask_1") that is due at noon.
func effect(id string) store.Effect {
	return store.Effect{
		ID: id, Kind: "send", SubjectKind: "ask", Subject: "ask_1", Stream: "ses_1",
		Due: noon, Created: noon, Data: []byte(`{"to":"ann"}`),
	}
}

// claimed returns the effect that Claim must return to the node for the n-th attempt.
func claimed(e store.Effect, node string, n int) store.Effect {
	e.Node, e.Attempts = node, n
	return e
}

// commitEffects commits a new record ask_1 with effects, and returns the stored record.
func commitEffects(t *testing.T, s Store, effects ...store.Effect) (r store.Record) {
	t.Helper()
	r = record("ask", "ask_1")
	mustCommit(t, s, store.Change{Put: []store.Record{r}, Effects: effects})
	return committed(r)
}

func mustClaim(t *testing.T, s Store, node string, now time.Time, n int) []store.Effect {
	t.Helper()
	effects, err := s.Claim(t.Context(), node, now, n)
	if err != nil {
		t.Fatalf("Claim: got %v, want no error", err)
	}
	return effects
}

func mustBeat(t *testing.T, s Store, node string, now time.Time) {
	t.Helper()
	if _, err := s.Beat(t.Context(), node, now); err != nil {
		t.Fatalf("Beat: got %v, want no error", err)
	}
}

func mustListDead(t *testing.T, s Store, q store.Query) []store.Effect {
	t.Helper()
	effects, err := s.Dead(t.Context(), q)
	if err != nil {
		t.Fatalf("Dead: got %v, want no error", err)
	}
	return effects
}

func complete(c ...store.Completion) store.Change { return store.Change{Done: c} }

func effectIDs(effects []store.Effect) []string {
	names := []string{}
	for _, e := range effects {
		names = append(names, e.ID)
	}
	return names
}

// noEffects is the result of Claim and Dead if no effect matches.
var noEffects []store.Effect

// later is a time at which a node whose last heartbeat was at noon has lost its claims.
var later = noon.Add(time.Hour)

func testEffectFields(t *testing.T, sub Subject) {
	s := sub.Store
	when := time.Date(1969, 7, 20, 20, 17, 40, 123_456_789, time.FixedZone("", 5*3600))
	odd := effect("eff_1")
	odd.Due, odd.Created = when, when
	atOnce := effect("eff_2")
	atOnce.Due, atOnce.Data, atOnce.Stream = time.Time{}, []byte{}, ""
	full := effect("eff_3")
	commitEffects(t, s, odd, atOnce, full)
	full.Data[0] = 'X'
	full.Data = []byte(`{"to":"ann"}`)
	got := mustClaim(t, s, "node", noon, 0)
	odd.Due = when.Truncate(time.Millisecond).UTC()
	odd.Created = odd.Due
	atOnce.Data = nil
	want := []store.Effect{claimed(atOnce, "node", 1), claimed(odd, "node", 1), claimed(full, "node", 1)}
	mustEqual(t, "the effects", got, want)

	got[2].Data[0] = 'X'
	failed := complete(store.Completion{ID: "eff_3", Node: "node", Dead: true, Error: "the address\nis unknown"})
	mustCommit(t, s, failed)
	full.Error, full.Attempts, full.Dead = "the address\nis unknown", 1, true
	dead := mustListDead(t, s, store.Query{})
	mustEqual(t, "a dead letter", dead, []store.Effect{full})
	dead[0].Data[0] = 'X'
	mustEqual(t, "a dead letter after writing into the last", mustListDead(t, s, store.Query{}), []store.Effect{full})
}

func testOddEffectStrings(t *testing.T, sub Subject) {
	s := sub.Store
	for n, odd := range oddNames {
		if odd == "" {
			continue
		}
		r := record(odd, odd)
		e := store.Effect{ID: odd, Kind: odd, SubjectKind: odd, Subject: odd, Stream: odd, Due: noon, Created: noon}
		mustCommit(t, s, store.Change{Put: []store.Record{r}, Effects: []store.Effect{e}})
		mustEqual(t, "claimed", mustClaim(t, s, odd, noon, 0), []store.Effect{claimed(e, odd, 1)})
		mustCommit(t, s, complete(store.Completion{ID: odd, Node: odd, Dead: true, Error: odd}))
		e.Attempts, e.Error, e.Dead = 1, odd, true
		mustEqual(t, fmt.Sprint("dead letter ", n), mustListDead(t, s, store.Query{Kind: odd, Stream: odd}),
			[]store.Effect{e})
	}
}

func testRetries(t *testing.T, sub Subject) {
	s := sub.Store
	e := effect("eff_1")
	commitEffects(t, s, e, effect("eff_2"))
	for n := range 5 {
		node := fmt.Sprint("node-", n%2)
		e.Due = noon.Add(time.Duration(n) * time.Second)
		if n > 0 {
			mustEqual(t, "before the retry", mustClaim(t, s, node, e.Due.Add(-time.Millisecond), 1), noEffects)
			e.Error = fmt.Sprint("failure ", n)
		}
		got := mustClaim(t, s, node, e.Due, 0)
		mustEqual(t, "an attempt", got[0], claimed(e, node, n+1))
		mustEqual(t, "effects", len(got), 2-min(n, 1))
		retry := store.Completion{
			ID: "eff_1", Node: node, Retry: e.Due.Add(time.Second + time.Microsecond),
			Error: fmt.Sprint("failure ", n+1),
		}
		mustCommit(t, s, complete(retry))
		mustConflict(t, s, complete(retry)) // the first completion has already freed the claim
	}
}

func testDeadLetters(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n := range 6 {
		e := effect(fmt.Sprint("eff_", n))
		e.Kind, e.Stream = []string{"send", "call"}[n%2], []string{"ses_1", "ses_2", ""}[n%3]
		effects = append(effects, e)
	}
	commitEffects(t, s, effects...)
	mustClaim(t, s, "a", noon, 5)
	var c store.Change
	for n := range 5 {
		c.Done = append(c.Done, store.Completion{ID: effects[n].ID, Node: "a", Dead: true, Error: "no"})
	}
	mustCommit(t, s, c)
	for _, test := range []struct {
		q    store.Query
		want string
	}{
		{store.Query{}, "0 1 2 3 4"},
		{store.Query{Newest: true}, "4 3 2 1 0"},
		{store.Query{Kind: "send"}, "0 2 4"},
		{store.Query{Stream: "ses_1"}, "0 3"},
		{store.Query{Kind: "call", Stream: "ses_1"}, "3"},
		{store.Query{Kind: "ask"}, ""},
		{store.Query{Limit: 2}, "0 1"},
		{store.Query{Limit: 2, After: "eff_1"}, "2 3"},
		{store.Query{Limit: 2, After: "eff_11"}, "2 3"},
		{store.Query{Limit: 2, After: "eff_3", Newest: true}, "2 1"},
		{store.Query{After: "eff_0", Newest: true}, ""},
		{store.Query{Owner: "ignored", Status: "ignored"}, "0 1 2 3 4"},
	} {
		got := strings.ReplaceAll(strings.Join(effectIDs(mustListDead(t, s, test.q)), " "), "eff_", "")
		if got != test.want {
			t.Errorf("Dead %+v: got %q, want %q", test.q, got, test.want)
		}
	}
	mustEqual(t, "claimed while dead", effectIDs(mustClaim(t, s, "b", later, 0)), []string{"eff_5"})

	mustCommit(t, s, complete(store.Completion{ID: "eff_1", Retry: later}, store.Completion{ID: "eff_2"}))
	mustConflict(t, s, complete(store.Completion{ID: "eff_1", Node: "a"}))
	mustEqual(t, "dead letters", effectIDs(mustListDead(t, s, store.Query{})), []string{"eff_0", "eff_3", "eff_4"})
	mustEqual(t, "before the retry", mustClaim(t, s, "b", later.Add(-time.Millisecond), 0), noEffects)
	revived := claimed(effects[1], "b", 2)
	revived.Due = later
	mustEqual(t, "revived", mustClaim(t, s, "b", later, 0), []store.Effect{revived})
}

// testEffectList checks that Effects returns dead letters, claimed and free effects, but no effect that is
// done.
func testEffectList(t *testing.T, sub Subject) {
	s := sub.Store
	var effects []store.Effect
	for n := range 6 {
		e := effect(fmt.Sprint("eff_", n))
		e.Kind = []string{"send", "call"}[n%2]
		effects = append(effects, e)
	}
	commitEffects(t, s, effects...)
	mustClaim(t, s, "a", noon, 4)
	mustCommit(t, s, complete(
		store.Completion{ID: "eff_0", Node: "a", Dead: true, Error: "no"},
		store.Completion{ID: "eff_1", Node: "a"},
		store.Completion{ID: "eff_2", Node: "a", Retry: later, Error: "not yet"},
	))
	for _, test := range []struct {
		q    store.Query
		want string
	}{
		{store.Query{}, "0 2 3 4 5"},
		{store.Query{Newest: true}, "5 4 3 2 0"},
		{store.Query{Kind: "send"}, "0 2 4"},
		{store.Query{Kind: "ask"}, ""},
		{store.Query{Limit: 2}, "0 2"},
		{store.Query{Limit: 2, After: "eff_1"}, "2 3"},
		{store.Query{Kind: "send", Limit: 2, After: "eff_4", Newest: true}, "2 0"},
		{store.Query{After: "eff_0", Newest: true}, ""},
		{store.Query{Stream: "ignored", Owner: "ignored"}, "0 2 3 4 5"},
	} {
		list, err := s.Effects(t.Context(), test.q)
		if got := strings.ReplaceAll(strings.Join(effectIDs(list), " "), "eff_", ""); err != nil || got != test.want {
			t.Errorf("Effects %+v: got %q, %v, want %q", test.q, got, err, test.want)
		}
	}
	list, err := s.Effects(t.Context(), store.Query{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	dead, again := effects[0], effects[2]
	dead.Attempts, dead.Error, dead.Dead = 1, "no", true
	again.Attempts, again.Error, again.Due = 1, "not yet", later
	mustEqual(t, "effects", list, []store.Effect{dead, again, claimed(effects[3], "a", 1)})
}

// testHeldEffects checks that a held effect is not claimed until its key is released. If the change that
// releases the key is a conflict, the effect stays held.
func testHeldEffects(t *testing.T, sub Subject) {
	s := sub.Store
	r := commitEffects(t, s, effect("eff_1"), effect("eff_2"), effect("eff_3"), effect("eff_4"))
	mustClaim(t, s, "a", noon, 0)
	mustCommit(t, s, complete(
		store.Completion{ID: "eff_1", Node: "a", Held: "k", Error: "paused"},
		store.Completion{ID: "eff_2", Node: "a", Held: "l"},
		store.Completion{ID: "eff_3", Node: "a", Held: "k", Retry: noon.Add(time.Minute)},
		store.Completion{ID: "eff_4", Node: "a", Held: "k"},
	))
	// this completion ends the hold of the effect
	mustCommit(t, s, complete(store.Completion{ID: "eff_4", Retry: later}))
	mustEqual(t, "claimed while held", mustClaim(t, s, "b", noon, 0), noEffects)
	held := effect("eff_1")
	held.Attempts, held.Held, held.Error = 1, "k", "paused"
	list, err := s.Effects(t.Context(), store.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "a held effect", list, []store.Effect{held})
	if totals, err := s.Totals(t.Context(), "ask"); err != nil || totals.Waiting != 4 {
		t.Errorf("Totals: got %+v, %v, want four that wait", totals, err)
	}
	stale := r
	stale.Version++
	mustConflict(t, s, store.Change{Put: []store.Record{stale}, Release: []string{"k"}})
	mustEqual(t, "claimed after a conflict", mustClaim(t, s, "b", noon, 0), noEffects)
	if sub.Reopen != nil {
		s = sub.Reopen(t, false)
		mustEqual(t, "claimed after a restart", mustClaim(t, s, "b", noon, 0), noEffects)
	}
	mustCommit(t, s, store.Change{Put: []store.Record{r}, Release: []string{"k", "other"}})
	mustEqual(t, "released", effectIDs(mustClaim(t, s, "b", noon, 0)), []string{"eff_1"})
	mustEqual(t, "released and due", effectIDs(mustClaim(t, s, "b", noon.Add(time.Minute), 0)), []string{"eff_3"})
	mustEqual(t, "later", effectIDs(mustClaim(t, s, "c", later, 0)), []string{"eff_1", "eff_3", "eff_4"})
}

func testWithdrawal(t *testing.T, sub Subject) {
	s := sub.Store
	commitEffects(t, s, effect("eff_1"), effect("eff_2"), effect("eff_3"))
	mustCommit(t, s, complete(store.Completion{ID: "eff_2"}, store.Completion{ID: "eff_3", Dead: true}))
	mustConflict(t, s, complete(store.Completion{ID: "eff_2"}))
	mustEqual(t, "effects", effectIDs(mustClaim(t, s, "a", noon, 0)), []string{"eff_1"})
	mustConflict(t, s, complete(store.Completion{ID: "eff_1"}))
	mustEqual(t, "dead letters", effectIDs(mustListDead(t, s, store.Query{})), []string{"eff_3"})
}

// testEffectAtomicity checks that effects are committed with their change or not at all.
func testEffectAtomicity(t *testing.T, sub Subject) {
	s := sub.Store
	r := commitEffects(t, s, effect("eff_1"))
	with := func(r store.Record, effects ...store.Effect) store.Change {
		return store.Change{Put: []store.Record{r}, Effects: effects, Events: []store.Event{event("ses_1", "asked")}}
	}
	stale := r
	stale.Version++
	mustConflict(t, s, with(stale, effect("eff_2")))
	mustConflict(t, s, with(r, effect("eff_2"), effect("eff_1"))) // the id is taken
	second := with(r, effect("eff_2"))
	second.Put = append(second.Put, stale)
	second.Put[1].ID = "ask_9"
	mustConflict(t, s, second)
	second = with(r, effect("eff_2"))
	second.Done = []store.Completion{{ID: "eff_1", Node: "a"}}
	mustConflict(t, s, second)
	mustEqual(t, "the record", mustRead(t, s, "ask", "ask_1"), r)
	mustEqual(t, "events", len(allEvents(t, s, "")), 0)
	mustEqual(t, "effects", effectIDs(mustClaim(t, s, "a", noon, 0)), []string{"eff_1"})
	mustCommit(t, s, second)
	mustEqual(t, "the next effect", effectIDs(mustClaim(t, s, "a", noon, 0)), []string{"eff_2"})
	mustCommit(t, s, with(committed(r), effect("eff_1"))) // the id is free again

	winner := commitConcurrently(t, s, 30, func(worker int) store.Change {
		r := record("ask", "ask_new")
		e := effect(fmt.Sprint("eff_new", worker))
		e.Subject = "ask_new"
		return with(r, e)
	})
	mustEqual(t, "effects of the winner", effectIDs(mustClaim(t, s, "a", noon, 0)),
		[]string{"eff_1", fmt.Sprint("eff_new", winner)})
}

// testDeletedEffects checks that deleting a record deletes the effects of the record and no other effects.
func testDeletedEffects(t *testing.T, sub Subject) {
	s := sub.Store
	other, token := effect("eff_other"), effect("eff_token")
	other.Subject, token.SubjectKind = "ask_0", "token"
	r := commitEffects(t, s, effect("eff_claimed"), effect("eff_dead"), effect("eff_done"), effect("eff_free"))
	mustClaim(t, s, "a", noon, 3)
	mustCommit(t, s, store.Change{
		Put: []store.Record{record("ask", "ask_0"), record("token", "ask_1")}, Effects: []store.Effect{other, token},
		Done: []store.Completion{{ID: "eff_dead", Node: "a", Dead: true}},
	})
	deletion := store.Change{Delete: []store.Ref{ref(r)}, Done: []store.Completion{{ID: "eff_done", Node: "a"}}}
	stale := deletion
	stale.Delete = []store.Ref{ref(committed(r))}
	mustConflict(t, s, stale)
	mustEqual(t, "dead letters after a conflict", effectIDs(mustListDead(t, s, store.Query{})), []string{"eff_dead"})
	again := effect("eff_free")
	again.Subject = "ask_3"
	// the change first deletes the effect with this id
	deletion.Put, deletion.Effects = []store.Record{record("ask", "ask_3")}, []store.Effect{again}
	mustCommit(t, s, deletion)
	mustEqual(t, "dead letters", mustListDead(t, s, store.Query{}), noEffects)
	mustConflict(t, s, complete(store.Completion{ID: "eff_claimed", Node: "a"}))
	mustEqual(t, "effects", effectIDs(mustClaim(t, s, "b", later, 0)), []string{"eff_free", "eff_other", "eff_token"})
}

// invalidEffects returns changes with effects or completions that every store must reject, keyed by the
// reason.
func invalidEffects() map[string]store.Change {
	bad := map[string]store.Change{}
	one := func(what string, change func(*store.Change)) {
		c := store.Change{Put: []store.Record{record("ask", "ask_1")}, Effects: []store.Effect{effect("eff_1")}}
		change(&c)
		bad[what] = c
	}
	one("an effect without an id", func(c *store.Change) { c.Effects[0].ID = "" })
	one("an effect without a kind", func(c *store.Change) { c.Effects[0].Kind = "" })
	one("an effect of another record", func(c *store.Change) { c.Effects[0].Subject = "ask_2" })
	one("an effect of a record of another kind", func(c *store.Change) { c.Effects[0].SubjectKind = "session" })
	one("an effect of a deleted record", func(c *store.Change) {
		c.Put, c.Delete = nil, []store.Ref{{Kind: "ask", ID: "ask_1", Version: 1}}
	})
	one("an effect with attempts", func(c *store.Change) { c.Effects[0].Attempts = 1 })
	one("an effect with a node", func(c *store.Change) { c.Effects[0].Node = "a" })
	one("an effect with an error", func(c *store.Change) { c.Effects[0].Error = "no" })
	one("an effect twice", func(c *store.Change) { c.Effects = append(c.Effects, c.Effects[0]) })
	one("NUL in the stream of an effect", func(c *store.Change) { c.Effects[0].Stream = "\x00" })
	one("an effect of 16 MB", func(c *store.Change) { c.Effects[0].Data = make([]byte, 16<<20) })
	one("an effect that is new and done", func(c *store.Change) { c.Done = []store.Completion{{ID: "eff_1"}} })
	one("a completion without an id", func(c *store.Change) { c.Done = []store.Completion{{Node: "a"}} })
	one("a completion twice",
		func(c *store.Change) { c.Done = []store.Completion{{ID: "eff_2"}, {ID: "eff_2", Node: "a"}} })
	one("a completion with a retry of a dead letter", func(c *store.Change) {
		c.Done = []store.Completion{{ID: "eff_2", Retry: noon, Dead: true}}
	})
	one("an error that is not UTF-8",
		func(c *store.Change) { c.Done = []store.Completion{{ID: "eff_2", Dead: true, Error: "\xff"}} })
	return bad
}

func testInvalidEffects(t *testing.T, sub Subject) {
	s := sub.Store
	mustCommit(t, s, store.Change{Put: []store.Record{record("ask", "ask_0")}, Effects: []store.Effect{{
		ID: "eff_2", Kind: "send", SubjectKind: "ask", Subject: "ask_0", Due: later,
	}}})
	for name, c := range invalidEffects() {
		_, err := s.Commit(t.Context(), c)
		if err == nil || errors.Is(err, store.ErrConflict) || !strings.HasPrefix(err.Error(), "invalid change: ") {
			t.Errorf("%s: got %v, want an error other than ErrConflict", name, err)
		}
	}
	mustNotExist(t, s, "ask", "ask_1")
	mustEqual(t, "effects", mustClaim(t, s, "a", noon, 0), noEffects)
}
