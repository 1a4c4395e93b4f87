package main

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// The engine reads every ask and session of a dataset, and the store finds no damage.
func TestDatasetIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dataset.db")
	d := dataset{pending: 300, settled: 1200}
	if err := d.write(t.Context(), path, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := openEngine(t.Context(), path, serverOptions())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	ann := p.engine.As(askback.Principal{Kind: askback.Responder, Name: answerer.Name})
	for q := (askback.Query{Status: askback.AnyStatus, Limit: askback.MaxLimit}); ; {
		page, err := ann.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			counts[string(a.Status)]++
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	sessions, err := ann.Sessions(t.Context(), askback.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions.Items {
		counts[string(s.Status)]++
	}
	want := map[string]int{
		"pending":  270, // 30 asks are addressed to other people
		"answered": 1170, "declined": 30, "waiting_for_input": 18, "completed": 12,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("asks and sessions, by status: got + want -\n%s", diff)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if v, err := sqlite.Verify(t.Context(), path); err != nil || v.Damaged+v.Without > 0 {
		t.Errorf("Verify: got %+v, %v, want no damage", v, err)
	}
}

// Two datasets with the same description are equal.
func TestDatasetIsDeterministic(t *testing.T) {
	generate := func() (all []store.Change) {
		changes, failed := make(chan store.Change, 100), make(chan error, 1)
		go func() {
			defer close(changes)
			failed <- dataset{pending: 100, settled: 600}.generate(context.Background(), changes)
		}()
		for c := range changes {
			all = append(all, c)
		}
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := generate()
	if diff := cmp.Diff(first, generate()); diff != "" {
		t.Error(diff)
	}
	var asks int
	events := map[string]int{} // by subject
	for _, c := range first {
		for _, e := range c.Events {
			events[e.Subject]++
		}
	}
	for _, c := range first {
		for _, r := range c.Put {
			if r.Kind == "ask" {
				asks++
			}
			if events[r.ID] == 0 {
				t.Errorf("%s has no events", r.ID)
			}
		}
	}
	if asks != 700 || len(first) != 2 {
		t.Errorf("got %d asks in %d changes, want 700 in 2", asks, len(first))
	}
}

// Scale prints lines for cycles, for reads and for the clean-up. It deletes all databases except the database
// to keep.
func TestScalePrintsAllFigures(t *testing.T) {
	var out, notes strings.Builder
	dir := t.TempDir()
	kept := filepath.Join(t.TempDir(), "large.db")
	args := "-only scale -pending 300 -settled 900 -dur 50ms -rounds 1 -c 2 -json -dir " + dir + " -data " + kept
	for range 2 { // the second run uses the database of the first
		out.Reset()
		if err := run(t.Context(), strings.Fields(args), &out, &notes); err != nil {
			t.Fatal(err)
		}
		figures := map[string]bool{}
		for lines := json.NewDecoder(strings.NewReader(out.String())); lines.More(); {
			var l scaleLine
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
			if l.Value.Median <= 0 || l.Pending != 300 || l.Settled != 900 {
				t.Errorf("got %+v", l)
			}
			figures[l.Figure] = true
		}
		for _, want := range []string{
			"time of a cycle, in process, 2 runs, of empty", "start and first page", "inbox, first page", "clean-up",
		} {
			if !figures[want] {
				t.Errorf("no figure %q in %s", want, out.String())
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if !strings.Contains(notes.String(), "time of a cycle") {
		t.Errorf("no table in %q", notes.String())
	}
}
