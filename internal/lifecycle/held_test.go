package lifecycle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// heldAnswer parses a text such as "5s, answers: SQLite". The first of the lines has the time and the person.
func heldAnswer(t *testing.T, s lifecycle.AskState, what string, lines []string) lifecycle.Input {
	t.Helper()
	lasts, what, _ := strings.Cut(what, ", ")
	d, err := askback.ParseDuration(lasts)
	if err != nil {
		t.Fatalf("%q: %v", lasts, err)
	}
	lines[0] += " " + what
	switch in := parse(t, s, lines)[0].(type) {
	case lifecycle.Answered:
		return lifecycle.Held{Answered: in, For: d}
	case lifecycle.Declined:
		a := lifecycle.Answered{By: in.By, Via: in.Via, Answer: askback.Answer{Reason: in.Reason}, At: in.At}
		return lifecycle.Held{Answered: a, Declines: true, For: d}
	}
	t.Fatalf("%q is no answer", what)
	return nil
}

// describeHeld returns the text for the held answers that a step added or removed.
func describeHeld(b *strings.Builder, before, after []askback.Held) {
	has := func(all []askback.Held, h askback.Held) bool {
		return slices.ContainsFunc(all,
			func(other askback.Held) bool { return other.Name == h.Name && other.At.Equal(h.At) })
	}
	for _, h := range before {
		if !has(after, h) {
			fmt.Fprintf(b, "  no longer held: %s, given at %s\n", h.Name, readTime(h.At))
		}
	}
	for _, h := range after {
		if has(before, h) {
			continue
		}
		fmt.Fprintf(b, "  held until %s: %s", readTime(h.SendsAt), h.Name)
		switch {
		case h.Declines:
			b.WriteString(" declines")
		case h.Decision != "":
			fmt.Fprintf(b, " says %s", h.Decision)
		}
		for _, a := range h.Answers {
			fmt.Fprintf(b, ", %s %q", a.ID, a.String())
		}
		if h.Digest != "" {
			fmt.Fprintf(b, ", for %s", h.Digest)
		}
		b.WriteString("\n")
	}
}

// A heldModel is a simple model of an ask with held answers. It does not use the machine.
type heldModel struct {
	held    map[string]time.Time // the time when the held answer is sent, keyed by person
	outcome string               // the person who settled the ask, or "someone else"
}

// For any inputs in any order, an ask has at most one outcome. No answer that was undone is sent, and no
// answer that was sent can be undone.
func TestHeldAnswersAreSentOrUndoneAndNeverBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		people := []string{"ana", "ben", "cem"}
		a := askback.Ask{
			ID: "ask_1", SessionID: "ses_1", Agent: "bot", Kind: askback.Questions, Quorum: 1, To: people,
			OnTimeout: askback.OnTimeoutFail,
		}
		a.Questions = []askback.Question{{ID: "q1", Text: "Which?", Options: askback.Options("A", "B")}}
		if rapid.Bool().Draw(t, "deadline") {
			a.Deadline = nine.Add(20 * time.Second)
		} else {
			a.OnTimeout = askback.OnTimeoutWait
		}
		s, _, err := step(lifecycle.AskState{}, lifecycle.Asked{Ask: a, Owner: "bot", At: nine})
		if err != nil {
			t.Fatal(err)
		}
		now, m := nine, heldModel{held: map[string]time.Time{}}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
			who := rapid.SampledFrom(people).Draw(t, "who")
			in := m.next(t, s, who, now)
			before := s
			after, history, err := step(s, in)
			s = after
			m.check(t, before, after, in, err)
			if len(s.Held) > 0 && s.Ask.Settled() {
				t.Fatalf("%T: a settled ask holds %v", in, s.Held)
			}
			if err == nil && !s.Ask.Settled() && len(history) == 0 != (len(s.Held) == len(before.Held)) {
				if _, replaced := in.(lifecycle.Held); !replaced {
					t.Fatalf("%T: history %v, held %d before and %d after", in, history, len(before.Held), len(s.Held))
				}
			}
		}
	})
}

// next draws an input. If the ask is due, next first steps the ask, as the engine does.
func (m *heldModel) next(t *rapid.T, s lifecycle.AskState, who string, now time.Time) lifecycle.Input {
	if moves := s.Moves(); !moves.IsZero() && !now.Before(moves) {
		return lifecycle.Due{At: now}
	}
	answer := lifecycle.Answered{
		By: who, Via: askback.ChannelWeb,
		Answer: askback.Choose(rapid.SampledFrom([]string{"A", "B"}).Draw(t, "answer")), At: now,
	}
	return rapid.SampledFrom([]lifecycle.Input{
		lifecycle.Held{Answered: answer, For: 5 * time.Second},
		lifecycle.Held{Answered: answer, For: 5 * time.Second},
		lifecycle.Held{Answered: answer, For: 7 * time.Second, Declines: true},
		lifecycle.Undone{By: who, Via: askback.ChannelWeb, At: now},
		lifecycle.Undone{By: who, Via: askback.ChannelWeb, At: now},
		lifecycle.Due{At: now},
		answer,
		lifecycle.Cancelled{By: askback.Actor{Kind: askback.ActorAgent, Name: "bot"}, Via: askback.ChannelAPI, At: now},
	}).Draw(t, "input")
}

// check compares a step with the model.
func (m *heldModel) check(t *rapid.T, before, after lifecycle.AskState, in lifecycle.Input, err error) {
	settles := !before.Ask.Settled() && after.Ask.Settled()
	by := ""
	if settles {
		by = after.Ask.Outcome.Actor.Name
	}
	switch in := in.(type) {
	case lifecycle.Held:
		if !before.Ask.Settled() {
			m.held[in.By] = lastHeld(after, in.By)
		}
		if settles {
			t.Fatal("holding an answer settled the ask")
		}
	case lifecycle.Undone:
		switch _, mine := m.held[in.By]; {
		case mine && err != nil:
			t.Fatalf("%s cannot undo a held answer: %v", in.By, err)
		case !mine && before.Ask.Settled() && !errors.Is(err, askback.ErrSettled):
			t.Fatalf("%s undid an answer to a settled ask: %v", in.By, err)
		}
		delete(m.held, in.By)
	case lifecycle.Due:
		if settles && after.Ask.Outcome.Actor.Kind == askback.ActorPerson {
			for name, at := range m.held {
				if at.Before(m.held[by]) {
					t.Fatalf("%s was sent before %s, whose time came first", by, name)
				}
			}
			if _, mine := m.held[by]; !mine {
				t.Fatalf("the timer sent an answer of %s, who holds none", by)
			}
		} else if settles && len(m.held) > 0 {
			t.Fatalf("the ask expired although %v are held", m.held)
		}
	case lifecycle.Answered:
		if settles && by != in.By {
			t.Fatalf("got settled by %s, want %s", by, in.By)
		}
	}
	if settles {
		clear(m.held)
		m.outcome = after.Ask.Outcome.Actor.String()
	}
	if m.outcome != "" && after.Ask.Outcome.Actor.String() != m.outcome {
		t.Fatalf("the outcome changed from %s to %s", m.outcome, after.Ask.Outcome.Actor)
	}
}

// lastHeld returns the time at which the held answer of a person is sent, or the zero time.
func lastHeld(s lifecycle.AskState, name string) time.Time {
	for _, h := range s.Held {
		if h.Name == name {
			return h.SendsAt
		}
	}
	return time.Time{}
}

// A state with a held answer is the same after it was stored and read. A state from an older database has no
// held answers.
func TestHeldAnswersAreStored(t *testing.T) {
	a := askback.Ask{
		ID: "ask_1", SessionID: "ses_1", Agent: "bot", Kind: askback.Confirm, Quorum: 1,
		OnTimeout: askback.OnTimeoutWait,
	}
	a.Confirmation = &askback.Confirmation{
		ToolName: "drop", Input: []byte(`{"a":1}`), Tier: "confirm", Digest: "sha256:00",
	}
	s, _, err := step(lifecycle.AskState{}, lifecycle.Asked{Ask: a, Owner: "bot", At: nine})
	if err != nil {
		t.Fatal(err)
	}
	without, err := s.AppendMoving(nil)
	if err != nil || strings.Contains(string(without), "held") {
		t.Fatalf("got %s, %v; want no held answers", without, err)
	}
	in := lifecycle.Answered{By: "ana", Via: askback.ChannelWeb, GrantID: "grt_1", Token: "tok_1", At: nine}
	in.Answer = askback.Answer{Decision: askback.ApproveAll, Reason: "yes", Grant: &askback.GrantRequest{
		Scope: askback.ScopeTool, ExpiresIn: time.Hour,
	}}
	if s, _, err = step(s, lifecycle.Held{Answered: in, For: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	fixed, _ := s.AppendFixed(nil)
	moving, _ := s.AppendMoving(nil)
	got, err := lifecycle.DecodeAsk(rowOf(s), fixed, moving)
	if err != nil || len(got.Held) != 1 {
		t.Fatalf("got %+v, %v", got.Held, err)
	}
	if want := s.Held[0]; got.Held[0].Token != want.Token || got.Held[0].GrantID != want.GrantID ||
		!got.Held[0].SendsAt.Equal(want.SendsAt) || *got.Held[0].Answer().Grant != *want.Answer().Grant {
		t.Errorf("got %+v, want %+v", got.Held[0], want)
	}
}

// The same answer with another token is held with the new token. It is sent even if the first token is
// revoked meanwhile.
func TestRepeatedHeldAnswerUsesNewToken(t *testing.T) {
	a := askback.Ask{
		ID: "ask_1", SessionID: "ses_1", Agent: "bot", Kind: askback.Questions,
		Questions: []askback.Question{{ID: "q1", Text: "Why?"}}, Quorum: 1, OnTimeout: askback.OnTimeoutWait,
	}
	s, _, err := step(lifecycle.AskState{}, lifecycle.Asked{Ask: a, Owner: "bot", At: nine})
	if err != nil {
		t.Fatal(err)
	}
	for i, token := range []string{"tok_1", "tok_2"} {
		in := lifecycle.Answered{
			By: "ana", Via: askback.ChannelWeb, Token: token, At: nine.Add(time.Duration(i) * time.Second),
		}
		in.Answer = askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "because"}}}
		if s, _, err = step(s, lifecycle.Held{Answered: in, For: 5 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if len(s.Held) != 1 || s.Held[0].Token != token {
			t.Errorf("got %+v, want one answer with %s", s.Held, token)
		}
	}
}
