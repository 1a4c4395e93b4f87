package claudehook_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/store/memstore"
)

// fixture is a process that runs hooks, in a synctest bubble.
type fixture struct {
	t      *testing.T
	engine *engine.Engine
	runner hook.Runner
}

func newFixture(t *testing.T) *fixture {
	return &fixture{t: t, engine: engine.New(memstore.New(), nil)}
}

func (f *fixture) client() askback.Client {
	return f.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
}

// start runs a hook, and returns when its ask exists. leave cancels the hook.
func (f *fixture) start(ev claudehook.Event) (leave func(), replies <-chan hook.Reply) {
	<-time.After(time.Second) // so that no two asks have the same time
	ctx, cancel := context.WithCancel(f.t.Context())
	out := make(chan hook.Reply, 1)
	go func() {
		reply, err := claudehook.Run(ctx, &f.runner, "bot", f.client(), ev)
		if err != nil {
			f.t.Error(err)
		}
		out <- reply
	}()
	synctest.Wait()
	return cancel, out
}

// wantAsks checks the status of all asks, oldest first.
func (f *fixture) wantAsks(when string, status ...askback.Status) []askback.Ask {
	f.t.Helper()
	synctest.Wait()
	page, err := f.client().List(f.t.Context(), askback.Query{Status: askback.AnyStatus})
	if err != nil {
		f.t.Fatal(err)
	}
	slices.SortFunc(page.Items, func(a, b askback.Ask) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var got []askback.Status
	for _, a := range page.Items {
		got = append(got, a.Status)
	}
	if !slices.Equal(got, status) {
		f.t.Fatalf("%s: got %v, want %v", when, got, status)
	}
	return page.Items
}

func (f *fixture) answer(ask askback.Ask, a askback.Answer) {
	f.t.Helper()
	if _, err := f.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(f.t.Context(), ask.ID, a); err != nil {
		f.t.Fatal(err)
	}
}

// Equal calls share an ask, which is withdrawn when the last of them is abandoned (F9).
func TestLastAbandonedHookWithdrawsTheAsk(t *testing.T) {
	for name, ev := range map[string]claudehook.Event{
		"a permission": event(t, runBash),
		"a PreToolUse": event(t, strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1)),
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			first, _ := f.start(ev)
			second, replies := f.start(ev)
			f.wantAsks(name+", two wait", askback.Pending)
			first()
			ask := f.wantAsks(name+", one left", askback.Pending)[0]
			third, _ := f.start(ev)
			second()
			if reply := <-replies; reply.Output != nil {
				t.Errorf("%s: an abandoned hook got %s", name, reply.Output)
			}
			f.wantAsks(name+", the second left", askback.Pending)
			third()
			if last := f.wantAsks(name+", all left", askback.Cancelled)[0]; last.ID != ask.ID {
				t.Errorf("%s: got %s, want %s", name, last.ID, ask.ID)
			}
		})
	}
}

// If one of two hooks of a call is abandoned, the other gets the answer. A later call makes
// a new ask.
func TestRemainingHookGetsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		first, _ := f.start(event(t, runBash))
		_, replies := f.start(event(t, runBash))
		first()
		f.answer(f.wantAsks("one left", askback.Pending)[0], askback.Decide(askback.Approve, ""))
		wantOutput(t, <-replies, nil, `"allow"`)
		again, _ := f.start(event(t, runBash))
		again()
		f.wantAsks("asked again, and left", askback.Answered, askback.Cancelled)
	})
}

// slowClient takes a while to withdraw an ask.
type slowClient struct{ askback.Client }

func (s slowClient) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	<-time.After(3 * time.Second)
	return s.Client.Cancel(ctx, id, reason)
}

// A hook that starts while the ask is being withdrawn makes a new ask.
func TestHookDuringWithdrawalAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		go claudehook.Run(ctx, &f.runner, "bot", slowClient{f.client()}, event(t, runBash)) //nolint:errcheck // it is cancelled
		synctest.Wait()
		cancel()
		synctest.Wait()
		_, replies := f.start(event(t, runBash))
		f.wantAsks("during the withdrawal", askback.Pending)
		<-time.After(5 * time.Second)
		f.answer(f.wantAsks("after the withdrawal", askback.Cancelled, askback.Pending)[1], askback.Decide(askback.Deny, "no"))
		wantOutput(t, <-replies, nil, `"deny"`)
	})
}

// failingWaiter is a client whose Wait fails when the channel is closed.
type failingWaiter struct {
	askback.Client
	when chan struct{}
}

func (f failingWaiter) Wait(context.Context, string) (askback.Ask, error) {
	<-f.when
	return askback.Ask{}, askback.ErrTooMany
}

// The ask of a deferred call stays open, even if other hooks of the call fail.
func TestAskOfDeferredCallStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		leave, replies := f.start(headless(t, runBash))
		if _, err := claudehook.Run(t.Context(), &f.runner, "bot", fullServer{f.client()}, headless(t, runBash)); !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		f.wantAsks("one cannot wait", askback.Pending)
		last, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := claudehook.Run(t.Context(), &f.runner, "bot", failingWaiter{f.client(), last}, headless(t, runBash))
			ended <- err
		}()
		synctest.Wait()
		leave()
		wantOutput(t, <-replies, nil, `"defer"`)
		close(last)
		if err := <-ended; !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		f.wantAsks("the other is deferred", askback.Pending)
	})
}

// Equal calls of two principals make two asks: one is withdrawn although the other
// principal waits (E10).
func TestHooksOfTwoPrincipalsShareNoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		leave, _ := f.start(event(t, runBash))
		go claudehook.Run(t.Context(), &f.runner, "other", f.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"}), event(t, runBash)) //nolint:errcheck // it ends with the test
		synctest.Wait()
		leave()
		f.wantAsks("the ask of bot", askback.Cancelled)
	})
}

// A call keeps its ask if its headless session is resumed interactively, and vice versa. A
// call with the same id and other arguments is an error (F9).
func TestResumedCallFindsItsAsk(t *testing.T) {
	for _, headlessFirst := range []bool{true, false} {
		server := askbacktest.New(t)
		ana := server.Person("ana")
		client, ev := server.Agent("local"), headless(t, runBash)
		ev.Headless = headlessFirst
		r, _ := claudehook.Request(ev)
		ask, err := client.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ana.Answer(t.Context(), ask.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		ev.Headless = !headlessFirst
		reply, err := runHook(t.Context(), client, ev)
		wantOutput(t, reply, err, `"permissionDecision":"allow"`)
		if n := len(server.Asks()); n != 1 {
			t.Errorf("headless first: %t, got %d asks, want 1", headlessFirst, n)
		}
		other := event(t, strings.Replace(strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1), `"make"`, `"rm"`, 1))
		if reply, err := runHook(t.Context(), client, other); reply.Output != nil || err == nil {
			t.Errorf("other arguments under the same id: got %s, %v; want an error", reply.Output, err)
		}
	}
}

// A tool that ran does not end the asks of other calls (F4).
func TestToolThatRanEndsOnlyItsOwnAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		of := func(name, agent, id string) claudehook.Event {
			ev := event(t, runBash)
			ev.Name, ev.Subagent, ev.ToolUseID = name, agent, id
			return ev
		}
		f.start(of(claudehook.PermissionRequest, "reviewer", ""))
		f.start(of(claudehook.PreToolUse, "", "toolu_9"))
		for _, name := range []string{claudehook.PostToolUse, claudehook.PostToolUseFailure} {
			if err := claudehook.WithdrawEnded(t.Context(), f.client(), of(name, "builder", "toolu_1")); err != nil {
				t.Error(err)
			}
		}
		f.wantAsks("another call ran", askback.Pending, askback.Pending)
		if err := claudehook.WithdrawEnded(t.Context(), f.client(), of(claudehook.PostToolUse, "reviewer", "toolu_2")); err != nil {
			t.Error(err)
		}
		f.wantAsks("the first ran", askback.Cancelled, askback.Pending)
		if err := claudehook.WithdrawEnded(t.Context(), f.client(), of(claudehook.PostToolUse, "builder", "toolu_9")); err != nil {
			t.Error(err)
		}
		f.wantAsks("both ran", askback.Cancelled, askback.Cancelled)
	})
}

// The result of an elicitation without an id ends no ask if two forms of its server are open.
func TestAmbiguousResultEndsNoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		form := `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which?","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}}}}`
		done := event(t, `{"session_id":"s1","hook_event_name":"ElicitationResult","mcp_server_name":"tickets","action":"accept"}`)
		first, _ := f.start(event(t, form))
		f.start(event(t, strings.Replace(form, "Which?", "And which?", 1)))
		if err := claudehook.WithdrawEnded(t.Context(), f.client(), done); err != nil {
			t.Error(err)
		}
		f.wantAsks("ambiguous result", askback.Pending, askback.Pending)
		first()
		f.wantAsks("the first is gone", askback.Cancelled, askback.Pending)
		if err := claudehook.WithdrawEnded(t.Context(), f.client(), done); err != nil {
			t.Error(err)
		}
		f.wantAsks("there is one left", askback.Cancelled, askback.Cancelled)
	})
}

// blockedLister is a client whose List blocks until its context ends.
type blockedLister struct {
	askback.Client
	listed chan error
}

func (s blockedLister) List(ctx context.Context, _ askback.Query) (askback.Page, error) {
	s.listed <- ctx.Err()
	<-ctx.Done()
	return askback.Page{}, ctx.Err()
}

// Asks are withdrawn even after the context of the hook has ended, but only for a limited time
// (F9).
func TestWithdrawingContinuesForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := blockedLister{newFixture(t).client(), make(chan error, 1)}
		ctx, gone := context.WithCancel(t.Context())
		gone()
		done := make(chan error, 1)
		go func() {
			done <- claudehook.WithdrawEnded(ctx, client, claudehook.Event{Name: claudehook.SessionEnd, SessionID: "s1"})
		}()
		if err := <-client.listed; err != nil {
			t.Errorf("List was called with an ended context: %v", err)
		}
		select {
		case err := <-done:
			if err == nil {
				t.Error("got no error for a cancelled list")
			}
		case <-time.After(time.Minute):
			t.Fatal("it did not end in time")
		}
	})
}
