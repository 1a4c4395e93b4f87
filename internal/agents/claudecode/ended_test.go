package claudecode_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// start starts a hook that asks about an event, and returns once the hook waits. leave cancels the hook.
func start(f *hooktest.Fixture, ev claudecode.Event) (leave func()) {
	leave, _ = f.Start(func(ctx context.Context) (hook.Reply, error) {
		return runEvent(ctx, &f.Runner, "bot", f.Client(), ev)
	})
	return leave
}

// If a hook is killed, the server withdraws its ask, unless a resumed session can make the call again.
func TestOnlyAskOfDeferrableCallOutlivesItsHook(t *testing.T) {
	interactive := headless(t, runBash)
	interactive.Headless = false
	for name, c := range map[string]struct {
		ev   claudecode.Event
		want bool
	}{
		"a permission":            {event(t, runBash), true},
		"a question":              {event(t, askDB), true},
		"a call in a session":     {interactive, true},
		"a call in claude -p":     {headless(t, runBash), false},
		"a question in claude -p": {headless(t, askDB), false},
	} {
		r, ok := requestOf(c.ev)
		if got := hook.NeedsHook(askback.Ask{Agent: r.Agent, Context: r.Context}, []string{claudecode.Name}); !ok ||
			got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// A call keeps its ask if its headless session is resumed interactively, and vice versa. A
// call with the same id and other arguments is an error (F9).
func TestResumedCallFindsItsAsk(t *testing.T) {
	for _, headlessFirst := range []bool{true, false} {
		server := askbacktest.New(t)
		ana := server.Person("ana")
		client, ev := server.Agent("local"), headless(t, runBash)
		ev.Headless = headlessFirst
		r, _ := requestOf(ev)
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
		other := event(t, strings.Replace(
			strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1), `"make"`,
			`"rm"`, 1,
		))
		if reply, err := runHook(t.Context(), client, other); reply.Output != nil || err == nil {
			t.Errorf("other arguments under the same id: got %s, %v; want an error", reply.Output, err)
		}
	}
}

// A tool that ran does not end asks about other calls (F4).
func TestToolThatRanEndsOnlyItsOwnAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		of := func(name, agent, id string) claudecode.Event {
			ev := event(t, runBash)
			ev.Name, ev.Subagent, ev.ToolUseID = name, agent, id
			return ev
		}
		start(f, of(claudecode.PermissionRequest, "reviewer", ""))
		start(f, of(claudecode.PreToolUse, "", "toolu_9"))
		for _, name := range []string{claudecode.PostToolUse, claudecode.PostToolUseFailure} {
			if err := withdrawEnded(t.Context(), f.Client(), of(name, "builder", "toolu_1")); err != nil {
				t.Error(err)
			}
		}
		f.WantAsks("another call ran", askback.Pending, askback.Pending)
		if err := withdrawEnded(t.Context(), f.Client(),
			of(claudecode.PostToolUse, "reviewer", "toolu_2")); err != nil {
			t.Error(err)
		}
		f.WantAsks("the first ran", askback.Cancelled, askback.Pending)
		if err := withdrawEnded(t.Context(), f.Client(), of(claudecode.PostToolUse, "builder", "toolu_9")); err != nil {
			t.Error(err)
		}
		f.WantAsks("both ran", askback.Cancelled, askback.Cancelled)
	})
}

// The result of an elicitation without an id ends no ask if two forms of its server are open.
func TestAmbiguousResultEndsNoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		form := `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which?","requested_schema":{"type":"object","properties":{"id":{"type":"integer"}}}}`
		done := event(t, `{"session_id":"s1","hook_event_name":"ElicitationResult","mcp_server_name":"tickets","action":"accept"}`)
		first := start(f, event(t, form))
		start(f, event(t, strings.Replace(form, "Which?", "And which?", 1)))
		if err := withdrawEnded(t.Context(), f.Client(), done); err != nil {
			t.Error(err)
		}
		f.WantAsks("ambiguous result", askback.Pending, askback.Pending)
		first()
		f.WantAsks("the first is gone", askback.Cancelled, askback.Pending)
		if err := withdrawEnded(t.Context(), f.Client(), done); err != nil {
			t.Error(err)
		}
		f.WantAsks("there is one left", askback.Cancelled, askback.Cancelled)
	})
}

// A blockedLister is a client whose List blocks until its context ends.
type blockedLister struct {
	askback.AgentClient
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
		client := blockedLister{hooktest.NewFixture(t).Client(), make(chan error, 1)}
		ctx, gone := context.WithCancel(t.Context())
		gone()
		done := make(chan error, 1)
		go func() {
			done <- withdrawEnded(ctx, client, claudecode.Event{Name: claudecode.SessionEnd, SessionID: "s1"})
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
