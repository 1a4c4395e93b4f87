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

// New limits for open asks and for asks per minute apply immediately to a running engine (E13).
func TestSettingsTakeEffectImmediately(t *testing.T) {
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

// If an agent asks too often, the error contains the exact time until the next ask is accepted.
func TestRateLimitReturnsTimeOfNextAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(memstore.New(), nil)
		e.Set(engine.Settings{AsksPerMinute: 2})
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		ask := func() error {
			_, err := agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Name?"}}})
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Second)
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		refused, ok := errors.AsType[*askback.RetryError](ask())
		if !ok || refused.After != 40*time.Second {
			t.Fatalf("got %+v, want 40 s", refused)
		}
		<-time.After(refused.After - time.Millisecond)
		if err := ask(); !errors.Is(err, askback.ErrTooFast) {
			t.Errorf("a millisecond before: got %v", err)
		}
		<-time.After(time.Millisecond)
		if err := ask(); err != nil {
			t.Errorf("when it was said: %v", err)
		}
	})
}
