package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// The values of random events. There are few values of each kind. So random runs often have repeated answers,
// two people at the same time, and events exactly at the deadline.
var (
	people  = rapid.SampledFrom([]string{"ana", "ben", "cem"})
	vias    = rapid.SampledFrom([]askback.Channel{askback.ChannelWeb, askback.ChannelSlack, askback.ChannelTerminal})
	texts   = rapid.SampledFrom([]string{"", "A", "B", "own <b>", "two\nlines"})
	digests = rapid.SampledFrom([]string{"sha256:00", "sha256:00", edited, "sha256:01"})
)

// edited is the digest of edited arguments.
const edited = "sha256:ed"

// anyAsked generates the first event for a normalized ask of any kind.
func anyAsked() *rapid.Generator[lifecycle.Asked] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Asked {
		ev := lifecycle.Asked{At: nine, Owner: "deploy-bot", Request: texts.Draw(t, "request")}
		if rapid.Bool().Draw(t, "callback") {
			ev.Callback = "https://Agents.example.com/calls?key=secret"
		}
		r := askback.Request{Title: texts.Draw(t, "title")}
		if rapid.Bool().Draw(t, "detail") {
			r.Context, r.To, r.Tags = json.RawMessage(`{"why":"<b>"}`), []string{"ana", "ben"}, []string{"prod"}
		}
		if rapid.Bool().Draw(t, "limited") {
			r.Timeout = rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, time.Hour}).Draw(t, "timeout")
			r.OnTimeout = rapid.SampledFrom([]askback.OnTimeout{
				askback.OnTimeoutWait, askback.OnTimeoutFail, askback.OnTimeoutDefault, askback.OnTimeoutDecline,
			}).Draw(t, "on_timeout")
		}
		if rapid.Bool().Draw(t, "confirmation") {
			r.Confirmation = &askback.Confirmation{ToolName: "drop_table", Input: json.RawMessage(`{"n":1.0}`)}
			if r.OnTimeout == askback.OnTimeoutDefault {
				r.OnTimeout = askback.OnTimeoutDecline
			}
			r.Quorum = rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "quorum")
		} else {
			for i := range rapid.IntRange(1, 3).Draw(t, "questions") {
				r.Questions = append(r.Questions, anyQuestion(i, r.OnTimeout).Draw(t, "question"))
			}
		}
		r, err := r.Normalize()
		if err != nil {
			t.Fatal(err)
		}
		ev.Ask = askback.Ask{
			ID: "ask_1", SessionID: rapid.SampledFrom([]string{"ses_1", "ses_2"}).Draw(t, "session"),
			Agent: "the deployer", Kind: askback.Questions, Title: r.Title, Questions: r.Questions,
			Confirmation: r.Confirmation, Context: r.Context, To: r.To, Quorum: r.Quorum, Tags: r.Tags,
			OnTimeout: r.OnTimeout,
		}
		if r.Confirmation != nil {
			ev.Ask.Kind, ev.Ask.Confirmation.Digest = askback.Confirm, "sha256:00"
		}
		if r.Timeout > 0 {
			ev.Ask.Deadline = nine.Add(r.Timeout)
		}
		if rapid.IntRange(0, 2).Draw(t, "followed up") == 0 {
			ev.Ask.FollowUps = []askback.FollowUp{
				{At: nine.Add(time.Minute)},
				{At: nine.Add(5 * time.Minute)},
				{At: nine.Add(10 * time.Minute), To: []string{"@oncall"}},
			}
			ev.Ask.NoSelfApproval, ev.Ask.StartedBy, ev.Channels = true, "dan", []string{"post"}
		}
		return ev
	})
}

func anyQuestion(i int, onTimeout askback.OnTimeout) *rapid.Generator[askback.Question] {
	return rapid.Custom(func(t *rapid.T) askback.Question {
		q := askback.Question{Text: fmt.Sprintf("Question %d?", i+1), Optional: rapid.Bool().Draw(t, "optional")}
		if rapid.Bool().Draw(t, "options") {
			q.Options = askback.Options("A", "B", "C")
			q.MultiSelect, q.NoOther = rapid.Bool().Draw(t, "multi"), rapid.Bool().Draw(t, "no other")
		}
		if onTimeout == askback.OnTimeoutDefault && !q.Optional || rapid.Bool().Draw(t, "default") {
			q.Default = []string{"A"}
		}
		return q
	})
}

// anyAnswer generates answers, most of them valid.
func anyAnswer(a askback.Ask) *rapid.Generator[askback.Answer] {
	return rapid.Custom(func(t *rapid.T) askback.Answer {
		out := askback.Answer{Comment: texts.Draw(t, "comment")}
		if (a.Kind == askback.Confirm) != (rapid.IntRange(0, 9).Draw(t, "wrong kind") == 0) {
			out.Decision = rapid.SampledFrom(
				[]askback.Decision{askback.Approve, askback.Deny, askback.ApproveAll},
			).Draw(t, "decision")
			out.Reason = texts.Draw(t, "reason")
			if rapid.IntRange(0, 2).Draw(t, "edited") == 0 {
				out.Input = json.RawMessage(`{"n":2}`)
			}
			if out.Decision == askback.ApproveAll {
				out.Input = nil
				out.Grant = &askback.GrantRequest{Scope: rapid.SampledFrom(scopes).Draw(t, "scope")}
			}
			return out
		}
		for i := range a.Questions {
			q := askback.QuestionAnswer{ID: fmt.Sprintf("q%d", i+1), Selected: []string{"A"}}
			if rapid.Bool().Draw(t, "differs") {
				q.Selected, q.Other, q.Notes = rapid.SliceOfN(texts, 0,
					2).Draw(t, "selected"), texts.Draw(t, "other"), texts.Draw(t, "notes")
			}
			out.Answers = append(out.Answers, q)
		}
		return out
	})
}

var scopes = []askback.Scope{"", askback.ScopeTool, askback.ScopeInput, askback.ScopeSession}

// anyGrant generates grants, many of which cover the ask.
func anyGrant(a askback.Ask, at time.Time) *rapid.Generator[askback.Grant] {
	return rapid.Custom(func(t *rapid.T) askback.Grant {
		g := askback.Grant{
			ID: "grt_9", Owner: "deploy-bot", Agent: a.Agent, ToolName: "drop_table",
			Scope:     rapid.SampledFrom(scopes).Draw(t, "scope"),
			SessionID: rapid.SampledFrom([]string{"ses_1", "ses_2"}).Draw(t, "session"),
			Digest:    digests.Draw(t, "digest"), By: people.Draw(t, "by"), CreatedAt: nine,
			ExpiresAt: at.Add(rapid.SampledFrom([]time.Duration{0, 1, time.Hour}).Draw(t, "lasts")), Uses: 1,
		}
		switch rapid.IntRange(0, 9).Draw(t, "but") {
		case 0:
			g.RevokedAt = at
		case 1:
			g.Owner = "other-bot"
		case 2:
			g.ToolName = "drop_view"
		}
		return g
	})
}

// anyTime generates times near the deadline and the limits of claims.
func anyTime(a askback.Ask, now time.Time) *rapid.Generator[time.Time] {
	at := []time.Time{
		now, now.Add(time.Second), now.Add(29 * time.Second), now.Add(30 * time.Second), now.Add(time.Minute),
		now.Add(5 * time.Minute), now.Add(20 * time.Minute),
		now.Add(-time.Second), // the clocks of processes may differ
	}
	if !a.Deadline.IsZero() {
		for _, hold := range []time.Duration{0, limits.ClaimHold, limits.MaxClaimHold} {
			due := a.Deadline.Add(hold)
			at = append(at, due.Add(-time.Millisecond), due, due.Add(time.Millisecond))
		}
	}
	return rapid.SampledFrom(at)
}

// anyEvent generates an event, which may be valid or invalid in the present state.
func anyEvent(a askback.Ask, at time.Time) *rapid.Generator[lifecycle.Input] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Input {
		by, via := people.Draw(t, "by"), vias.Draw(t, "via")
		switch rapid.IntRange(0, 19).Draw(t, "event") {
		case 0, 1, 9:
			return lifecycle.Answered{
				By: by, Via: via, Answer: anyAnswer(a).Draw(t, "answer"), Digest: edited, GrantID: "grt_1", At: at,
			}
		case 14, 15:
			return lifecycle.FollowedUp{People: []string{by}, Receivers: anyReceivers.Draw(t, "receivers"), At: at}
		case 16:
			to := rapid.SampledFrom([][]string{{"ana"}, {"ben", "cem"}, {"@payments"}}).Draw(t, "to")
			return lifecycle.Reassigned{
				By: by, Via: via, To: to, People: []string{"ana", by}, Receivers: anyReceivers.Draw(t, "receivers"),
				At: at,
			}
		case 19:
			return lifecycle.Repeated{At: at}
		case 17:
			return lifecycle.Seen{By: by, Via: via, At: at}
		case 13:
			return lifecycle.Acked{At: at}
		case 12:
			return lifecycle.Covered{Grant: anyGrant(a, at).Draw(t, "grant"), At: at}
		case 2:
			return lifecycle.Declined{By: by, Via: via, Reason: texts.Draw(t, "reason"), At: at}
		case 3:
			kind := rapid.SampledFrom([]askback.ActorKind{askback.ActorAgent, askback.ActorOperator}).Draw(t, "kind")
			return lifecycle.Cancelled{
				By: askback.Actor{Kind: kind, Name: "deploy-bot"}, Via: via, Reason: texts.Draw(t, "reason"), At: at,
			}
		case 4, 5, 6:
			return lifecycle.Claimed{By: by, Via: via, At: at}
		case 7, 8:
			return lifecycle.Due{At: at}
		case 10:
			return lifecycle.Consumed{Digest: digests.Draw(t, "digest"), At: at}
		}
		return lifecycle.Asked{Ask: a, Owner: by, At: at}
	})
}

// anyReceivers generates receivers. Some of their people have quiet hours.
var anyReceivers = rapid.SampledFrom([][]lifecycle.Receiver{
	nil,
	{{Channel: "post", Name: "phone", Person: "ana"}},
	{{Channel: "post", Name: "chat"}, {Channel: "post", Name: "phone", Person: "ana", NotBefore: nine.Add(time.Hour)}},
})

// A transition is one step of a random run.
type transition struct {
	before, after lifecycle.AskState
	event         lifecycle.Input
	history       []lifecycle.Event
	effects       []lifecycle.Effect
	unchanged     bool
	err           error
}

// late reports whether the event is a late answer that was recorded in the history.
func (m transition) late() bool {
	return errors.Is(m.err, askback.ErrSettled) && len(m.history) > 0
}

// step steps an ask.
func step(s lifecycle.AskState, in lifecycle.Input) (lifecycle.AskState, []lifecycle.Event, error) {
	r, err := s.Step(in)
	return r.State, r.History, err
}

// anyRun draws a random run: an ask and 1 to 30 events. Some events are earlier than the previous event.
// Answers and grants come only after a random number of events. So runs have many events both before and
// after the outcome.
func anyRun(t *rapid.T) []transition {
	asked := anyAsked().Draw(t, "asked")
	var (
		run  []transition
		s    lifecycle.AskState
		now  = nine
		wait = rapid.IntRange(0, 10).Draw(t, "events before it may end")
	)
	apply := func(ev lifecycle.Input) {
		r, err := s.Step(ev)
		run = append(run, transition{s, r.State, ev, r.History, r.Effects, r.Unchanged, err})
		s = r.State
	}
	apply(asked)
	for i := range rapid.IntRange(1, 30).Draw(t, "events") {
		at := anyTime(asked.Ask, now).Draw(t, "at")
		if at.After(now) && at.Sub(now) < 2*time.Hour && rapid.IntRange(0, 3).Draw(t, "time goes on") > 0 {
			now = at
		}
		ev := anyEvent(asked.Ask, at).Draw(t, "event")
		switch ev.(type) {
		case lifecycle.Answered, lifecycle.Covered:
			if i >= wait {
				break
			}
			ev = lifecycle.Claimed{By: "ana", At: at}
		}
		if rapid.IntRange(0, 5).Draw(t, "receivers") == 0 {
			ev = lifecycle.ReceiversAdded{Receivers: rapid.SampledFrom([][]lifecycle.Receiver{
				{{Channel: "post", Name: "phone"}},
				{{Channel: "post", Name: "phone"}, {Channel: "post", Name: "chat"}},
				nil,
			}).Draw(t, "added"), At: at}
		}
		if len(s.Deliveries) > 0 && rapid.IntRange(0, 2).Draw(t, "about a delivery") == 0 {
			ev = anyDeliveryEvent(s.Deliveries, at).Draw(t, "delivery event")
		}
		apply(ev)
	}
	return run
}

// anyDeliveryEvent returns events of the deliveries of an ask or a session.
func anyDeliveryEvent(list []askback.Delivery, at time.Time) *rapid.Generator[lifecycle.Input] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Input {
		id := rapid.SampledFrom(list).Draw(t, "delivery").ID
		switch rapid.IntRange(0, 7).Draw(t, "result") {
		case 0:
			return lifecycle.SendAgain{ID: id, At: at}
		case 1:
			return lifecycle.SendFailed{ID: id, Error: "no reply", At: at}
		case 2:
			return lifecycle.SendFailed{ID: id, Error: "no reply", Retry: at.Add(time.Minute), At: at}
		case 3:
			return lifecycle.Sent{ID: "dlv_of_another", At: at}
		case 4:
			return lifecycle.ReceiptGiven{ID: id, Receipt: "message 1"}
		case 5:
			return lifecycle.Skipped{ID: id, At: at}
		}
		return lifecycle.Sent{ID: id, At: at}
	})
}

// forEachTransition checks an invariant for every transition of many random runs.
func forEachTransition(t *testing.T, check func(t *rapid.T, m transition)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		for _, m := range anyRun(t) {
			check(t, m)
		}
	})
}

// cloneState returns a deep copy of s.
func cloneState(s lifecycle.AskState) lifecycle.AskState {
	s.Ask = s.Ask.Clone()
	return s
}
