package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// History is committed before the cache is updated. A reader that gets the event before the update of the
// cache still gets the outcome with it (F11).
func TestSettledEventAlwaysHasOutcome(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	ctx, stop := context.WithCancel(t.Context())
	const asks = 500
	begun, ended := make(chan bool), make(chan int)
	for range 2 {
		go func() {
			n := 0
			for ev, err := range ana.Events(ctx, "", "") {
				if err != nil {
					break
				}
				if ev.Type == "snapshot" {
					begun <- true
				}
				if ev.Type != "question_answered" {
					continue
				}
				if !containsOutcome(ev) {
					t.Errorf("got %s, want its outcome", ev.Data)
				}
				if n++; n == asks {
					break
				}
			}
			ended <- n
		}()
	}
	<-begun
	<-begun
	var group sync.WaitGroup
	for range asks {
		group.Go(func() {
			a, err := agent.Ask(ctx, askback.Request{Questions: []askback.Question{{Text: "Name?"}}})
			if err == nil {
				_, err = ana.Answer(ctx, a.ID, askback.Choose("x"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for range 2 {
		<-ended
	}
	stop()
}

func containsOutcome(ev askback.Event) bool {
	var data struct{ Outcome *askback.Outcome }
	return json.Unmarshal(ev.Data, &data) == nil && data.Outcome != nil && data.Outcome.Status == askback.Answered
}

// If a backup is restored, older cursors may be after the end of the history. A reader with such a cursor
// gets a snapshot, so that the reader misses no new event.
func TestCursorAheadOfHistoryYieldsSnapshot(t *testing.T) {
	cursor := func(asks int) (askback.Client, askback.Cursor) {
		e := engine.New(memstore.New(), nil)
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		for range asks {
			if _, err := agent.Ask(t.Context(),
				askback.Request{Questions: []askback.Question{{Text: "Name?"}}}); err != nil {
				t.Fatal(err)
			}
		}
		ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		for ev, err := range ana.Events(t.Context(), "", "") {
			if err != nil {
				t.Fatal(err)
			}
			return ana, ev.Cursor
		}
		return ana, ""
	}
	_, late := cursor(5)
	restored, _ := cursor(2)
	for ev, err := range restored.Events(t.Context(), "", late) {
		if err != nil || ev.Type != "snapshot" {
			t.Errorf("got %s, %v, want a snapshot", ev.Type, err)
		}
		break
	}
}

// newCleanedStream returns a session in which an ask was settled and then deleted while
// the session continued. Events 2 and 4 of its stream are missing.
func newCleanedStream(t *testing.T) (ana askback.Client, run string, cursors map[int64]askback.Cursor) {
	t.Helper()
	kept := memstore.New()
	e := engine.New(kept, nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana = e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	one, err := agent.Start(t.Context(), askback.SessionRequest{Title: "run"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Name?"}}, SessionID: one.ID})
	if err == nil {
		_, err = ana.Answer(t.Context(), a.ID, askback.Choose("x"))
	}
	if err == nil {
		_, err = agent.Send(t.Context(), one.ID, askback.Report{Text: "thanks"})
	}
	if err != nil {
		t.Fatal(err)
	}
	cursors = map[int64]askback.Cursor{}
	for ev, err := range ana.Events(t.Context(), one.ID, firstCursor) {
		if err != nil {
			t.Fatal(err)
		}
		if cursors[ev.Seq] = ev.Cursor; ev.Type == "message" {
			break
		}
	}
	r, err := kept.Read(t.Context(), "ask", a.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = kept.Commit(t.Context(), store.Change{
		Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}},
		Prune:  []store.EventFilter{{Stream: one.ID, Subject: a.ID}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return ana, one.ID, cursors
}

// firstCursor is the cursor before the first event of any stream.
const firstCursor = "MC4w" // 0.0

// A clean-up may delete any events of a stream. A reader gets a snapshot in place of missing events, and
// never a stream with a gap (F11).
func TestSnapshotReplacesDeletedEvents(t *testing.T) {
	ana, run, cursors := newCleanedStream(t)
	if len(cursors) < 5 {
		t.Fatalf("got cursors %v, want the cursors of an ask, an answer and a message", cursors)
	}
	for seq, cursor := range cursors {
		if seq >= 4 {
			continue // no event after this cursor is missing
		}
		for name, session := range map[string]string{"of the session": run, "of all": ""} {
			var got []string
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // these events exist already
			for ev, err := range ana.Events(ctx, session, cursor) {
				if err != nil {
					break
				}
				if got = append(got, string(ev.Type)); ev.Type == "snapshot" || ev.Type == "message" {
					break
				}
			}
			cancel()
			want := []string{"snapshot"}
			if seq == 2 {
				want = []string{"state_change", "snapshot"} // event 3 still exists
			}
			if !slices.Equal(got, want) {
				t.Errorf("events %s after line %d: got %q, want %q", name, seq, got, want)
			}
		}
	}
}

// A snapshot and a stored event have the characters <, > and & as they were sent.
func TestEventsAreNotHTMLEscaped(t *testing.T) {
	kept := memstore.New()
	e := engine.New(kept, nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	a, err := agent.Ask(t.Context(),
		askback.Request{Title: "a < b && c", Questions: []askback.Question{{Text: "Name?"}}, SessionKey: "<run>"})
	if err == nil {
		_, err = agent.Send(t.Context(), a.SessionID, askback.Report{Text: "1 < 2"})
	}
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range ana.Events(t.Context(), "", "") {
		if err != nil || !strings.Contains(string(ev.Data), "a < b && c") {
			t.Errorf("got the snapshot %s, %v, want the title as it was sent", ev.Data, err)
		}
		break
	}
	lines, err := kept.History(t.Context(), a.SessionID, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	if said := lines[len(lines)-1]; !strings.Contains(string(said.Data), "1 < 2") {
		t.Errorf("got the line %s, want the text as it was sent", said.Data)
	}
}
