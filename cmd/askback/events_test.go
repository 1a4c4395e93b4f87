package main

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/instance"
)

// A stream outlives the process that holds the database: it goes on behind the last
// event at the next holder, and each event comes once (E2).
func TestEventsOutliveAHolder(t *testing.T) {
	env, database := sandbox(t)
	first := launch(t, env, "ask", "First?", "yes", "no")
	first.waitForStderr(t, "Type one of")
	t.Setenv("XDG_STATE_HOME", stateHome(database))
	t.Setenv("ASKBACK_TOKEN", "")
	t.Setenv("ASKBACK_URL", "")
	conn, err := (&commands{}).connector(instance.KindAsk)
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
	if ev := pulled(t, next); ev.Type != "snapshot" {
		t.Fatalf("it begins with %s", ev.Type)
	}
	seen := map[askback.Cursor]bool{}
	for i := range 3 {
		question := fmt.Sprintf("Question %d?", i)
		other := launch(t, env, "ask", question, "yes", "no")
		other.waitForStderr(t, "Type one of")
		id := askID.FindString(other.err.String())
		follow(t, next, seen, "question_pending", id)
		if i == 0 { // whoever attached takes over
			_ = first.cmd.Process.Kill()
			<-first.ended
		}
		mustRun(t, env, "answer", id, "no")
		follow(t, next, seen, "question_answered", id)
	}
}

// follow pulls events until one of this type is about an ask.
func follow(t *testing.T, next func() (askback.Event, error, bool), seen map[askback.Cursor]bool, kind, id string) {
	t.Helper()
	for {
		ev := pulled(t, next)
		if ev.Type == "snapshot" || seen[ev.Cursor] {
			t.Fatalf("%s came, again", ev.Type)
		}
		seen[ev.Cursor] = true
		if string(ev.Type) == kind && askID.FindString(string(ev.Data)) == id {
			return
		}
	}
}

func pulled(t *testing.T, next func() (askback.Event, error, bool)) askback.Event {
	t.Helper()
	ev, err, ok := next()
	if err != nil || !ok {
		t.Fatalf("the stream ended: %v", err)
	}
	return ev
}
