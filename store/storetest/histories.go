package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/askback/askback/store"
)

// numbering checks that with concurrent commits the numbers have no gap, and the events
// of each change have consecutive numbers (F2).
func numbering(t *testing.T, sub Subject) {
	s := sub.Store
	type done struct {
		first  int64
		events []store.Event
	}
	var mu sync.Mutex
	var all []done
	parallel(8, func(worker int) {
		last := int64(0)
		for n := range 25 {
			c := put(record("ask", fmt.Sprintf("ask_%d_%d", worker, n)))
			for k := range 1 + (worker+n)%3 {
				c.Events = append(c.Events, event(fmt.Sprintf("ses_%d", (worker+k)%3), fmt.Sprintf("%d/%d/%d", worker, n, k)))
			}
			first, err := s.Commit(t.Context(), c)
			if err != nil {
				t.Errorf("Commit: got %v, want no error", err)
				return
			}
			if first <= last {
				t.Errorf("a later change was numbered %d after %d", first, last)
			}
			last = first
			mu.Lock()
			all = append(all, done{first, c.Events})
			mu.Unlock()
		}
	})
	events := history(t, s, "")
	gapless(t, events)
	total := 0
	for _, d := range all {
		for i, e := range d.events {
			if at := int(d.first) - 1 + i; at >= len(events) || events[at].Type != e.Type {
				t.Fatalf("event %s is not where Commit said, at %d", e.Type, d.first+int64(i))
			}
			total++
		}
	}
	same(t, "events in all", len(events), total)
}

func paging(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 30 {
		c.Events = append(c.Events, event(fmt.Sprintf("ses_%d", n%3), fmt.Sprint(n)))
	}
	keep(t, s, c)
	page := func(stream string, after int64, limit int) []int64 {
		t.Helper()
		events, err := s.History(t.Context(), stream, after, limit)
		if err != nil {
			t.Fatalf("History: got %v, want no error", err)
		}
		seqs := []int64{}
		for _, e := range events {
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	same(t, "all, from a number", page("", 27, 10), []int64{28, 29, 30})
	same(t, "all, a few", page("", 0, 3), []int64{1, 2, 3})
	same(t, "one stream", page("ses_1", 0, 3), []int64{2, 5, 8})
	same(t, "one stream, on from its own", page("ses_1", 8, 2), []int64{11, 14})
	same(t, "one stream, on from another's", page("ses_1", 9, 2), []int64{11, 14})
	same(t, "after the end", page("ses_1", 29, 2), []int64{})
	same(t, "far after the end", page("", 1<<60, 2), []int64{})
	same(t, "before the beginning", page("", -5, 2), []int64{1, 2})
	same(t, "a stream that is not", page("ses_7", 0, 2), []int64{})
	recent := func(stream string, before int64, limit int) []int64 {
		t.Helper()
		events, err := s.Recent(t.Context(), stream, before, limit)
		if err != nil {
			t.Fatalf("Recent: got %v, want no error", err)
		}
		seqs := []int64{}
		for _, e := range events {
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	same(t, "the newest", recent("ses_1", 0, 3), []int64{29, 26, 23})
	same(t, "on from its own", recent("ses_1", 23, 2), []int64{20, 17})
	same(t, "on from another's", recent("ses_1", 6, 5), []int64{5, 2})
	same(t, "before the first", recent("ses_1", 2, 5), []int64{})
	same(t, "the newest of a stream that is not", recent("ses_7", 0, 5), []int64{})
}

// cleaning checks that deleted events are gone, and that no number is used again (E9).
func cleaning(t *testing.T, sub Subject) {
	s := sub.Store
	head := func(what, stream string, seq, n int64) {
		t.Helper()
		gotSeq, gotN, err := s.Head(t.Context(), stream)
		if err != nil {
			t.Fatalf("Head: got %v, want no error", err)
		}
		same(t, "head of "+what, []int64{gotSeq, gotN}, []int64{seq, n})
	}
	seqs := func(stream string) []int64 {
		out := []int64{}
		for _, e := range history(t, s, stream) {
			out = append(out, e.Seq)
		}
		return out
	}
	about := func(stream, subject string) store.Event {
		e := event(stream, "said")
		e.Subject = subject
		return e
	}
	clean := func(f ...store.EventFilter) { keep(t, s, store.Change{Prune: f}) }
	head("nothing", "", 0, 0)
	head("no stream", "ses_1", 0, 0)
	keep(t, s, store.Change{Events: []store.Event{
		about("ses_1", "ask_1"), about("ses_1", "ask_2"), about("ses_2", "ask_3"), about("ses_1", "ask_1"), about("ses_2", "ask_3"),
	}})
	head("all", "", 5, 0)
	head("a stream", "ses_1", 4, 3)

	clean(store.EventFilter{Stream: "ses_1", Subject: "ask_1"})
	same(t, "the newest line of a stream stays", seqs("ses_1"), []int64{2, 4})
	clean(store.EventFilter{Stream: "ses_1", Subject: "ask_2"}, store.EventFilter{Stream: "ses_7", Subject: "ask_2"}, store.EventFilter{Stream: "ses_7"})
	same(t, "one subject", seqs("ses_1"), []int64{4})
	same(t, "other streams stay", seqs("ses_2"), []int64{3, 5})
	keep(t, s, store.Change{Events: []store.Event{about("ses_1", "ask_4")}})
	head("a stream that was cleaned", "ses_1", 6, 4)

	clean(store.EventFilter{Stream: "ses_1"}, store.EventFilter{Stream: "ses_2"})
	same(t, "the newest line of all stays", seqs(""), []int64{6})
	head("a stream that is gone", "ses_2", 0, 0)
	keep(t, s, store.Change{Events: []store.Event{about("ses_2", "ask_5")}})
	same(t, "what comes next", seqs(""), []int64{6, 7})
	keep(t, s, store.Change{Events: []store.Event{
		about("ses_3", "ask_6"), about("ses_3", "ask_7"), about("ses_3", "ask_8"), about("ses_3", "ask_6"), about("ses_3", "ask_9"),
	}})
	clean(store.EventFilter{Stream: "ses_3", Subject: "ask_6"}, store.EventFilter{Stream: "ses_3", Subject: "ask_8"}, store.EventFilter{Stream: "ses_3", Subject: "ask_0"})
	same(t, "several subjects of one stream", seqs("ses_3"), []int64{9, 12})
	_, err := s.Commit(t.Context(), store.Change{Prune: []store.EventFilter{{Subject: "ask_1"}}})
	if err == nil {
		t.Errorf("lines of no stream: got no error")
	}
}

// manyStreams uses more streams than a store caches.
func manyStreams(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 10_000 {
		c.Events = append(c.Events, event(fmt.Sprintf("ses_%d", n), "started"))
	}
	keep(t, s, c)
	keep(t, s, c)
	gapless(t, history(t, s, ""))
}

// tailing checks that a reader never reads a number before all smaller ones are visible.
func tailing(t *testing.T, sub Subject) {
	s := sub.Store
	const writers, each = 6, 25
	var wg sync.WaitGroup
	wg.Go(func() {
		last := int64(0)
		for last < writers*each {
			events, err := s.History(t.Context(), "", last, 7)
			if err != nil {
				t.Errorf("History: got %v, want no error", err)
				return
			}
			for _, e := range events {
				if e.Seq != last+1 {
					t.Errorf("followed: got %d after %d", e.Seq, last)
					return
				}
				last = e.Seq
			}
		}
	})
	parallel(writers, func(worker int) {
		for range each {
			if _, err := s.Commit(t.Context(), store.Change{Events: []store.Event{event("ses_1", "said")}}); err != nil {
				t.Errorf("Commit: got %v, want no error", err)
			}
		}
	})
	wg.Wait()
}

// parallel calls run in n goroutines and waits for them.
func parallel(n int, run func(worker int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for worker := range n {
		wg.Go(func() {
			<-start
			run(worker)
		})
	}
	close(start)
	wg.Wait()
}
