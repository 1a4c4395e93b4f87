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
)

// sweeper returns one that thinks that a call waits for what the engine knows of,
// unless blind.
func (r *room) sweeper(blind *bool) *claudehook.Sweeper {
	everyone := r.engine.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	return &claudehook.Sweeper{
		List: everyone.List,
		Client: func(name string) claudehook.Client {
			return r.engine.As(askback.Principal{Kind: askback.Agent, Name: name})
		},
		Awaited: func(id string) bool { return !*blind && r.engine.Awaited(id) },
	}
}

func (r *room) sweep(s *claudehook.Sweeper) {
	r.t.Helper()
	if err := s.Sweep(r.t.Context(), time.Now()); err != nil {
		r.t.Error(err)
	}
}

// asks puts what an event asks without a call that waits for it, as after the
// end of the server, or of the hook, by SIGKILL.
func (r *room) asks(ev claudehook.Event) {
	r.t.Helper()
	<-time.After(time.Second)
	request, ok := claudehook.Request(ev)
	if !ok {
		r.t.Fatalf("%+v asks nothing", ev)
	}
	if _, err := r.seat().Ask(r.t.Context(), request); err != nil {
		r.t.Fatal(err)
	}
}

// What no call waits for is withdrawn after a while, and what a resumed session
// will wait for is not. A person who looks at the ask is not its hook.
func TestAskOfGoneHookIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, blind := newRoom(t), false
		s := r.sweeper(&blind)
		leave, _ := r.hook(event(t, runBash)) // waits
		r.asks(event(t, askDB))
		r.asks(event(t, strings.Replace(runBash, `"cwd"`, `"turn_id":"t1","cwd"`, 1))) // of Codex
		r.asks(headless(t, askDB))
		r.asks(claudehook.Event{Name: claudehook.PreToolUse, SessionID: "s1", ToolUseID: "toolu_2", Tool: "Bash", Input: []byte(`{"command":"ls"}`)})
		asks := r.want("nothing was swept", askback.Pending, askback.Pending, askback.Pending, askback.Pending, askback.Pending)
		looking, stop := context.WithCancel(t.Context())
		go func() {
			_, _ = r.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Wait(looking, asks[1].ID)
		}()
		synctest.Wait()
		for range 3 { // at 0, 10 and 20 seconds
			r.sweep(s)
			<-time.After(10 * time.Second)
		}
		r.want("a connection may come back", askback.Pending, askback.Pending, askback.Pending, askback.Pending, askback.Pending)
		r.sweep(s)
		asks = r.want("it did not", askback.Pending, askback.Cancelled, askback.Cancelled, askback.Pending, askback.Cancelled)
		if o := asks[1].Outcome; o.Actor.Name != "bot" || !strings.Contains(o.Reason, "has ended") {
			t.Errorf("got %+v, want it withdrawn for its agent, with the reason", o)
		}
		stop()
		leave()
	})
}

// A call that comes back begins anew.
func TestAskOfReturnedHookStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, blind := newRoom(t), false
		s := r.sweeper(&blind)
		r.asks(event(t, runBash))
		r.sweep(s)
		<-time.After(20 * time.Second)
		leave, _ := r.hook(event(t, runBash))
		r.sweep(s)
		<-time.After(20 * time.Second)
		r.sweep(s)
		r.want("the hook is back", askback.Pending)
		leave()
	})
}

// A hook that was taken for gone asks again and gets the answer to that.
func TestHookTakenForGoneAsksAgain(t *testing.T) {
	gate := event(t, strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1))
	for name, ev := range map[string]claudehook.Event{"a permission": event(t, runBash), "a gate": gate} {
		synctest.Test(t, func(t *testing.T) {
			r, blind := newRoom(t), true
			s := r.sweeper(&blind)
			_, said := r.hook(ev)
			r.sweep(s)
			<-time.After(30 * time.Second)
			r.sweep(s)
			asks := r.want(name, askback.Cancelled, askback.Pending)
			if _, err := r.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), asks[1].ID, askback.Answer{Decision: askback.Approve}); err != nil {
				t.Fatal(err)
			}
			wantOutput(t, <-said, nil, `allow`)
		})
	}
}

// cancelFails is a seat that cannot withdraw.
type cancelFails struct{ claudehook.Client }

var errFull = errors.New("no room")

func (cancelFails) Cancel(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, errFull
}

// An ask that cannot be withdrawn is an error, so that it is in the log, and is tried again.
func TestFailedWithdrawalIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, blind := newRoom(t), true
		s := r.sweeper(&blind)
		works := s.Client
		s.Client = func(name string) claudehook.Client { return cancelFails{works(name)} }
		r.asks(event(t, runBash))
		r.sweep(s)
		<-time.After(time.Minute)
		if err := s.Sweep(t.Context(), time.Now()); !errors.Is(err, errFull) {
			t.Errorf("Sweep: got %v, want %v", err, errFull)
		}
		s.Client = works
		r.sweep(s)
		<-time.After(time.Minute)
		r.sweep(s)
		r.want("withdrawn in the end", askback.Cancelled)
	})
}

// Asks that take long to read are not read all the time.
func TestLongSweepsAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read time.Duration
		s := &claudehook.Sweeper{List: func(context.Context, askback.Query) (askback.Page, error) {
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
