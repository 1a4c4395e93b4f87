package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// People see what the model wrote with a call that they approve, and with a question the payload of
// the run. When the run has the outcome, the ask is acknowledged or consumed (D1, E3).
func TestPeopleSeeWhyAHostedRunAsks(t *testing.T) {
	for _, c := range []struct {
		payload, call, want string
		given               askback.Answer
		text                string
	}{
		{``, "confirmed", `I fix a bug {} 0/1`, askback.Answer{Decision: askback.Approve}, " I fix a bug\n"},
		{``, "confirmed", `I fix a bug {} 1/0`, askback.Answer{Decision: askback.Deny}, "I fix a bug"},
		{``, "confirmed", ` {} 1/0`, askback.Answer{Decision: askback.Deny}, " "},
		{``, "confirmed", `…` + strings.Repeat("b", askback.MaxContext-3) + ` {} 1/0`, askback.Answer{Decision: askback.Deny}, "a" + strings.Repeat("b", askback.MaxContext)},
		{` {"topic": "love"}`, "ask", ` {"topic":"love"} 1/0`, askback.Choose("A"), "I ask."},
		{`["love"]`, "ask", ` {} 1/0`, askback.Choose("A"), "I ask."},
		{`{"topic": "` + strings.Repeat("a", askback.MaxContext) + `"}`, "ask", ` {} 1/0`, askback.Choose("A"), "I ask."},
		{``, "ask", ` {} 1/0`, askback.Choose("A"), "I ask."},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {says("Earlier.", call("read", `{}`)), says(c.text, call("read", `{}`), call(c.call, `{"question": "Which?"}`)), says("End.")},
			}})
			defer h.stop()
			r := askback.SessionRequest{Agent: "poem", Prompt: "Go."}
			if c.payload != "" {
				r.Payload = json.RawMessage(c.payload)
			}
			s, err := h.ana.Start(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			h.settled(s.ID)
			page, err := h.ana.List(t.Context(), askback.Query{SessionID: s.ID})
			if err != nil || len(page.Items) != 1 {
				t.Fatalf("%v, %v", page.Items, err)
			}
			if _, err := h.ana.Answer(t.Context(), page.Items[0].ID, c.given); err != nil {
				t.Fatal(err)
			}
			h.settled(s.ID)
			a, err := h.ana.Get(t.Context(), page.Items[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			reason, acked, consumed := "", 0, 0
			if a.Confirmation != nil {
				reason = a.Confirmation.Context
			}
			if !a.ConsumedAt.IsZero() {
				consumed = 1
			} else if !a.AckedAt.IsZero() {
				acked = 1
			}
			h.check("context", fmt.Sprintf("%s %s %d/%d", reason, contextText(a.Context), acked, consumed), c.want)
		})
	}
}

// contextText returns a context, which is {} if it is empty.
func contextText(context json.RawMessage) string {
	if len(context) == 0 {
		return "{}"
	}
	return string(context)
}
