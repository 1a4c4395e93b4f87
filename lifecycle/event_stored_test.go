package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
)

// An event is stored as json.Encoder writes it for the tags of its fields, so databases of
// earlier releases have the same bytes.
func TestEventIsStoredAsItsTagsDescribe(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "", "A", "own <b> & \"c\"", "two\nlines", "\u2028 é"})
	rapid.Check(t, func(t *rapid.T) {
		ev := lifecycle.Event{
			Type: askback.EventMessage, By: text.Draw(t, "by"), Via: vias.Draw(t, "via"), Why: text.Draw(t, "why"),
			Comment: text.Draw(t, "comment"), Decision: askback.Decision(text.Draw(t, "decision")),
			Reason: text.Draw(t, "reason"), Digest: text.Draw(t, "digest"), State: text.Draw(t, "state"),
			Ask: text.Draw(t, "ask"), Role: askback.Role(text.Draw(t, "role")), Text: text.Draw(t, "text"),
			Final: rapid.Bool().Draw(t, "final"),
		}
		if rapid.Bool().Draw(t, "detail") {
			ev.Answers = []askback.QuestionAnswer{{ID: "q1", Selected: []string{text.Draw(t, "selected")}, Other: text.Draw(t, "other")}, {}}
			ev.Input = json.RawMessage(rapid.SampledFrom([]string{"", "{ \"a\": [1.0, \"<\u2028\"] }", "\"\xff\"", `{"a":1,"a":2}`}).Draw(t, "input"))
			ev.Grant = &askback.Grant{ID: "grt_1", ToolName: text.Draw(t, "tool"), CreatedAt: nine}
			ev.Session = &askback.Session{ID: "ses_1", Title: text.Draw(t, "title"), Metadata: json.RawMessage(`{ "b": "<>" }`), CreatedAt: nine}
			ev.Todos = []askback.Todo{{Content: text.Draw(t, "todo")}, {}}
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(ev); err != nil {
			t.Fatal(err)
		}
		got, err := ev.Append([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("before"+want.String(), string(got)+"\n"); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEventWithInvalidInputIsNotStored(t *testing.T) {
	if got, err := (lifecycle.Event{Input: json.RawMessage(`{"a":`)}).Append(nil); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}

// An event without fields, which is the most frequent kind, and one with fields are decoded
// completely.
func TestEventIsDecodedAsItWasStored(t *testing.T) {
	for _, want := range []lifecycle.Event{
		{Type: askback.EventQuestionPending},
		{Type: askback.EventQuestionClaimed, By: "ana"},
		{Type: askback.EventAnswerRefused, By: "ana", Via: askback.ChannelWeb, Why: "expired", Input: json.RawMessage(`{"a":1}`)},
	} {
		raw, err := want.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lifecycle.DecodeEvent(string(want.Type), raw)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v\n%s", raw, err, diff)
		}
	}
}
