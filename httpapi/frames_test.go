package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// Streams share the frames of equal events only: any difference makes another frame.
func TestStreamsShareFramesOfEqualEvents(t *testing.T) {
	var f httpapi.Frames
	first := askback.Event{
		Cursor: "MS4x", Seq: 1, SessionID: "ses_1", Type: askback.EventMessage,
		At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Data: json.RawMessage(`{"text":"hi"}`),
	}
	change := func(do func(*askback.Event)) askback.Event {
		ev := first
		do(&ev)
		return ev
	}
	for _, ev := range []askback.Event{
		first,
		change(func(ev *askback.Event) { ev.Data = json.RawMessage(`{"text":"ho"}`) }),
		change(func(ev *askback.Event) { ev.Cursor = "MS4y" }),
		change(func(ev *askback.Event) { ev.Seq = 2 }),
		change(func(ev *askback.Event) { ev.SessionID = "ses_2" }),
		change(func(ev *askback.Event) { ev.Type = askback.EventStateChange }),
		change(func(ev *askback.Event) { ev.At = ev.At.Add(time.Second) }),
	} {
		raw, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", ev.Cursor, ev.Type, raw)
		got, err := f.Of(ev)
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		again, err := f.Of(ev)
		if err != nil || &again[0] != &got[0] {
			t.Errorf("%s was encoded twice, error %v", got, err)
		}
	}
}

func TestLargeFramesAndSnapshotsAreNotKept(t *testing.T) {
	var f httpapi.Frames
	for _, ev := range []askback.Event{
		{Cursor: "MS4x", Seq: 1, Type: askback.EventMessage, Data: json.RawMessage(`"` + strings.Repeat("x", 1<<16) + `"`)},
		{Cursor: "MS4x", Type: askback.EventSnapshot, Data: json.RawMessage(`{}`)},
	} {
		one, err := f.Of(ev)
		if err != nil {
			t.Fatal(err)
		}
		two, err := f.Of(ev)
		if err != nil || &two[0] == &one[0] {
			t.Errorf("the frame of a %s of %d bytes was kept, error %v", ev.Type, len(one), err)
		}
	}
}
