package lifecycle_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/test/kit/filltest"
	"github.com/askback/askback/test/kit/golden"
)

// In every release, these fields have the stored form in the golden file. A new field adds a member and does
// not change the other members.
func TestStoredFormOfEventsIsStable(t *testing.T) {
	got, err := filltest.New[lifecycle.Event]().Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "events", "full.json"), string(got)+"\n")
}

// DecodeEvent returns every field that was stored. An event without fields, which is the most frequent kind
// of event, is decoded as an event without fields.
func TestEventIsDecodedAsItWasStored(t *testing.T) {
	odd := lifecycle.Event{
		Type: askback.EventMessage, By: "own <b> & \"c\"", Text: "two\nlines \u2028 é", Todos: []askback.Todo{{}},
		Input: json.RawMessage(`{"a":1,"a":"<"}`),
	}
	for _, want := range []lifecycle.Event{{Type: askback.EventQuestionPending}, odd, filltest.New[lifecycle.Event]()} {
		raw, err := want.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lifecycle.DecodeEvent(string(want.Type), raw)
		if diff := cmp.Diff(want, withUnsent(got, want)); diff != "" || err != nil {
			t.Errorf("%s: error %v\n%s", raw, err, diff)
		}
	}
}

// withUnsent returns got with the fields of want that the JSON of the API omits.
func withUnsent(got, want lifecycle.Event) lifecycle.Event {
	if got.Grant != nil && want.Grant != nil {
		got.Grant.Token = want.Grant.Token
	}
	if got.Delivery != nil && want.Delivery != nil {
		got.Delivery.Session, got.Delivery.Receipt = want.Delivery.Session, want.Delivery.Receipt
	}
	if got.Session != nil && want.Session != nil {
		got.Session.Repeated = want.Session.Repeated
	}
	return got
}

func TestStoredEventIsCompact(t *testing.T) {
	got, err := lifecycle.Event{
		Input: json.RawMessage("{ \"a\": [1.0, \"<\u2028\"] }"), By: "<b> & \u2028",
	}.Append([]byte("before"))
	if want := `before{"by":"<b> & \u2028","input":{"a":[1.0,"<` + "\u2028" + `"]}}`; string(got) != want ||
		err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// An event state_change is stored without its state if this is the usual state. An event of an older release
// may contain the usual state.
func TestUsualStateOfAnEventIsRead(t *testing.T) {
	for data, want := range map[string]string{
		`{}`: "llm_requesting", `{"state":"llm_requesting"}`: "llm_requesting", `{"state":"idle"}`: "idle",
		`{"ask":"ask_1"}`: "awaiting_user_response",
		`{"state":"awaiting_user_response","ask":"ask_1"}`: "awaiting_user_response",
	} {
		if e, err := lifecycle.DecodeEvent("state_change", []byte(data)); err != nil || e.State != want {
			t.Errorf("%s: got %q, %v, want %q", data, e.State, err, want)
		}
	}
	for _, data := range []string{`{}`, `{"ask":"ask_1"}`} {
		if e, err := lifecycle.DecodeEvent("message", []byte(data)); err != nil || e.State != "" {
			t.Errorf("a message %s: got the state %q, %v", data, e.State, err)
		}
	}
}

func TestEventWithInvalidInputIsNotStored(t *testing.T) {
	if got, err := (lifecycle.Event{Input: json.RawMessage(`{"a":`)}).Append(nil); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}

func TestInvalidStoredEventIsAnError(t *testing.T) {
	for _, data := range []string{"", "[]", `{"by":`, `{"by":1}`, `{"grant":{"id":1}}`} {
		if got, err := lifecycle.DecodeEvent("message", []byte(data)); err == nil {
			t.Errorf("%s: got %+v, want an error", data, got)
		}
	}
}

// The limits of answers are not checked for late answers. The history has the input of a late answer only if
// the input can be stored.
func TestLateAnswerWithInvalidInputIsStored(t *testing.T) {
	s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(someFixed),
		[]byte(`{"v":2,"status":"declined","outcome":{"by":"person","name":"ana","at":1767344400000}}`))
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		`{ "a": 1 }`:         `{"by":"ben","why":"declined","input":{"a":1}}`,
		`{"a":`:              `{"by":"ben","why":"declined"}`,
		"\"\xff\"":           `{"by":"ben","why":"declined"}`,
		`{"a":"\ud800"}`:     `{"by":"ben","why":"declined"}`,
		`{"a": 1, "a": 2}`:   `{"by":"ben","why":"declined"}`,
		`{"a":"\u0000\/ é"}`: `{"by":"ben","why":"declined","input":{"a":"\u0000\/ é"}}`,
	} {
		_, history, err := step(s,
			lifecycle.Answered{By: "ben", Answer: askback.Answer{Input: json.RawMessage(input)}, At: nine})
		if !errors.Is(err, askback.ErrSettled) || len(history) != 1 {
			t.Fatalf("%s: got %d events, error %v, want one and %v", input, len(history), err, askback.ErrSettled)
		}
		if got, err := history[0].Append(nil); string(got) != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", input, got, err, want)
		}
	}
}
