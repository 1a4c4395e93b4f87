package main

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/instance"
)

// If the process that serves an event stream is killed, the stream continues at the next process. It yields
// each event once (E2).
func TestEventsContinueAfterTheServerIsKilled(t *testing.T) {
	env, database := sandbox(t)
	first := launch(t, env, "ask", "First?", "yes", "no")
	first.waitForStderr(t, "Type one of")
	t.Setenv("XDG_STATE_HOME", stateHome(database))
	t.Setenv("ASKBACK_TOKEN", "")
	t.Setenv("ASKBACK_URL", "")
	conn, err := (&commands{}).strictConnector(instance.KindAsk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	next, stop := iter.Pull2(conn.User.Events(ctx, "", ""))
	defer stop()
	if ev := mustNext(t, next); ev.Type != "snapshot" {
		t.Fatalf("the first event is %s, want snapshot", ev.Type)
	}
	seen := map[askback.Cursor]bool{}
	for i := range 3 {
		question := fmt.Sprintf("Question %d?", i)
		other := launch(t, env, "ask", question, "yes", "no")
		other.waitForStderr(t, "Type one of")
		id := askID.FindString(other.err.String())
		follow(t, next, seen, "question_pending", id)
		if i == 0 { // the next process takes over
			_ = first.cmd.Process.Kill()
			<-first.ended
		}
		mustRun(t, env, "answer", id, "no")
		follow(t, next, seen, "question_answered", id)
	}
}

// follow reads events until an event of this type for an ask. It fails the test if an event is repeated.
func follow(t *testing.T, next func() (askback.Event, error, bool), seen map[askback.Cursor]bool, kind, id string) {
	t.Helper()
	for {
		ev := mustNext(t, next)
		if ev.Type == "snapshot" || seen[ev.Cursor] {
			t.Fatalf("got %s %s, want each event once and no second snapshot", ev.Type, ev.Cursor)
		}
		seen[ev.Cursor] = true
		if string(ev.Type) == kind && askID.FindString(string(ev.Data)) == id {
			return
		}
	}
}

func mustNext(t *testing.T, next func() (askback.Event, error, bool)) askback.Event {
	t.Helper()
	ev, err, ok := next()
	if err != nil || !ok {
		t.Fatalf("the stream ended: %v", err)
	}
	return ev
}
