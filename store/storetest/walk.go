package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback/store"
)

// Walk applies the same random operations to two new stores and compares the results. At the end, it compares
// their contents. The store of model is assumed to be correct.
func Walk(t *testing.T, model, subject func(t *testing.T) Subject) {
	t.Helper()
	pair := [2]Subject{model(t), subject(t)}
	stores := [2]Store{pair[0].Store, pair[1].Store}
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		// All walks use the same two stores, because opening a file is slow. Each walk begins without records
		// and uses new streams.
		round++
		w := &walk{T: rt, t: t, stores: stores, round: round, now: noon.Add(time.Duration(round) * 24 * time.Hour)}
		w.begin()
		rt.Repeat(map[string]func(*rapid.T){
			"":        func(*rapid.T) {},
			"commit":  w.commit,
			"commit ": w.commit,
			"list":    w.list,
			"due":     w.due,
			"history": w.history,
			"read":    w.read,
			"claim":   w.claim,
			"beat":    w.beat,
			"dead":    w.dead,
			"reopen": func(*rapid.T) {
				for i, p := range pair {
					if p.Reopen != nil && rapid.IntRange(0, 9).Draw(rt, "kill") == 0 {
						stores[i] = p.Reopen(t, false)
						w.stores = stores
						w.loseClaims()
					}
				}
			},
		})
		w.compare()
	})
}

type walk struct {
	*rapid.T
	t      *testing.T
	stores [2]Store
	round  int
	since  int64 // the newest Seq before this walk
	now    time.Time
}

var (
	walkKinds = []string{"ask", "token"}
	walkIDs   = []string{"a", "b", "c", "d", "e"}
	walkKeys  = []string{"", "", "k", "l"}
	walkNames = []string{"ann", "bob", "a\nb", `a\nb`, "nn"}
	walkSome  = []string{"", "x", "y"}
	walkNodes = []string{"m", "n"}
)

func pick(rt *rapid.T, what string, from []string) string {
	return rapid.SampledFrom(from).Draw(rt, what)
}

// begin deletes the records of the previous walk from both stores, and sets w.since to the
// newest Seq.
func (w *walk) begin() {
	for _, s := range w.stores {
		for _, kind := range walkKinds {
			for _, r := range mustList(w.t, s, store.Query{Kind: kind}) {
				mustCommit(w.t, s, store.Change{Delete: []store.Ref{ref(r)}})
			}
		}
	}
	for _, e := range allEvents(w.t, w.stores[0], "") {
		w.since = e.Seq
	}
}

func (w *walk) stream(rt *rapid.T) string {
	if name := pick(rt, "stream", walkSome); name != "" {
		return fmt.Sprint(name, w.round)
	}
	return ""
}

func (w *walk) at(rt *rapid.T, what string) time.Time {
	return noon.Add(time.Duration(rapid.IntRange(-3, 3).Draw(rt, what)) * time.Millisecond)
}

// version returns the stored version of a record, or 0 if the record does not exist. Rarely, it returns a
// version that is too large or too small by one.
func (w *walk) version(rt *rapid.T, kind, id string) int64 {
	r, err := w.stores[0].Read(w.t.Context(), kind, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		rt.Fatalf("Read: %v", err)
	}
	return r.Version + int64(rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 1, -1}).Draw(rt, "off"))
}

func (w *walk) record(rt *rapid.T) store.Record {
	r := store.Record{Kind: pick(rt, "kind", walkKinds), ID: pick(rt, "id", walkIDs)}
	r.Version = w.version(rt, r.Kind, r.ID)
	r.Stream, r.Key, r.Open = w.stream(rt), pick(rt, "key", walkKeys), rapid.Bool().Draw(rt, "open")
	r.Unacked = rapid.Bool().Draw(rt, "unacked")
	r.Owner, r.Agent, r.Status = pick(rt, "owner", walkSome), pick(rt, "agent", walkSome), pick(rt, "status", walkSome)
	r.To = rapid.SliceOfN(rapid.SampledFrom(walkNames), 0, 2).Draw(rt, "to")
	r.Created, r.Updated = w.at(rt, "created"), w.at(rt, "updated")
	if rapid.Bool().Draw(rt, "has due") {
		r.Due = w.at(rt, "due")
	}
	if r.Version == 0 && rapid.IntRange(0, 9).Draw(rt, "no fixed") > 0 || rapid.Bool().Draw(rt, "has fixed") {
		r.Fixed = rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(rt, "fixed")
	}
	r.State = rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(rt, "state")
	return r
}

func (w *walk) change(rt *rapid.T) (c store.Change) {
	for range rapid.IntRange(0, 3).Draw(rt, "puts") {
		c.Put = append(c.Put, w.record(rt))
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "deletes") {
		kind, id := pick(rt, "kind", walkKinds), pick(rt, "id", walkIDs)
		c.Delete = append(c.Delete, store.Ref{Kind: kind, ID: id, Version: w.version(rt, kind, id)})
	}
	for _, r := range c.Put {
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "effects") {
			c.Effects = append(c.Effects, w.effect(rt, r))
		}
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "completions") {
		c.Done = append(c.Done, w.completion(rt))
	}
	if rapid.IntRange(0, 3).Draw(rt, "releases") == 0 {
		c.Release = []string{pick(rt, "key", walkNodes)}
	}
	for range rapid.IntRange(0, 3).Draw(rt, "events") {
		what := rapid.SampledFrom([]string{"asked", "asked", "asked", "answered", "answered", ""}).Draw(rt, "type")
		c.Events = append(c.Events, store.Event{
			Stream: w.stream(rt), Subject: pick(rt, "subject", walkIDs), Type: what,
			At: w.at(rt, "at"), Data: rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(rt, "data"),
		})
	}
	return c
}

// effect returns a new effect of r. Rarely, the effect belongs to a record that is not in the change.
func (w *walk) effect(rt *rapid.T, r store.Record) store.Effect {
	e := store.Effect{
		ID: pick(rt, "effect", walkIDs), Kind: pick(rt, "type", walkKinds), SubjectKind: r.Kind, Subject: r.ID,
		Stream: w.stream(rt), Due: w.soon(rt), Created: w.at(rt, "created"),
		Data: rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(rt, "data"),
	}
	if rapid.IntRange(0, 19).Draw(rt, "of another") == 0 {
		e.Subject = "nn"
	}
	return e
}

func (w *walk) completion(rt *rapid.T) store.Completion {
	c := store.Completion{
		ID: pick(rt, "effect", walkIDs), Node: rapid.SampledFrom([]string{"", "m", "n"}).Draw(rt, "node"),
	}
	switch rapid.IntRange(0, 4).Draw(rt, "how") {
	case 1:
		c.Retry = w.soon(rt)
	case 2:
		c.Dead = true
	case 3:
		c.Held = pick(rt, "held", walkNodes)
		if rapid.Bool().Draw(rt, "retried") {
			c.Retry = w.soon(rt)
		}
	}
	c.Error = pick(rt, "error", walkSome)
	return c
}

// soon returns a time up to five seconds before or after w.now.
func (w *walk) soon(rt *rapid.T) time.Time {
	return w.now.Add(time.Duration(rapid.IntRange(-5, 5).Draw(rt, "soon")) * time.Second)
}

// pass moves w.now forward by up to ten seconds, so that some nodes lose their claims.
func (w *walk) pass(rt *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(rt, "pass")) * time.Millisecond)
}

func (w *walk) claim(rt *rapid.T) {
	w.pass(rt)
	node, n := pick(rt, "node", walkNodes), rapid.IntRange(-1, 3).Draw(rt, "n")
	var limit []store.KindLimit
	if rapid.Bool().Draw(rt, "limited") {
		limit = append(limit,
			store.KindLimit{Prefix: pick(rt, "prefix", walkKinds), Max: rapid.IntRange(0, 2).Draw(rt, "max")})
	}
	w.both("Claim", func(s Store) (any, error) { return s.Claim(w.t.Context(), node, w.now, n, limit...) })
}

func (w *walk) beat(rt *rapid.T) {
	w.pass(rt)
	node := pick(rt, "node", walkNodes)
	w.both("Beat", func(s Store) (any, error) { return s.Beat(w.t.Context(), node, w.now) })
}

func (w *walk) dead(rt *rapid.T) {
	q := store.Query{Kind: rapid.SampledFrom(append([]string{""}, walkKinds...)).Draw(rt, "kind"), Stream: w.stream(rt)}
	q.After = rapid.SampledFrom(append([]string{""}, walkIDs...)).Draw(rt, "after")
	q.Newest, q.Limit = rapid.Bool().Draw(rt, "newest"), rapid.IntRange(-1, 4).Draw(rt, "limit")
	w.both("Dead", func(s Store) (any, error) { return s.Dead(w.t.Context(), q) })
	w.both("Effects", func(s Store) (any, error) { return s.Effects(w.t.Context(), q) })
}

// loseClaims frees the claims of all nodes in both stores. The walk calls loseClaims after it has reopened
// one store, because the reopening frees only the claims of that store.
func (w *walk) loseClaims() {
	w.now = w.now.Add(store.HeartbeatTimeout)
	node := fmt.Sprint("node at ", w.now)
	w.both("Claim", func(s Store) (any, error) { return s.Claim(w.t.Context(), node, w.now, 1) })
}

// A result is the result of a call, with its error as a string for the comparison.
type result struct {
	Value any
	Err   string
}

// both calls the function for both stores, and fails the test unless the results are the same.
func (w *walk) both(what string, call func(Store) (any, error)) {
	w.Helper()
	var results [2]result
	for i, s := range w.stores {
		v, err := call(s)
		results[i].Value = v
		if err != nil {
			results[i].Err = err.Error()
		}
	}
	if diff := difference(results[0], results[1]); diff != "" {
		w.Fatalf("%s: model - subject +\n%s", what, diff)
	}
}

func (w *walk) commit(rt *rapid.T) {
	c := w.change(rt)
	w.both("Commit", func(s Store) (any, error) { return s.Commit(w.t.Context(), c) })
	for _, r := range c.Put {
		w.both("Read", func(s Store) (any, error) { return s.Read(w.t.Context(), r.Kind, r.ID) })
	}
}

func (w *walk) list(rt *rapid.T) {
	q := store.Query{Kind: pick(rt, "kind", walkKinds), Stream: w.stream(rt)}
	q.Status, q.Owner, q.Agent = pick(rt, "status", walkSome), pick(rt, "owner", walkSome), pick(rt, "agent", walkSome)
	q.For = rapid.SampledFrom(append([]string{""}, walkNames...)).Draw(rt, "for")
	q.After = rapid.SampledFrom(append([]string{""}, walkIDs...)).Draw(rt, "after")
	q.Newest, q.Limit = rapid.Bool().Draw(rt, "newest"), rapid.IntRange(-1, 4).Draw(rt, "limit")
	if rapid.Bool().Draw(rt, "by open") {
		open := rapid.Bool().Draw(rt, "open")
		q.Open = &open
	}
	q.Unacked = rapid.Bool().Draw(rt, "unacked")
	w.both("List", func(s Store) (any, error) { return s.List(w.t.Context(), q) })
	w.both("CountOpen", func(s Store) (any, error) { return s.CountOpen(w.t.Context(), q.Kind, q.Owner, q.Limit) })
}

func (w *walk) due(rt *rapid.T) {
	before, n := w.at(rt, "before"), rapid.IntRange(-1, 4).Draw(rt, "n")
	w.both("Due", func(s Store) (any, error) { return s.Due(w.t.Context(), before, n) })
}

func (w *walk) history(rt *rapid.T) {
	stream, limit := w.stream(rt), rapid.IntRange(-1, 4).Draw(rt, "limit")
	after := w.since + int64(rapid.IntRange(0, 9).Draw(rt, "after"))
	w.both("History", func(s Store) (any, error) { return s.History(w.t.Context(), stream, after, limit) })
	q := store.SubjectQuery{
		Types: []string{"answered", "asked"}[:rapid.IntRange(1, 2).Draw(rt, "types")], Since: w.since + 1,
	}
	q.Kind, q.Stream, q.Owner = pick(rt, "kind", walkKinds), stream, pick(rt, "owner", walkSome)
	q.Scan = rapid.SampledFrom([]int{0, 2, 1000}).Draw(rt, "scan")
	w.both("Subjects", func(s Store) (any, error) {
		list, _, err := s.Subjects(w.t.Context(), q)
		return list, err
	})
}

func (w *walk) read(rt *rapid.T) {
	kind, key, id := pick(rt, "kind", walkKinds), pick(rt, "key", walkKeys), pick(rt, "id", walkIDs)
	w.both("Read", func(s Store) (any, error) { return s.Read(w.t.Context(), kind, id) })
	w.both("ReadKey", func(s Store) (any, error) { return s.ReadKey(w.t.Context(), kind, key) })
}

// compare compares the records and effects of both stores, and the events of this walk.
func (w *walk) compare() {
	for _, kind := range walkKinds {
		w.both("totals", func(s Store) (any, error) { return s.Totals(w.t.Context(), kind) })
		w.both("all records of a kind",
			func(s Store) (any, error) { return s.List(w.t.Context(), store.Query{Kind: kind}) })
	}
	w.both("all due records", func(s Store) (any, error) { return s.Due(w.t.Context(), noon.Add(time.Hour), 0) })
	w.both("dead letters", func(s Store) (any, error) { return s.Dead(w.t.Context(), store.Query{}) })
	w.both("effects", func(s Store) (any, error) { return s.Effects(w.t.Context(), store.Query{}) })
	w.now = w.now.Add(time.Hour)
	w.both("effects that are not dead", func(s Store) (any, error) { return s.Claim(w.t.Context(), "last", w.now, 0) })
	w.both("all events", func(s Store) (any, error) { return readHistory(w.t.Context(), s, "", w.since) })
}
