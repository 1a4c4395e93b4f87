package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// The history of a long session has only the newest events, and reports that there are more. Only a principal
// that may follow the session gets the history (A5, T20).
func TestSessionHistoryReturnsTheNewestEvents(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	bot, ana := askback.Principal{Kind: askback.Agent, Name: "bot"}, askback.Principal{
		Kind: askback.Responder, Name: "ana",
	}
	one, err := e.As(bot).Start(t.Context(), askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	report := func(text string) {
		t.Helper()
		if _, err := e.As(bot).Send(t.Context(), one.ID, askback.Report{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 { // more events than one read returns
		report(fmt.Sprint(i))
	}
	read := func() []askback.Event {
		t.Helper()
		events, more, err := e.Reports(ana).SessionHistory(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, ev := range events {
			if i > 0 && ev.Seq != events[i-1].Seq+1 {
				t.Fatalf("event %d follows %d", ev.Seq, events[i-1].Seq)
			}
		}
		if more != (events[0].Seq > 1) {
			t.Errorf("more is %t, and the first event is %d", more, events[0].Seq)
		}
		return events
	}
	if events := read(); len(events) != 41 || !strings.Contains(string(events[40].Data), `"39"`) {
		t.Errorf("got %d events, want the start and 40 messages", len(events))
	}
	for range 1000 {
		report("short")
	}
	if events := read(); len(events) != 1000 {
		t.Errorf("got %d short events, want 1000", len(events))
	}
	for range 12 {
		report(strings.Repeat("x", limits.MaxMessage))
	}
	if events := read(); len(events) < 5 || len(events) > 12 {
		t.Errorf("got %d long events, want about 2 MB of them", len(events))
	}
	if _, _, err := e.Reports(askback.Principal{Kind: askback.Agent, Name: "other"}).SessionHistory(t.Context(),
		one.ID); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("another agent gets %v", err)
	}
}

// A clean-up deletes the events of an ask from the middle of a stream. The history has the other events
// (F13).
func TestSessionHistoryOmitsDeletedEvents(t *testing.T) {
	kept := memstore.New()
	e := engine.New(kept, nil)
	bot, ana := askback.Principal{Kind: askback.Agent, Name: "bot"}, askback.Principal{
		Kind: askback.Responder, Name: "ana",
	}
	a, err := e.As(bot).Ask(t.Context(),
		askback.Request{SessionKey: "run", Questions: []askback.Question{{Text: "Name?"}}})
	if err == nil {
		_, err = e.As(ana).Answer(t.Context(), a.ID, askback.Choose("x"))
	}
	if err == nil {
		_, err = e.As(bot).Send(t.Context(), a.SessionID, askback.Report{Text: "thanks"})
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := kept.Read(t.Context(), "ask", a.ID)
	if err == nil {
		_, err = kept.Commit(t.Context(), store.Change{
			Delete: []store.Ref{{Kind: r.Kind, ID: r.ID, Version: r.Version}},
			Prune:  []store.EventFilter{{Stream: a.SessionID, Subject: a.ID}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	events, _, err := e.Reports(ana).SessionHistory(t.Context(), a.SessionID)
	if err != nil || len(events) < 2 || events[0].Type != askback.EventSessionStarted ||
		events[len(events)-1].Type != askback.EventMessage {
		t.Errorf("got %d events, %v; want the events of the session and its message", len(events), err)
	}
	for _, ev := range events {
		if strings.HasPrefix(string(ev.Type), "question_") {
			t.Errorf("the deleted event %s is there", ev.Type)
		}
	}
}
