package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/limits"
)

// People can read the model's text with a call that they approve, and the payload of the run with a question.
// When the run has the outcome, the ask is acknowledged or consumed (D1, E3).
func TestPeopleSeeWhyAHostedRunAsks(t *testing.T) {
	for _, c := range []struct {
		payload, call, want string
		given               askback.Answer
		text                string
	}{
		{``, "confirmed", `I fix a bug {} 0/1`, askback.Answer{Decision: askback.Approve}, " I fix a bug\n"},
		{``, "confirmed", `I fix a bug {} 1/0`, askback.Answer{Decision: askback.Deny}, "I fix a bug"},
		{``, "confirmed", ` {} 1/0`, askback.Answer{Decision: askback.Deny}, " "},
		{
			``, "confirmed", `…` + strings.Repeat("b", limits.MaxContext-3) + ` {} 1/0`,
			askback.Answer{Decision: askback.Deny},
			"a" + strings.Repeat("b", limits.MaxContext),
		},
		{` {"topic": "love"}`, "ask", ` {"topic":"love"} 1/0`, askback.Choose("A"), "I ask."},
		{`["love"]`, "ask", ` {} 1/0`, askback.Choose("A"), "I ask."},
		{
			`{"topic": "` + strings.Repeat("a", limits.MaxContext) + `"}`, "ask", ` {} 1/0`, askback.Choose("A"),
			"I ask.",
		},
		{``, "ask", ` {} 1/0`, askback.Choose("A"), "I ask."},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
				"poem": {
					says("Earlier.", call("read", `{}`)),
					says(c.text, call("read", `{}`), call(c.call, `{"question": "Which?"}`)), says("End."),
				},
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

// contextText returns the text of a context. For an empty context it returns {}.
func contextText(context json.RawMessage) string {
	if len(context) == 0 {
		return "{}"
	}
	return string(context)
}

// The agent that started a run may read the open asks of the run, and nothing else. Another agent may read
// nothing, even if a person started the run (E1).
func TestAgentThatStartedARunReadsItsOpenAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("confirmed", `{"path": "a"}`)), says("End.")},
		}})
		defer h.stop()
		bot := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		other := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "other"})
		s, err := bot.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		of := h.run("By a person.")
		h.settled(s.ID)
		h.settled(of.ID)
		count := func(who askback.Client, q askback.Query) int {
			page, err := who.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Items)
		}
		page, err := bot.List(t.Context(), askback.Query{SessionID: s.ID})
		if err != nil || len(page.Items) != 1 || page.Items[0].Confirmation == nil {
			t.Fatalf("the starter got %+v, %v", page.Items, err)
		}
		a := page.Items[0]
		for name, got := range map[string]int{
			"another agent":               count(other, askback.Query{SessionID: s.ID}),
			"a run of a person":           count(bot, askback.Query{SessionID: of.ID}),
			"all asks":                    count(bot, askback.Query{}),
			"asks of any status":          count(bot, askback.Query{SessionID: s.ID, Status: askback.AnyStatus}),
			"asks that were not received": count(bot, askback.Query{SessionID: s.ID, Unacked: true}),
			"an unknown session":          count(bot, askback.Query{SessionID: "ses_00000000000000000000000099"}),
		} {
			if got != 0 {
				t.Errorf("%s: got %d asks", name, got)
			}
		}
		if _, err := bot.Get(t.Context(), a.ID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("get: %v", err)
		}
		if _, err := bot.Cancel(t.Context(), a.ID, ""); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("cancel: %v", err)
		}
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		if _, err := bot.Consume(t.Context(), a.ID, a.Confirmation.Digest); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("consume: %v", err)
		}
		h.settled(s.ID)
		if n := count(bot, askback.Query{SessionID: s.ID}); n != 0 {
			t.Errorf("after the answer, %d asks are open", n)
		}
	})
}
