package claudehook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/hook"
)

// sweeper returns a sweeper that finds waiting calls in the engine. If *blind is true, it finds
// none.
func (f *fixture) sweeper(blind *bool) *hook.Sweeper {
	everyone := f.engine.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	return &hook.Sweeper{
		List: everyone.List,
		Client: func(name string) hook.Client {
			return f.engine.As(askback.Principal{Kind: askback.Agent, Name: name})
		},
		Awaited: func(id string) bool { return !*blind && f.engine.Awaited(id) },
	}
}

func (f *fixture) sweep(s *hook.Sweeper) {
	f.t.Helper()
	if err := s.Sweep(f.t.Context(), time.Now()); err != nil {
		f.t.Error(err)
	}
}

// ask makes the ask of an event without a waiting hook, as if the hook had been killed.
func (f *fixture) ask(ev claudehook.Event) {
	f.t.Helper()
	<-time.After(time.Second)
	request, ok := claudehook.Request(ev)
	if !ok {
		f.t.Fatalf("%+v has no request", ev)
	}
	if _, err := f.client().Ask(f.t.Context(), request); err != nil {
		f.t.Fatal(err)
	}
}

// An ask for which no call waits is withdrawn after a while, unless a resumed session
// will wait for it. A person who waits for the ask makes no difference.
func TestAskOfEndedHookIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := newFixture(t), false
		s := f.sweeper(&blind)
		leave, _ := f.start(event(t, runBash)) // waits
		f.ask(event(t, askDB))
		r, _ := claudehook.Request(event(t, runBash))
		r.Agent, r.Key, r.Context = hook.Codex, "codex:1", hook.Origin{Hook: "PreToolUse", Session: "s1", Seated: true}.JSON()
		if _, err := f.client().Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		f.ask(headless(t, askDB))
		f.ask(claudehook.Event{Name: claudehook.PreToolUse, SessionID: "s1", ToolUseID: "toolu_2", Tool: "Bash", Input: []byte(`{"command":"ls"}`)})
		asks := f.wantAsks("nothing was swept", askback.Pending, askback.Pending, askback.Pending, askback.Pending, askback.Pending)
		looking, stop := context.WithCancel(t.Context())
		go func() {
			_, _ = f.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Wait(looking, asks[1].ID)
		}()
		synctest.Wait()
		for range 3 { // at 0, 10 and 20 seconds
			f.sweep(s)
			<-time.After(10 * time.Second)
		}
		f.wantAsks("a connection may come back", askback.Pending, askback.Pending, askback.Pending, askback.Pending, askback.Pending)
		f.sweep(s)
		asks = f.wantAsks("it did not", askback.Pending, askback.Cancelled, askback.Cancelled, askback.Pending, askback.Cancelled)
		if o := asks[1].Outcome; o.Actor.Name != "bot" || !strings.Contains(o.Reason, "has ended") {
			t.Errorf("got %+v, want it withdrawn for its agent, with the reason", o)
		}
		stop()
		leave()
	})
}

// If a hook reconnects, the grace period of its ask starts again.
func TestReconnectingRestartsGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := newFixture(t), false
		s := f.sweeper(&blind)
		f.ask(event(t, runBash))
		f.sweep(s)
		<-time.After(20 * time.Second)
		leave, _ := f.start(event(t, runBash))
		f.sweep(s)
		<-time.After(20 * time.Second)
		f.sweep(s)
		f.wantAsks("the hook is back", askback.Pending)
		leave()
	})
}

// A hook whose ask was withdrawn too early asks again, and gets the answer to the new ask.
func TestHookAsksAgainAfterEarlyWithdrawal(t *testing.T) {
	gate := event(t, strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1))
	for name, ev := range map[string]claudehook.Event{"a permission": event(t, runBash), "a PreToolUse": gate} {
		synctest.Test(t, func(t *testing.T) {
			f, blind := newFixture(t), true
			s := f.sweeper(&blind)
			_, replies := f.start(ev)
			f.sweep(s)
			<-time.After(30 * time.Second)
			f.sweep(s)
			asks := f.wantAsks(name, askback.Cancelled, askback.Pending)
			if _, err := f.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), asks[1].ID, askback.Answer{Decision: askback.Approve}); err != nil {
				t.Fatal(err)
			}
			wantOutput(t, <-replies, nil, `allow`)
		})
	}
}

// failingCanceller is a client that cannot withdraw asks.
type failingCanceller struct{ hook.Client }

var errFull = errors.New("disk full")

func (failingCanceller) Cancel(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, errFull
}

// A failed withdrawal is an error, and is tried again.
func TestFailedWithdrawalIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := newFixture(t), true
		s := f.sweeper(&blind)
		works := s.Client
		s.Client = func(name string) hook.Client { return failingCanceller{works(name)} }
		f.ask(event(t, runBash))
		f.sweep(s)
		<-time.After(time.Minute)
		if err := s.Sweep(t.Context(), time.Now()); !errors.Is(err, errFull) {
			t.Errorf("Sweep: got %v, want %v", err, errFull)
		}
		s.Client = works
		f.sweep(s)
		<-time.After(time.Minute)
		f.sweep(s)
		f.wantAsks("withdrawn in the end", askback.Cancelled)
	})
}

// A long pause follows a slow sweep.
func TestSlowSweepsAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read time.Duration
		s := &hook.Sweeper{List: func(context.Context, askback.Query) (askback.Page, error) {
			<-time.After(2 * time.Second)
			read += 2 * time.Second
			return askback.Page{}, nil
		}}
		begun := time.Now()
		for time.Since(begun) < time.Hour {
			if err := s.Sweep(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
		}
		if read < time.Minute || read > 3*time.Minute {
			t.Errorf("in an hour, %v went into reading asks, want about two minutes", read)
		}
	})
}
