package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// panicStore is a store whose History panics.
type panicStore struct{ engine.Store }

func (panicStore) History(context.Context, string, int64, int) ([]store.Event, error) {
	panic("a bug in History")
}

// A panic on the goroutine that reads for a caller ends the call with an error. The panic is logged with its
// stack, and the process continues.
func TestPanicWhileReadingEndsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newFixture(t, &fakeStore{Store: panicStore{memstore.New()}}, &engine.Options{
			CacheBytes: 1, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		id := p.ask(question()).ID
		p.store.onRead(func(context.Context, string, string) (store.Record, error) { panic("a bug in Read") })
		wantPanic := func(what string, err error) {
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(log.String(), what) ||
				!strings.Contains(log.String(), "panic_test.go") {
				t.Errorf("got error %v and log %q, want %q in both and a stack", err, &log, what)
			}
		}
		_, err := p.agent.Wait(t.Context(), id)
		wantPanic("a bug in Read", err)
		p.store.onRead(nil)
		for ev, err := range p.ana.Events(t.Context(), "", "") {
			if ev.Type == askback.EventSnapshot {
				continue
			}
			wantPanic("a bug in History", err)
		}
		if n := strings.Count(log.String(), "a read panicked"); n != 2 {
			t.Errorf("%d panics were logged, want 2", n)
		}
	})
}
