package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// E13: what can be changed while it runs holds at once, for all of it.
func TestSettingsHoldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(memstore.New(), &engine.Options{MaxOpen: 100})
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		ask := func(want error) {
			t.Helper()
			_, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Name?"}}})
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		ask(nil)
		e.Set(engine.Settings{AsksPerMinute: 2})
		ask(nil)
		ask(nil)
		ask(askback.ErrTooFast)
		<-time.After(time.Minute)
		ask(nil)
		e.Set(engine.Settings{MaxOpen: 4})
		ask(askback.ErrTooMany)
		e.Set(engine.Settings{})
		ask(nil)
	})
}
