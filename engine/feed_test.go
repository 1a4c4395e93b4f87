package engine_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A line of history is there before the cache hears of it: whoever reads in
// between is told the outcome all the same (F11).
func TestAFeedNeverTellsAnEndWithoutItsOutcome(t *testing.T) {
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

// A cursor ahead of the history belongs to another database, as after a backup
// was restored: the reader learns how things stand instead of missing what comes.
func TestACursorAheadOfTheHistoryBeginsAnew(t *testing.T) {
	cursor := func(asks int) (askback.Seat, askback.Cursor) {
		e := engine.New(memstore.New(), nil)
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		for range asks {
			if _, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Name?"}}}); err != nil {
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
