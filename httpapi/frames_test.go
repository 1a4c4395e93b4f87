package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// Streams share a frame only if their events are equal in every field.
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
		{
			Cursor: "MS4x", Seq: 1, Type: askback.EventMessage,
			Data: json.RawMessage(`"` + strings.Repeat("x", 1<<16) + `"`),
		},
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

// panicWriter is a response writer that panics when a body is written.
type panicWriter struct{ http.ResponseWriter }

func (panicWriter) Write([]byte) (int, error) { panic("a body") }

// A panic while an event is written ends only the stream, not the process.
func TestPanicDuringWriteEndsStream(t *testing.T) {
	var log bytes.Buffer
	db := memstore.New()
	w := newFixtureOn(t, engine.New(db, nil), db, &httpapi.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	ask := w.ask(databases)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/sessions/"+ask.SessionID+"/events", nil)
	r.Header.Set("Authorization", "Bearer "+w.token(bot))
	func() {
		defer func() { _ = recover() }() // writing the end panics in the handler, where net/http would recover
		w.handler.ServeHTTP(panicWriter{httptest.NewRecorder()}, r)
	}()
	if !strings.Contains(log.String(), "the writing of an event panicked") {
		t.Errorf("got the log %q, want the panic in it", log.String())
	}
}
