package engine_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// E9: what was settled long ago is forgotten with its history; what is open is
// not, however old; and a reader that was away learns how things stand.
func TestWhatWasSettledLongAgoIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memstore.New()
		e := engine.New(kept, &engine.Options{Settings: engine.Settings{Retention: 90 * 24 * time.Hour}})
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		ctx := t.Context()
		go func() { _ = e.Run(ctx) }()
		ask := func(key string) askback.Ask {
			t.Helper()
			a, err := agent.Ask(ctx, askback.Request{Questions: []askback.Question{{Text: "Name?"}}, SessionKey: key})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		answer := func(a askback.Ask) {
			t.Helper()
			if _, err := ana.Answer(ctx, a.ID, askback.Choose("x")); err != nil {
				t.Fatal(err)
			}
		}
		settled, open, inRun, late := ask(""), ask(""), ask("run"), ask("")
		answer(settled)
		answer(inRun)
		var before askback.Cursor
		for ev, err := range ana.Events(ctx, "", "") {
			if err != nil {
				t.Fatal(err)
			}
			before = ev.Cursor
			break
		}
		if _, err := agent.Tell(ctx, inRun.SessionID, askback.Complete{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(89 * 24 * time.Hour)
		synctest.Wait()
		answer(late)
		if _, err := ana.Get(ctx, settled.ID); err != nil {
			t.Errorf("after 89 days: got %v, want the ask", err)
		}
		<-time.After(2 * 24 * time.Hour)
		synctest.Wait()
		for _, gone := range []askback.Ask{settled, inRun} {
			if _, err := ana.Get(ctx, gone.ID); !errors.Is(err, askback.ErrNotFound) {
				t.Errorf("after 91 days: got %v, want it forgotten", err)
			}
			lines, err := kept.History(ctx, gone.SessionID, 0, 10)
			if err != nil || len(lines) > 0 {
				t.Errorf("after 91 days: got lines %v, %v, want none", lines, err)
			}
		}
		if _, err := ana.Session(ctx, inRun.SessionID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("the session: got %v, want it forgotten", err)
		}
		for _, stays := range []askback.Ask{open, late} {
			if _, err := ana.Get(ctx, stays.ID); err != nil {
				t.Errorf("after 91 days: got %v, want the ask", err)
			}
		}
		for ev, err := range ana.Events(ctx, "", before) {
			if err != nil || ev.Type != "snapshot" {
				t.Errorf("a cursor of lines that are gone: got %s, %v, want a snapshot", ev.Type, err)
			}
			break
		}
		page, err := ana.List(ctx, askback.Query{Status: askback.AnyStatus})
		if err != nil || !slices.ContainsFunc(page.Items, func(a askback.Ask) bool { return a.ID == open.ID }) {
			t.Errorf("got %v, %v, want the open ask in the list", page.Items, err)
		}
	})
}
