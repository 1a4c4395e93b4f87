package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/askback/askback"
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
	d, err := (&commands{}).desk(waiting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.leave(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	next, stop := iter.Pull2(d.user.Events(ctx, "", ""))
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

// streaming is a seat that gives some events, and then breaks off.
type streaming struct {
	askback.Client
	give []askback.Cursor
	end  error
	from *[]askback.Cursor // with which cursors it was asked
}

func (s streaming) Events(_ context.Context, _ string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		*s.from = append(*s.from, after)
		for _, c := range s.give {
			if !yield(askback.Event{Cursor: c}, nil) {
				return
			}
		}
		yield(askback.Event{}, s.end)
	}
}

// A stream that breaks off is asked again from where it was; what is wrong ends it,
// once, and so does whoever reads no more.
func TestEventsGoOnWithTheLastCursor(t *testing.T) {
	t.Parallel()
	var from []askback.Cursor
	seats := []askback.Client{
		streaming{give: []askback.Cursor{"a", "b"}, end: askback.ErrUnreachable, from: &from},
		streaming{end: askback.ErrStopping, from: &from},
		streaming{give: []askback.Cursor{"c"}, end: askback.ErrForbidden, from: &from},
	}
	d := deskAt("http://127.0.0.1:1")
	r := roaming{d, func(*connection) askback.Client {
		s := seats[0]
		seats = seats[1:]
		return s
	}}
	got := ""
	for ev, err := range r.Events(t.Context(), "", "z") {
		got += string(ev.Cursor)
		if err != nil {
			got += "!"
			if !errors.Is(err, askback.ErrForbidden) {
				t.Error(err)
			}
		}
	}
	if want := "[z b b]"; got != "abc!" || fmt.Sprint(from) != want {
		t.Errorf("got %s from %v, want abc! from %s", got, from, want)
	}
	seats = []askback.Client{streaming{give: []askback.Cursor{"a", "b"}, from: &from}}
	for ev := range r.Events(t.Context(), "", "") {
		if ev.Cursor != "a" {
			t.Errorf("%s came after the end", ev.Cursor)
		}
		break
	}
}
