package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/askback/askback/store"
)

// testSubjects checks that the records of events are listed in the order of the events, newest first. Pages
// by Limit and by Scan must not miss or repeat records.
func testSubjects(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	about := func(stream, subject, what string) {
		e := event(stream, what)
		e.Subject = subject
		c.Events = append(c.Events, e)
	}
	for n := range 30 {
		r := record("ask", id(n))
		r.Stream, r.Status, r.Open = fmt.Sprintf("ses_%d", n%2), []string{"answered", "declined"}[n/2%2], n == 7
		r.Agent, r.Owner, r.To = []string{
			"Claude", "Codex",
		}[n%3%2], []string{"agent-1", "agent-2"}[n%5%2], [][]string{nil, {"ann"}, {"bob"}}[n%3]
		if n == 9 {
			r.Kind = "session"
		}
		if n == 12 {
			r.Stream = r.ID // the events of this record are about their stream
		}
		if c.Put = append(c.Put, r); n != 11 {
			about(r.Stream, r.ID, "asked")
		}
	}
	order := []int{4, 2, 27, 9, 0, 12, 29, 3, 8, 25, 14, 5, 7, 21, 6, 18} // the order in which the records are settled
	for _, n := range order {
		about(c.Put[n].Stream, c.Put[n].ID, c.Put[n].Status)
		about(c.Put[n].Stream, c.Put[n].ID, "acked")
	}
	about("ses_0", id(99), "answered") // the record does not exist
	mustCommit(t, s, c)
	slices.Reverse(order)
	settled := []string{"answered", "declined"}
	for _, q := range []store.SubjectQuery{
		{Types: settled},
		{Types: settled[1:]},
		{Types: settled, Query: store.Query{Status: "answered"}},
		{Types: settled, Query: store.Query{Stream: "ses_1"}},
		{Types: settled, Query: store.Query{Stream: "ses_7"}},
		{Types: settled, Query: store.Query{Agent: "Codex"}},
		{Types: settled, Query: store.Query{Owner: "agent-2", Open: new(false)}},
		{Types: settled, Query: store.Query{For: "ann"}},
		{Types: []string{"none"}},
	} {
		q.Kind = "ask"
		want := []string{}
		for _, n := range order {
			if r := c.Put[n]; slices.Contains(q.Types, r.Status) && len(filter([]store.Record{r}, q.Query)) > 0 {
				want = append(want, r.ID)
			}
		}
		for _, limit := range []int{0, 1, 4} {
			for _, scan := range []int{0, 3, 1000} {
				q.Limit, q.Scan = limit, scan
				mustEqual(t, fmt.Sprintf("Subjects %+v", q), mustSubjects(t, s, q), want)
			}
		}
	}
	all, _, err := s.Subjects(t.Context(), store.SubjectQuery{Query: store.Query{Kind: "ask"}, Types: settled})
	if err != nil || len(all) < 5 {
		t.Fatalf("Subjects: got %d records, %v", len(all), err)
	}
	mustEqual(t, "the first record", all[0].Record, committed(c.Put[order[0]]))
	part := store.SubjectQuery{Query: store.Query{Kind: "ask"}, Types: settled, Since: all[3].Seq, Before: all[1].Seq}
	mustEqual(t, "a part of the history", mustSubjects(t, s, part), []string{all[2].ID, all[3].ID})
	if _, _, err := s.Subjects(t.Context(), store.SubjectQuery{Query: store.Query{Kind: "ask"}}); err == nil ||
		errors.Is(err, store.ErrClosed) {
		t.Errorf("Subjects without a type: got %v, want an error", err)
	}
}

// mustSubjects returns the ids on all pages of Subjects.
func mustSubjects(t *testing.T, s Store, q store.SubjectQuery) []string {
	t.Helper()
	out := []string{}
	for range 200 {
		page, before, err := s.Subjects(t.Context(), q)
		if err != nil {
			t.Fatalf("Subjects %+v: %v", q, err)
		}
		if len(page) > store.AtMost(q.Limit) {
			t.Fatalf("Subjects %+v: got %d records", q, len(page))
		}
		for _, one := range page {
			out = append(out, one.ID)
		}
		if before == 0 {
			return out
		}
		if q.Before != 0 && before >= q.Before {
			t.Fatalf("Subjects %+v: it continues with %d", q, before)
		}
		q.Before = before
	}
	t.Fatalf("Subjects %+v: the list does not end", q)
	return nil
}
