package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

// filter returns the records that List must return for q.
func filter(all []store.Record, q store.Query) []store.Record {
	var out []store.Record
	for _, r := range all {
		is := func(want, got string) bool { return want == "" || want == got }
		if r.Kind == q.Kind && (q.Open == nil || *q.Open == r.Open) && (!q.Unacked || r.Unacked) &&
			is(q.Status, r.Status) && is(q.Stream, r.Stream) &&
			is(q.Owner, r.Owner) && is(q.Agent, r.Agent) &&
			(q.For == "" || len(r.To) == 0 || slices.Contains(r.To, q.For)) &&
			(q.After == "" || r.ID > q.After && !q.Newest || r.ID < q.After && q.Newest) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b store.Record) int {
		if a.ID < b.ID == q.Newest {
			return 1
		}
		return -1
	})
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

// queries returns a query for each combination of the arguments with all values of Open, Unacked and Newest.
// Each combination occurs with and without a limit.
func queries(kinds, statuses, streams, owners, agents, names []string, afters []string) []store.Query {
	yes, no := true, false
	qs := []store.Query{{}}
	times := func(n int, set func(q *store.Query, i int)) {
		var more []store.Query
		for _, q := range qs {
			for i := range n {
				set(&q, i)
				more = append(more, q)
			}
		}
		qs = more
	}
	times(len(kinds), func(q *store.Query, i int) { q.Kind = kinds[i] })
	times(3, func(q *store.Query, i int) { q.Open = []*bool{nil, &yes, &no}[i] })
	times(2, func(q *store.Query, i int) { q.Unacked = i == 1 })
	times(len(statuses), func(q *store.Query, i int) { q.Status = statuses[i] })
	times(len(streams), func(q *store.Query, i int) { q.Stream = streams[i] })
	times(len(owners), func(q *store.Query, i int) { q.Owner = owners[i] })
	times(len(agents), func(q *store.Query, i int) { q.Agent = agents[i] })
	times(len(names), func(q *store.Query, i int) { q.For = names[i] })
	times(len(afters), func(q *store.Query, i int) { q.After = afters[i] })
	times(2, func(q *store.Query, i int) { q.Newest = i == 1 })
	times(2, func(q *store.Query, i int) { q.Limit = []int{0, 2}[i] })
	return qs
}

func testList(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 60 {
		r := record([]string{"ask", "asks", "session"}[n%3], id(n*7919%60))
		r.Open, r.Unacked = n%2 == 0, n/2%2 == 1
		r.Status = []string{"pending", "answered"}[n%5%2]
		r.Stream = []string{"", "ses_1", "ses_2"}[n/3%3]
		r.Owner = []string{"agent-1", "agent-2", ""}[n/4%3]
		r.Agent = []string{"Claude", "Codex"}[n/5%2]
		r.To = [][]string{nil, {"ann"}, {"bob", "ann"}, {"bob"}}[n/2%4]
		c.Put = append(c.Put, r)
	}
	mustCommit(t, s, c)
	all := make([]store.Record, len(c.Put))
	for i, r := range c.Put {
		all[i] = committed(r)
	}
	qs := queries([]string{"ask", "session", "none"},
		[]string{"", "pending"}, []string{"", "ses_1"}, []string{"", "agent-2"},
		[]string{"", "Codex"}, []string{"", "ann"}, []string{"", id(30), "zzz"})
	for _, q := range qs {
		mustEqual(t, fmt.Sprintf("List %+v", q), mustList(t, s, q), filter(all, q))
	}

	for _, limit := range []int{-1, 0, 3, 100} {
		open := filter(all, store.Query{Kind: "ask", Owner: "agent-2", Open: new(true)})
		n, err := s.CountOpen(t.Context(), "ask", "agent-2", limit)
		if want := min(len(open), max(limit, 0)); n != want || err != nil {
			t.Errorf("CountOpen with limit %d: got %d and %v, want %d", limit, n, err, want)
		}
	}

	open := filter(all, store.Query{Kind: "ask", Open: new(true)})
	if got, err := s.Totals(t.Context(), "ask"); got != (store.Totals{Open: len(open)}) ||
		err != nil || len(open) == 0 {
		t.Errorf("Totals: got %+v and %v, want %d open records", got, err, len(open))
	}

	// All pages together have each record once, in order.
	for _, newest := range []bool{false, true} {
		q := store.Query{Kind: "ask", Newest: newest}
		want := ids(filter(all, q))
		got := []string{}
		for q.Limit = 3; ; q.After = got[len(got)-1] {
			page := mustList(t, s, q)
			if len(page) == 0 {
				break
			}
			got = append(got, ids(page)...)
		}
		mustEqual(t, fmt.Sprintf("pages, newest %v", newest), got, want)
	}
}

// testListFor checks that For matches only whole names. For must not match a part of a name, or a string that
// spans two names.
func testListFor(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n, name := range oddNames {
		r := record("ask", id(n))
		r.To = []string{"x", name, "y"}
		c.Put = append(c.Put, r)
	}
	mustCommit(t, s, c)
	all := mustList(t, s, store.Query{Kind: "ask"})
	for _, name := range append([]string{"x\ny", "n", "lines", "x", "long", "a", "b", "quoted", `\\n`, `\\`},
		oddNames...) {
		q := store.Query{Kind: "ask", For: name}
		mustEqual(t, fmt.Sprintf("for %q", name), ids(mustList(t, s, q)), ids(filter(all, q)))
	}
}

// testScan checks that a list that stopped after Scan records can be continued without missing or repeated
// records.
func testScan(t *testing.T, sub Subject) {
	s := sub.Store
	const many = 1500
	var c store.Change
	for n := range many {
		r := record("ask", id(n))
		r.Open = n%3 == 0 || n < 700
		r.Unacked, r.Owner, r.Stream, r.To = n == 1000, "agent-1", "ses_1", []string{"ann"}
		if n%97 == 0 {
			r.Status, r.Owner, r.Agent, r.To = "expired", "agent-2", "Codex", nil
		}
		c.Put = append(c.Put, r)
	}
	mustCommit(t, s, c)
	yes, no := true, false
	for _, q := range []store.Query{
		{},
		{Status: "expired"},
		{Status: "none"},
		{Open: &no},
		{Unacked: true},
		{Open: &yes, For: "bob"},
		{Open: &yes, Agent: "Codex"},
		{Open: &yes, Owner: "agent-2", Status: "none"},
		{Owner: "agent-2"},
		{Stream: "ses_1", Status: "expired"},
		{Stream: "ses_1", Open: &no},
	} {
		for _, q.Newest = range []bool{false, true} {
			for _, q.Limit = range []int{0, 3} {
				q.Kind, q.Scan, q.After = "ask", 0, ""
				want := ids(mustListAll(t, s, q))
				for _, q.Scan = range []int{37, 100, 600, many + 1} {
					mustEqual(t, fmt.Sprintf("List %+v", q), ids(mustListAll(t, s, q)), want)
				}
			}
		}
	}
	_, err := s.List(t.Context(), store.Query{Kind: "ask", Status: "none", Scan: 100})
	if more := (*store.MoreError)(nil); !errors.As(err, &more) || more.After != id(99) {
		t.Errorf("List of none of the first 100 records: got %v, want a MoreError with the last of them", err)
	}
	if list, err := s.List(t.Context(), store.Query{Kind: "ask", Status: "none", Scan: many + 1}); err != nil ||
		len(list) > 0 {
		t.Errorf("List of none of all records: got %d and %v, want no record and no error", len(list), err)
	}
}

// mustListAll returns the records of all pages of a list.
func mustListAll(t *testing.T, s Store, q store.Query) (all []store.Record) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), q)
		more := (*store.MoreError)(nil)
		if err != nil && !errors.As(err, &more) {
			t.Fatalf("List %+v: got %v, want no error or a MoreError", q, err)
		}
		all = append(all, page...)
		before := q.After
		switch {
		case more != nil:
			q.After = more.After
		case len(page) == 0 || len(page) < store.AtMost(q.Limit):
			return all
		default:
			q.After = page[len(page)-1].ID
		}
		if before != "" && (before < q.After) == q.Newest {
			t.Fatalf("List %+v: continued at %s, after %s", q, q.After, before)
		}
	}
}

func testLimits(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range store.MaxList + 5 {
		r := record("ask", id(n))
		r.Due = noon
		c.Put = append(c.Put, r)
		c.Events = append(c.Events, event("ses_1", "asked"))
	}
	mustCommit(t, s, c)
	for limit, want := range map[int]int{
		0: store.MaxList, -1: store.MaxList, 1: 1, 999: 999, store.MaxList + 1: store.MaxList,
	} {
		due, err := s.Due(t.Context(), noon, limit)
		if err != nil || len(due) != want {
			t.Fatalf("Due of %d: got %d records and %v, want %d", limit, len(due), err, want)
		}
		for _, stream := range []string{"", "ses_1"} {
			events, err := s.History(t.Context(), stream, 0, limit)
			if err != nil || len(events) != want {
				t.Fatalf("History of %d: got %d events and %v, want %d", limit, len(events), err, want)
			}
		}
		for _, newest := range []bool{false, true} {
			q := store.Query{Kind: "ask", Limit: limit, Newest: newest}
			mustEqual(t, fmt.Sprintf("List of %d", limit), len(mustList(t, s, q)), want)
		}
	}
}

// testManyRecords checks lists after thousands of insertions and deletions in mixed order.
func testManyRecords(t *testing.T, sub Subject) {
	s := sub.Store
	const many = 3001 // a prime, so that steps of 1009 reach each number once
	var c, deletion store.Change
	remaining := []string{}
	for n := range many {
		r := record("ask", id(n*1009%many))
		r.Stream, r.Owner = "ses_1", "agent-1"
		// sorting by Due gives the same order as sorting by ID
		r.Due = noon.Add(time.Duration(n*1009%many) * time.Millisecond)
		c.Put = append(c.Put, r)
		if n%3 == 0 {
			deletion.Delete = append(deletion.Delete, ref(committed(r)))
		} else {
			remaining = append(remaining, r.ID)
		}
	}
	slices.Sort(remaining)
	mustCommit(t, s, c)
	mustCommit(t, s, deletion)
	yes := true
	for _, q := range []store.Query{{}, {Open: &yes}, {Stream: "ses_1"}, {Open: &yes, Owner: "agent-1"}} {
		for _, q.Newest = range []bool{false, true} {
			q.Kind = "ask"
			got := []string{}
			for page := mustList(t, s, q); len(page) > 0; page = mustList(t, s, q) {
				got = append(got, ids(page)...)
				q.After = got[len(got)-1]
			}
			if q.Newest {
				slices.Reverse(got)
			}
			mustEqual(t, fmt.Sprintf("pages of %+v", q), got, remaining)
			q.After = ""
		}
	}
	due, err := s.Due(t.Context(), noon.Add(time.Hour), 0)
	if err != nil {
		t.Fatalf("Due: got %v, want no error", err)
	}
	mustEqual(t, "due", ids(due), remaining[:store.MaxList])
}

// testDue checks that Due returns only records that are due, in order of Due, then ID, then Kind (F5).
func testDue(t *testing.T, sub Subject) {
	s := sub.Store
	at := func(kind, id string, ms int) store.Record {
		r := record(kind, id)
		r.Due = noon.Add(time.Duration(ms) * time.Millisecond)
		return r
	}
	never := record("ask", "ask_never")
	closed := at("ask", "ask_8", 3)
	closed.Open = false // Due also returns records that are not open, such as tokens
	mustCommit(t,
		s, put(at("ask", "ask_2", 5), at("ask", "ask_9", 1), never, at("token", "tok_1", 5), at("ask", "ask_1", 5),
			closed, at("ask", "ask_3", 6), at("token", "ask_1", 5)))
	due := func(before time.Time, n int) []string {
		t.Helper()
		records, err := s.Due(t.Context(), before, n)
		if err != nil {
			t.Fatalf("Due: got %v, want no error", err)
		}
		names := []string{}
		for _, r := range records {
			mustEqual(t, "a due record", r, mustRead(t, s, r.Kind, r.ID))
			names = append(names, r.Kind+" "+r.ID)
		}
		return names
	}
	want := []string{"ask ask_9", "ask ask_8", "ask ask_1", "token ask_1", "ask ask_2", "token tok_1", "ask ask_3"}
	ms := time.Millisecond
	mustEqual(t, "long after the last", due(noon.Add(time.Hour), 0), want)
	mustEqual(t, "before the first", due(noon, 0), []string{})
	mustEqual(t, "at the first", due(noon.Add(ms), 0), want[:1])
	mustEqual(t, "a moment before the fifth", due(noon.Add(5*ms-1), 0), want[:2])
	mustEqual(t, "a moment after the fifth", due(noon.Add(5*ms+1), 0), want[:6])
	mustEqual(t, "at most four", due(noon.Add(time.Hour), 4), want[:4])

	// A record whose Due is moved to a later time is no longer the first record.
	r := mustRead(t, s, "ask", "ask_9")
	r.Due = noon.Add(9 * ms)
	mustCommit(t, s, put(r))
	r = mustRead(t, s, "ask", "ask_8")
	r.Due = time.Time{}
	mustCommit(t, s, put(r))
	mustEqual(t, "after a change of Due", due(noon.Add(time.Hour), 0), append(want[2:], "ask ask_9"))
}
