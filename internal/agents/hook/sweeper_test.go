package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// newSweeper returns a sweeper that gets the waiting calls from the engine. While *blind is true, it finds no
// waiting calls.
func newSweeper(f *hooktest.Fixture, blind *bool) *hook.Sweeper {
	everyone := f.Engine.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	return &hook.Sweeper{
		Programs: []string{"codex", "claude-code", "gemini"},
		List:     everyone.List,
		Client: func(name string) hook.Client {
			return f.Engine.As(askback.Principal{Kind: askback.Agent, Name: name})
		},
		Awaited: func(id string) bool { return !*blind && f.Engine.Awaited(id) },
	}
}

func sweep(t *testing.T, s *hook.Sweeper) {
	t.Helper()
	if err := s.Sweep(t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
}

// ask makes the ask of a call without a waiting hook, as if the hook had been killed.
func ask(t *testing.T, f *hooktest.Fixture, call hook.Call) {
	t.Helper()
	<-time.After(time.Second)
	if _, err := f.Client().Ask(t.Context(), call.Request); err != nil {
		t.Fatal(err)
	}
}

// An ask for which no call waits is withdrawn after a while, unless a resumed session will wait for it. A
// person who waits for the ask does not prevent this.
func TestAskOfEndedHookIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := hooktest.NewFixture(t), false
		s := newSweeper(f, &blind)
		leave, _ := start(f, newCall()) // waits
		killed, deferred := newCall(), deferrable()
		killed.Request.Key, deferred.Request.Key = "k2", "k3"
		ask(t, f, killed)
		ask(t, f, deferred)
		asks := f.WantAsks("nothing was swept", askback.Pending, askback.Pending, askback.Pending)
		looking, stop := context.WithCancel(t.Context())
		go func() {
			_, _ = f.Engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Wait(looking, asks[1].ID)
		}()
		synctest.Wait()
		for range 3 { // at 0, 10 and 20 seconds
			sweep(t, s)
			<-time.After(10 * time.Second)
		}
		f.WantAsks("a connection may come back", askback.Pending, askback.Pending, askback.Pending)
		sweep(t, s)
		asks = f.WantAsks("it did not", askback.Pending, askback.Cancelled, askback.Pending)
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
		f, blind := hooktest.NewFixture(t), false
		s := newSweeper(f, &blind)
		ask(t, f, newCall())
		sweep(t, s)
		<-time.After(20 * time.Second)
		leave, _ := start(f, newCall())
		sweep(t, s)
		<-time.After(20 * time.Second)
		sweep(t, s)
		f.WantAsks("the hook is back", askback.Pending)
		leave()
	})
}

// A hook whose ask was withdrawn too early makes a new ask, and gets the answer to the new ask.
func TestHookAsksAgainIfItsAskWasWithdrawnTooEarly(t *testing.T) {
	for _, unique := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, blind, call := hooktest.NewFixture(t), true, newCall()
			call.Unique = unique
			s := newSweeper(f, &blind)
			_, replies := start(f, call)
			sweep(t, s)
			<-time.After(30 * time.Second)
			sweep(t, s)
			f.Answer(f.WantAsks("withdrawn", askback.Cancelled, askback.Pending)[1],
				askback.Decide(askback.Approve, ""))
			wantOutput(t, <-replies, "allow")
		})
	}
}

// A failingCanceller is a client that cannot withdraw asks.
type failingCanceller struct{ hook.Client }

var errFull = errors.New("disk full")

func (failingCanceller) Cancel(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, errFull
}

// A failed withdrawal is an error, and is tried again.
func TestFailedWithdrawalIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := hooktest.NewFixture(t), true
		s := newSweeper(f, &blind)
		works := s.Client
		s.Client = func(name string) hook.Client { return failingCanceller{works(name)} }
		ask(t, f, newCall())
		sweep(t, s)
		<-time.After(time.Minute)
		if err := s.Sweep(t.Context(), time.Now()); !errors.Is(err, errFull) {
			t.Errorf("Sweep: got %v, want %v", err, errFull)
		}
		s.Client = works
		sweep(t, s)
		<-time.After(time.Minute)
		sweep(t, s)
		f.WantAsks("withdrawn in the end", askback.Cancelled)
	})
}

// A long pause follows a slow sweep.
func TestSlowSweepIsFollowedByALongPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read time.Duration
		s := &hook.Sweeper{
			Programs: []string{"codex", "claude-code", "gemini"},
			List: func(context.Context, askback.Query) (askback.Page, error) {
				<-time.After(2 * time.Second)
				read += 2 * time.Second
				return askback.Page{}, nil
			},
		}
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

// The asks of an agent behind an editor are recognised with any label.
func TestAskOfAnyAgentBehindAnEditorNeedsItsProxy(t *testing.T) {
	t.Parallel()
	for context, want := range map[string]bool{
		`{"hook":"session/request_permission","session":"s","seated":true}`: true,
		`{"hook":"elicitation/create","session":"s","seated":true}`:         true,
		`{"hook":"elicitation/create","session":"s"}`:                       false,
		`{"hook":"PreToolUse","session":"s","seated":true}`:                 false,
		`{}`: false,
	} {
		ask := askback.Ask{Agent: "qwen-code · shop", Context: json.RawMessage(context)}
		if got := hook.NeedsHook(ask, []string{"codex", "acp"}); got != want {
			t.Errorf("%s: got %t, want %t", context, got, want)
		}
	}
}
