package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// newCall returns a call whose output is the decision.
func newCall() hook.Call {
	confirmation, _ := hook.Confirmation("", "Bash", json.RawMessage(`{"command":"make"}`))
	return hook.Call{
		Request: askback.Request{
			Agent: "codex", SessionKey: "s1", Key: "k1", Confirmation: confirmation,
			Context: hook.Origin{Hook: "PreToolUse", Session: "s1", Seated: true}.JSON(),
		},
		Program: "Codex",
		Decide: func(ask askback.Ask) ([]byte, bool) {
			verdict, _ := hook.VerdictOf(*confirmation, ask)
			out := map[hook.Verdict]string{hook.Allowed: "allow", hook.Denied: "deny"}[verdict]
			return []byte(out), out != ""
		},
	}
}

// deferrable returns a call that a resumed session makes again.
func deferrable() hook.Call {
	call := newCall()
	call.Unique, call.Deferred = true, []byte("defer")
	call.Request.Context = hook.Origin{Hook: "PreToolUse", Session: "s1"}.JSON()
	return call
}

// start starts a hook that makes a call, and returns once the hook waits. leave cancels the hook, and replies
// gets the reply of the hook.
func start(f *hooktest.Fixture, call hook.Call) (leave func(), replies <-chan hook.Reply) {
	return f.Start(func(ctx context.Context) (hook.Reply, error) { return f.Runner.Run(ctx, "bot", f.Client(), call) })
}

func wantOutput(t *testing.T, got hook.Reply, want string) {
	t.Helper()
	if string(got.Output) != want {
		t.Errorf("got the output %q, want %q", got.Output, want)
	}
}

// Equal calls share an ask, which is withdrawn when the last of these calls is abandoned (F9).
func TestLastAbandonedHookWithdrawsTheAsk(t *testing.T) {
	for _, unique := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, call := hooktest.NewFixture(t), newCall()
			call.Unique = unique
			first, _ := start(f, call)
			second, replies := start(f, call)
			f.WantAsks("two wait", askback.Pending)
			first()
			ask := f.WantAsks("one left", askback.Pending)[0]
			third, _ := start(f, call)
			second()
			wantOutput(t, <-replies, "")
			f.WantAsks("the second left", askback.Pending)
			third()
			if last := f.WantAsks("all left", askback.Cancelled)[0]; last.ID != ask.ID {
				t.Errorf("got %s, want %s", last.ID, ask.ID)
			}
		})
	}
}

// If one of two hooks of a call is abandoned, the other gets the answer. A later call makes
// a new ask.
func TestRemainingHookGetsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		first, _ := start(f, newCall())
		_, replies := start(f, newCall())
		first()
		f.Answer(f.WantAsks("one left", askback.Pending)[0], askback.Decide(askback.Approve, ""))
		wantOutput(t, <-replies, "allow")
		again, _ := start(f, newCall())
		again()
		f.WantAsks("asked again, and left", askback.Answered, askback.Cancelled)
	})
}

// A slowClient is a client that takes a while to withdraw an ask.
type slowClient struct{ askback.AgentClient }

func (s slowClient) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	<-time.After(3 * time.Second)
	return s.AgentClient.Cancel(ctx, id, reason)
}

// A hook that starts while the ask is being withdrawn makes a new ask.
func TestHookDuringWithdrawalAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		leave, _ := f.Start(func(ctx context.Context) (hook.Reply, error) {
			return f.Runner.Run(ctx, "bot", slowClient{f.Client()}, newCall())
		})
		leave()
		synctest.Wait()
		_, replies := start(f, newCall())
		f.WantAsks("during the withdrawal", askback.Pending)
		<-time.After(5 * time.Second)
		f.Answer(f.WantAsks("after the withdrawal", askback.Cancelled, askback.Pending)[1],
			askback.Decide(askback.Deny, "no"))
		wantOutput(t, <-replies, "deny")
	})
}

// A failingWaiter is a client whose Wait fails when the channel is closed.
type failingWaiter struct {
	askback.AgentClient
	when chan struct{}
}

func (f failingWaiter) Wait(context.Context, string) (askback.Ask, error) {
	<-f.when
	return askback.Ask{}, askback.ErrTooMany
}

// The ask of a deferred call stays open, even if other hooks of the call fail.
func TestAskOfDeferredCallStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		leave, replies := start(f, deferrable())
		now := make(chan struct{})
		close(now)
		if _, err := f.Runner.Run(t.Context(), "bot", failingWaiter{f.Client(), now},
			deferrable()); !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		f.WantAsks("one cannot wait", askback.Pending)
		last, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := f.Runner.Run(t.Context(), "bot", failingWaiter{f.Client(), last}, deferrable())
			ended <- err
		}()
		synctest.Wait()
		leave()
		wantOutput(t, <-replies, "defer")
		close(last)
		if err := <-ended; !errors.Is(err, askback.ErrTooMany) {
			t.Errorf("got %v, want %v", err, askback.ErrTooMany)
		}
		f.WantAsks("the other is deferred", askback.Pending)
	})
}

// Equal calls of two principals make two asks. One ask is withdrawn although the other principal waits (E10).
func TestHooksOfTwoPrincipalsShareNoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		leave, _ := start(f, newCall())
		stop, _ := f.Start(func(ctx context.Context) (hook.Reply, error) {
			return f.Runner.Run(ctx, "other", f.Engine.As(askback.Principal{Kind: askback.Agent, Name: "other"}),
				newCall())
		})
		leave()
		f.WantAsks("the ask of bot", askback.Cancelled)
		stop()
	})
}
