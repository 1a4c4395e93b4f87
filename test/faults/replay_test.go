package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store"
)

// frameOf returns the id, the type and the data of a server-sent event.
func frameOf(session string, seq int, kind, data string) (id, event string, raw []byte) {
	return fmt.Sprintf("c%d",
		seq), kind, fmt.Appendf(nil, `{"seq":%d,"session_id":%q,"type":%q,"data":%s}`, seq, session, kind, data)
}

// A record reports events that are missing, repeated or in the wrong order (F11).
func TestRecordDetectsEventsOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		what    string
		numbers []int // numbers within one session; 0 is a snapshot
		want    []fault
	}{
		{"complete", []int{0, 1, 2, 3}, nil},
		{"repeated event", []int{0, 1, 2, 2, 3}, []fault{duplicated}},
		{"earlier event repeated", []int{0, 1, 2, 1}, []fault{duplicated}},
		{"missing event", []int{0, 1, 3}, []fault{lost}},
		{"first event missing", []int{0, 2}, []fault{lost}},
		{"second snapshot", []int{0, 1, 0, 2}, []fault{lost}},
	} {
		r := newRecord("a reader")
		for _, n := range c.numbers {
			kind := "message"
			if n == 0 {
				kind = "snapshot"
			}
			r.add(frameOf("ses_a", n, kind, `{}`))
		}
		if diff := cmp.Diff(c.want, faultsOf(r.bad)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.what, diff)
		}
	}
}

func TestRecordDetectsInvalidEvents(t *testing.T) {
	for what, c := range map[string]struct {
		id, event, data string
		want            fault
	}{
		"no cursor":       {"", "message", `{"seq":1,"type":"message"}`, inconsistent},
		"truncated event": {"c", "message", `{"seq":1,"ty`, inconsistent},
		"two types":       {"c", "message", `{"seq":1,"type":"snapshot"}`, inconsistent},
		"no outcome": {
			"c", "question_answered",
			`{"seq":1,"type":"question_answered","data":{"question_id":"ask_1","outcome":null}}`, lost,
		},
	} {
		r := newRecord("a reader")
		r.add(c.id, c.event, []byte(c.data))
		if diff := cmp.Diff([]fault{c.want}, faultsOf(r.bad)); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
}

func faultsOf(bad []violation) (out []fault) {
	for _, v := range bad {
		out = append(out, v.fault)
	}
	return out
}

// A follower must receive exactly the events of the history, unchanged (F11).
func TestRecordMustMatchTheHistory(t *testing.T) {
	a, b, c := entry{"ses_a", "message", 1, [32]byte{1}}, entry{"ses_a", "message", 2, [32]byte{2}}, entry{
		"ses_b", "message", 1, [32]byte{3},
	}
	changed := b
	changed.sum = [32]byte{9}
	for _, test := range []struct {
		what   string
		events []entry
		want   []fault
	}{
		{"the same", []entry{a, b, c}, nil},
		{"last event missing", []entry{a, b}, []fault{lost}},
		{"no events", nil, []fault{lost}},
		{"events of two sessions swapped", []entry{a, c, b}, []fault{inconsistent}},
		{"other content", []entry{a, changed, c}, []fault{duplicated}},
		{"unknown event", []entry{a, b, c, {"ses_b", "message", 2, [32]byte{}}}, []fault{duplicated}},
	} {
		r := newRecord("a reader")
		r.all = test.events
		if diff := cmp.Diff(test.want, faultsOf(r.compare([]entry{a, b, c}))); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.what, diff)
		}
	}
	lines := []store.Event{
		{Seq: 7, Stream: "ses_a", StreamSeq: 1, Type: "message"},
		{Seq: 8, Stream: "ses_a", StreamSeq: 2, Type: "message"},
	}
	for what, events := range map[string][]entry{"event missing": {a}, "another event": {a, c}} {
		if bad := compareEvents(lines, events); len(bad) != 1 {
			t.Errorf("%s: got %v", what, bad)
		}
	}
	if bad := compareEvents(lines, []entry{a, b}); len(bad) > 0 {
		t.Errorf("complete replay: %v", bad)
	}
}

func TestSentTextsMustMatchTheHistory(t *testing.T) {
	line := func(text string) store.Event {
		data, err := lifecycle.Event{Text: text}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		return store.Event{Type: "message", Data: data}
	}
	for _, c := range []struct {
		what    string
		tries   int
		acked   bool
		history []store.Event
		want    []fault
	}{
		{"once", 1, true, []store.Event{line("hello")}, nil},
		{"repeated after a lost reply", 2, true, []store.Event{line("hello"), line("hello")}, nil},
		{"never acknowledged", 1, false, nil, nil},
		{"acknowledged and missing", 1, true, []store.Event{line("good bye")}, []fault{lost}},
		{"more often than it was sent", 1, true, []store.Event{line("hello"), line("hello")}, []fault{duplicated}},
	} {
		w := newSentTexts()
		for range c.tries {
			w.addTry("hello")
		}
		if c.acked {
			w.acknowledged("hello")
		}
		if diff := cmp.Diff(c.want, faultsOf(w.compare(c.history))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.what, diff)
		}
	}
}

// A truncated frame does not count: the follower continues after the last complete frame.
func TestFollowerContinuesAfterItsLastCompleteEvent(t *testing.T) {
	server := &oneAndAHalf{}
	f := &follower{record: newRecord("a reader"), path: "/events", rand: rand.New(rand.NewPCG(1, 1))}
	for range 50 {
		before := f.at
		if err := f.follow(t.Context(), instance.Server{URL: "http://askback.invalid"},
			&http.Client{Transport: server}); err != nil {
			t.Fatal(err)
		}
		if server.cursor != before {
			t.Fatalf("got cursor %q, want the cursor of the last complete event, %q", server.cursor, before)
		}
		if want := strings.Repeat("c", len(f.all)); f.at != want {
			t.Fatalf("got cursor %q after %d complete events", f.at, len(f.all))
		}
	}
	if len(f.bad) > 0 || len(f.all) < 2 {
		t.Errorf("got %d events and %v", len(f.all), f.bad)
	}
}

// oneAndAHalf responds with the event after the cursor, and with the next event without its end. It needs no
// network, because a follower could time out before a response from the network.
type oneAndAHalf struct{ cursor string }

// RoundTrip implements [http.RoundTripper].
func (s *oneAndAHalf) RoundTrip(r *http.Request) (*http.Response, error) {
	s.cursor = r.Header.Get("Last-Event-ID") + r.URL.Query().Get("after")
	var body strings.Builder
	for seq := len(s.cursor) + 1; seq <= len(s.cursor)+2; seq++ {
		_, event, data := frameOf("ses_a", seq, "message", `{}`)
		fmt.Fprintf(&body, "id: %s\nevent: %s\ndata: %s\n\n", strings.Repeat("c", seq), event, data)
	}
	cut := strings.TrimSuffix(body.String(), "\n")
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(cut)), Request: r,
	}, nil
}
