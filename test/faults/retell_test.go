package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// frameOf is an event as the wire has it.
func frameOf(session string, seq int, kind, data string) (id, event string, raw []byte) {
	return fmt.Sprintf("c%d", seq), kind, fmt.Appendf(nil, `{"seq":%d,"session_id":%q,"type":%q,"data":%s}`, seq, session, kind, data)
}

// What a reader is told is held against the numbers at once (F11).
func TestReaderNoticesWhatIsOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		what string
		told []int // numbers within one session; 0 is a snapshot
		want []fault
	}{
		{"all of it", []int{0, 1, 2, 3}, nil},
		{"an event twice", []int{0, 1, 2, 2, 3}, []fault{doubled}},
		{"an event too many", []int{0, 1, 2, 1}, []fault{doubled}},
		{"an event is left out", []int{0, 1, 3}, []fault{lost}},
		{"it does not begin at the beginning", []int{0, 2}, []fault{lost}},
		{"it begins again", []int{0, 1, 0, 2}, []fault{lost}},
	} {
		r := newRecord("a reader")
		for _, n := range c.told {
			kind := "message"
			if n == 0 {
				kind = "snapshot"
			}
			r.hear(frameOf("ses_a", n, kind, `{}`))
		}
		if diff := cmp.Diff(c.want, faultsOf(r.bad)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.what, diff)
		}
	}
}

func TestReaderNoticesWhatIsNotWhole(t *testing.T) {
	for what, c := range map[string]struct {
		id, event, data string
		want            fault
	}{
		"no cursor":            {"", "message", `{"seq":1,"type":"message"}`, torn},
		"half an event":        {"c", "message", `{"seq":1,"ty`, torn},
		"two types":            {"c", "message", `{"seq":1,"type":"snapshot"}`, torn},
		"an ending and no end": {"c", "question_answered", `{"seq":1,"type":"question_answered","data":{"question_id":"ask_1","outcome":null}}`, lost},
	} {
		r := newRecord("a reader")
		r.hear(c.id, c.event, []byte(c.data))
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

// At the end all that a reader was told is compared with the database (F11).
func TestReaderIsComparedWithTheHistory(t *testing.T) {
	a, b, c := heard{"ses_a", "message", 1, [32]byte{1}}, heard{"ses_a", "message", 2, [32]byte{2}}, heard{"ses_b", "message", 1, [32]byte{3}}
	other := b
	other.sum = [32]byte{9}
	for _, test := range []struct {
		what string
		told []heard
		want []fault
	}{
		{"the same", []heard{a, b, c}, nil},
		{"the last is missing", []heard{a, b}, []fault{lost}},
		{"nothing was told", nil, []fault{lost}},
		{"two sessions change places", []heard{a, c, b}, []fault{torn}},
		{"in other words", []heard{a, other, c}, []fault{doubled}},
		{"one that never was", []heard{a, b, c, {"ses_b", "message", 2, [32]byte{}}}, []fault{doubled}},
	} {
		r := newRecord("a reader")
		r.all = test.told
		if diff := cmp.Diff(test.want, faultsOf(r.compare([]heard{a, b, c}))); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.what, diff)
		}
	}
	lines := []store.Event{{Seq: 7, Stream: "ses_a", StreamSeq: 1, Type: "message"}, {Seq: 8, Stream: "ses_a", StreamSeq: 2, Type: "message"}}
	for what, told := range map[string][]heard{"the feed leaves one out": {a}, "the feed tells another": {a, c}} {
		if bad := sameLines(lines, told); len(bad) != 1 {
			t.Errorf("%s: got %v", what, bad)
		}
	}
	if bad := sameLines(lines, []heard{a, b}); len(bad) > 0 {
		t.Errorf("the feed tells all, and is found wrong: %v", bad)
	}
}

func TestWhatWasSaidIsLookedForInTheHistory(t *testing.T) {
	line := func(text string) store.Event {
		data, err := json.Marshal(lifecycle.Event{Text: text})
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
		{"said again after a lost reply", 2, true, []store.Event{line("hello"), line("hello")}, nil},
		{"never acknowledged", 1, false, nil, nil},
		{"acknowledged and gone", 1, true, []store.Event{line("good bye")}, []fault{lost}},
		{"more often than it was said", 1, true, []store.Event{line("hello"), line("hello")}, []fault{doubled}},
	} {
		w := newWords()
		for range c.tries {
			w.say("hello")
		}
		if c.acked {
			w.acknowledged("hello")
		}
		if diff := cmp.Diff(c.want, faultsOf(w.compare(c.history))); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.what, diff)
		}
	}
}

// A frame that was cut in the middle was never told: the reader comes back with
// the cursor of the one before.
func TestCutReaderComesBackWithItsLastWholeEvent(t *testing.T) {
	server := &oneAndAHalf{}
	f := &follower{record: newRecord("a reader"), path: "/events", rand: rand.New(rand.NewPCG(1, 1))}
	for range 50 {
		before := f.at
		if err := f.follow(t.Context(), instance.Server{URL: "http://askback.invalid"}, &http.Client{Transport: server}); err != nil {
			t.Fatal(err)
		}
		if server.cursor != before {
			t.Fatalf("it came back with cursor %q, and the last whole event it read was %q", server.cursor, before)
		}
		if want := strings.Repeat("c", len(f.all)); f.at != want {
			t.Fatalf("its cursor is %q after %d whole events", f.at, len(f.all))
		}
	}
	if len(f.bad) > 0 || len(f.all) < 2 {
		t.Errorf("was told %d events: %v", len(f.all), f.bad)
	}
}

// oneAndAHalf replies to every request with the event after its cursor and half
// of the next one. It is no network, on which a reader that cuts by time could
// be quicker than the reply.
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
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(cut)), Request: r}, nil
}
