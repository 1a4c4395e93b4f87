package lifecycle_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

const someConfirmation = `{"v":2,"id":"ask_1","session":"ses_1","owner":"bot","agent":"bot","kind":"confirmation",` +
	`"confirmation":{"tool":"rm","input":{},"tier":"confirm","digest":"sha256:00"},"quorum":1,"created":1767344400000,"on_timeout":"wait"}`

// Each field of an answer is copied to the outcome. For a late answer, each field is copied to the history.
func TestEveryFieldOfAnswerIsRecorded(t *testing.T) {
	recorded := map[string]bool{"Grant": true} // the field Grant is not copied: an effect makes the grant
	for _, c := range []struct {
		fixed  string
		answer askback.Answer
	}{
		{someFixed, askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "because"}}, Comment: "c"}},
		{someConfirmation, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"a":1}`)}},
		{someConfirmation, askback.Answer{Decision: askback.Deny, Reason: "r"}},
	} {
		s, err := lifecycle.DecodeAsk(lifecycle.Row{}, []byte(c.fixed), []byte(someMoving))
		if err != nil {
			t.Fatal(err)
		}
		in := lifecycle.Answered{By: "ana", Answer: c.answer, Digest: "sha256:01", At: nine.Add(time.Minute)}
		answered, _, err := step(s, in)
		if err != nil {
			t.Fatal(err)
		}
		cancelled, _, err := step(s, lifecycle.Cancelled{At: nine})
		if err != nil {
			t.Fatal(err)
		}
		_, history, _ := step(cancelled, in)
		if len(history) != 1 {
			t.Fatalf("got %d events for a late answer, want 1", len(history))
		}
		for f, v := range reflect.ValueOf(c.answer).Fields() {
			if v.IsZero() {
				continue
			}
			recorded[f.Name] = true
			for _, record := range []any{*answered.Ask.Outcome, history[0]} {
				if got := reflect.ValueOf(record).FieldByName(f.Name); !got.IsValid() || got.IsZero() {
					t.Errorf("%T has no %s", record, f.Name)
				}
			}
		}
	}
	for f := range reflect.TypeFor[askback.Answer]().Fields() {
		if !recorded[f.Name] {
			t.Errorf("add %s to an answer of this test", f.Name)
		}
	}
}
