package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/askback/askback/store"
)

// testNumbers checks that the numbers of events have no gap after concurrent commits, and that the events of
// each change have consecutive numbers (F2).
func testNumbers(t *testing.T, sub Subject) {
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
				c.Events = append(c.Events,
					event(fmt.Sprintf("ses_%d", (worker+k)%3), fmt.Sprintf("%d/%d/%d", worker, n, k)))
			}
			first, err := s.Commit(t.Context(), c)
			if err != nil {
				t.Errorf("Commit: got %v, want no error", err)
				return
			}
			if first <= last {
				t.Errorf("first Seq of a later change: got %d, want more than %d", first, last)
			}
			last = first
			mu.Lock()
			all = append(all, done{first, c.Events})
			mu.Unlock()
		}
	})
	events := allEvents(t, s, "")
	checkNumbers(t, events)
	total := 0
	for _, d := range all {
		for i, e := range d.events {
			if at := int(d.first) - 1 + i; at >= len(events) || events[at].Type != e.Type {
				t.Fatalf("event %s does not have the Seq %d that Commit returned", e.Type, d.first+int64(i))
			}
			total++
		}
	}
	mustEqual(t, "number of events", len(events), total)
}

func testPages(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 30 {
		c.Events = append(c.Events, event(fmt.Sprintf("ses_%d", n%3), fmt.Sprint(n)))
	}
	mustCommit(t, s, c)
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
	mustEqual(t, "all streams, after 27", page("", 27, 10), []int64{28, 29, 30})
	mustEqual(t, "all streams, the first three", page("", 0, 3), []int64{1, 2, 3})
	mustEqual(t, "one stream", page("ses_1", 0, 3), []int64{2, 5, 8})
	mustEqual(t, "one stream, after one of its events", page("ses_1", 8, 2), []int64{11, 14})
	mustEqual(t, "one stream, after an event of another", page("ses_1", 9, 2), []int64{11, 14})
	mustEqual(t, "after the end", page("ses_1", 29, 2), []int64{})
	mustEqual(t, "far after the end", page("", 1<<60, 2), []int64{})
	mustEqual(t, "before the beginning", page("", -5, 2), []int64{1, 2})
	mustEqual(t, "a stream without events", page("ses_7", 0, 2), []int64{})
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
	mustEqual(t, "the newest", recent("ses_1", 0, 3), []int64{29, 26, 23})
	mustEqual(t, "before one of its events", recent("ses_1", 23, 2), []int64{20, 17})
	mustEqual(t, "before an event of another stream", recent("ses_1", 6, 5), []int64{5, 2})
	mustEqual(t, "before the first", recent("ses_1", 2, 5), []int64{})
	mustEqual(t, "the newest of a stream without events", recent("ses_7", 0, 5), []int64{})
}

// testPrune checks that pruned events are deleted, and that no Seq is used again (E9). The
// newest event of all streams remains, because the next Seq depends on it. A filter for a
// subject also keeps the newest event of its stream.
func testPrune(t *testing.T, sub Subject) {
	s := sub.Store
	head := func(what, stream string, seq, n int64) {
		t.Helper()
		gotSeq, gotN, err := s.Head(t.Context(), stream)
		if err != nil {
			t.Fatalf("Head: got %v, want no error", err)
		}
		mustEqual(t, "head of "+what, []int64{gotSeq, gotN}, []int64{seq, n})
	}
	seqs := func(stream string) []int64 {
		out := []int64{}
		for _, e := range allEvents(t, s, stream) {
			out = append(out, e.Seq)
		}
		return out
	}
	about := func(stream, subject string) store.Event {
		e := event(stream, "asked")
		e.Subject = subject
		return e
	}
	prune := func(f ...store.EventFilter) { mustCommit(t, s, store.Change{Prune: f}) }
	head("an empty store", "", 0, 0)
	head("a stream without events", "ses_1", 0, 0)
	mustCommit(t, s, store.Change{Events: []store.Event{
		about("ses_1", "ask_1"), about("ses_1", "ask_2"), about("ses_2", "ask_3"), about("ses_1", "ask_1"),
		about("ses_2", "ask_3"),
	}})
	head("all", "", 5, 0)
	head("a stream", "ses_1", 4, 3)

	prune(store.EventFilter{Stream: "ses_1", Subject: "ask_1"})
	mustEqual(t, "events of the stream, with its newest", seqs("ses_1"), []int64{2, 4})
	prune(store.EventFilter{Stream: "ses_1", Subject: "ask_2"}, store.EventFilter{Stream: "ses_7", Subject: "ask_2"},
		store.EventFilter{Stream: "ses_7"})
	mustEqual(t, "after pruning one subject", seqs("ses_1"), []int64{4})
	mustEqual(t, "events of another stream", seqs("ses_2"), []int64{3, 5})
	mustCommit(t, s, store.Change{Events: []store.Event{about("ses_1", "ask_4")}})
	head("a pruned stream", "ses_1", 6, 4)

	prune(store.EventFilter{Stream: "ses_1"}, store.EventFilter{Stream: "ses_2"})
	mustEqual(t, "the newest event of all streams", seqs(""), []int64{6})
	head("a deleted stream", "ses_2", 0, 0)
	mustCommit(t, s, store.Change{Events: []store.Event{about("ses_2", "ask_5")}})
	mustEqual(t, "with the next event", seqs(""), []int64{6, 7})
	head("a deleted stream that continues", "ses_2", 7, 1)
	mustCommit(t, s, store.Change{Events: []store.Event{
		about("ses_3", "ask_6"), about("ses_3", "ask_7"), about("ses_3", "ask_8"), about("ses_3", "ask_6"),
		about("ses_3", "ask_9"),
	}})
	prune(store.EventFilter{Stream: "ses_3", Subject: "ask_6"}, store.EventFilter{Stream: "ses_3", Subject: "ask_8"},
		store.EventFilter{Stream: "ses_3", Subject: "ask_0"})
	mustEqual(t, "after pruning two subjects", seqs("ses_3"), []int64{9, 12})
	mustCommit(t, s,
		store.Change{Events: []store.Event{about("ses_3", "ses_3"), about("ses_3", "ask_6"), about("ses_3", "ses_3")}})
	mustEqual(t, "an event about its stream", allEvents(t, s, "ses_3")[2].Subject, "ses_3")
	prune(store.EventFilter{Stream: "ses_3", Subject: "ses_3"})
	mustEqual(t, "after pruning what is about the stream", seqs("ses_3"), []int64{9, 12, 14, 15})
	_, err := s.Commit(t.Context(), store.Change{Prune: []store.EventFilter{{Subject: "ask_1"}}})
	if err == nil {
		t.Error("Commit of a filter without a stream: got no error")
	}
}

// testManyStreams checks the event numbers if there are more streams than a store caches.
func testManyStreams(t *testing.T, sub Subject) {
	s := sub.Store
	var c store.Change
	for n := range 10_000 {
		c.Events = append(c.Events, event(fmt.Sprintf("ses_%d", n), "started"))
	}
	mustCommit(t, s, c)
	mustCommit(t, s, c)
	checkNumbers(t, allEvents(t, s, ""))
}

// testVisibility checks that readers get an event only after all events with a smaller Seq.
func testVisibility(t *testing.T, sub Subject) {
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
					t.Errorf("got Seq %d after %d", e.Seq, last)
					return
				}
				last = e.Seq
			}
		}
	})
	parallel(writers, func(worker int) {
		for range each {
			if _, err := s.Commit(t.Context(),
				store.Change{Events: []store.Event{event("ses_1", "asked")}}); err != nil {
				t.Errorf("Commit: got %v, want no error", err)
			}
		}
	})
	wg.Wait()
}

// parallel calls run(0) to run(n-1) concurrently and returns when all calls have returned.
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
