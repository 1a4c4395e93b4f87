package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// The transcripts of sessions (A2, B2, docs/wire.md §1) have this syntax:
//
//	09:00 deploy-bot starts
//	09:00 deploy-bot asks ask_1                   or: …, then fail
//	09:05 ask_1 is answered                       declined, cancelled, expired
//	09:05 ana says: text                          deploy-bot says: to followers
//	09:05 ana ends the turn: reason               ends the session
//	09:05 deploy-bot resumes: message
//	09:05 deploy-bot completes {"result": 1}      fails: error
//	09:05 deploy-bot plans Read, Write
//	09:00 deploy-bot starts, calling https://…    or: …, configured https://…
//	09:05 deploy-bot calls https://… from now on
//	09:00 poem starts, hosted
//	09:05 the run goes on                         ends its turn: "Rain."
//	09:05 the run fails: error                    is cancelled: reason
//	09:05 delivery 1 is sent                      as in the transcripts of asks
func TestSessionsMatchTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { runSession(t, path) })
	}
}

func runSession(t *testing.T, path string) {
	var s lifecycle.SessionState
	runStory(t, path, func(paragraph []string) string {
		r, err := s.Step(sessionEvent(t, s, paragraph[0]))
		before := s
		s = r.State
		return describeSession(before, r, err)
	})
}

func sessionEvent(t *testing.T, s lifecycle.SessionState, line string) lifecycle.Input {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	at := clock(t, first)
	if what, ok := strings.CutPrefix(rest, "delivery "); ok {
		return deliveryEvent(t, s.Deliveries, at, what)
	}
	if what, ok := strings.CutPrefix(rest, "the run "); ok {
		return runChange(t, s, what, at)
	}
	who, did, _ := strings.Cut(rest, " ")
	if id, how, ok := strings.Cut(rest, " is "); ok && strings.HasPrefix(id, "ask_") {
		how, fails := strings.CutSuffix(how, ", then fail")
		return lifecycle.AskClosed{ID: id, Fails: fails && how == "expired", At: at}
	}
	by := askback.Actor{Kind: askback.ActorPerson, Name: who}
	if strings.HasSuffix(who, "-bot") {
		by.Kind = askback.ActorAgent
	}
	tell := func(said askback.Command) lifecycle.Input {
		return lifecycle.SessionCommand{By: by, Via: askback.ChannelWeb, Command: said, At: at}
	}
	start, address, calls := strings.Cut(did, "s, calling ")
	start, configured, _ := strings.Cut(start, "s, configured ")
	if start == "start" && (calls || configured != "") {
		return lifecycle.SessionStarted{
			Session: askback.Session{ID: "ses_1", Owner: who, Agent: who}, Callback: address, Configured: configured,
			At: at,
		}
	}
	if address, ok := strings.CutSuffix(did, " from now on"); ok {
		return lifecycle.CallbackChanged{Callback: strings.TrimPrefix(address, "calls "), At: at}
	}
	if did == "reads messages" {
		return lifecycle.MessagesRead{}
	}
	did, said, _ := strings.Cut(did, ": ")
	verb, object, _ := strings.Cut(did, " ")
	switch {
	case did == "starts, hosted":
		return lifecycle.SessionStarted{
			Session: askback.Session{ID: "ses_1", Owner: "hosted:" + who, Agent: who, Hosted: true}, At: at,
		}
	case verb == "starts":
		return lifecycle.SessionStarted{Session: askback.Session{ID: "ses_1", Owner: who, Agent: who}, At: at}
	case verb == "asks":
		return lifecycle.AskOpened{ID: object, At: at}
	case verb == "says" && by.Kind == askback.ActorAgent:
		return tell(askback.Report{Text: said})
	case verb == "says":
		return tell(askback.SendMessage{Text: said})
	case did == "ends the turn":
		return tell(askback.EndTurn{Reason: said})
	case did == "ends the session":
		return tell(askback.EndSession{Reason: said})
	case verb == "resumes":
		return tell(askback.ResumeSession{Message: said})
	case verb == "completes":
		return tell(askback.Complete{Result: json.RawMessage(strings.TrimPrefix(rest, who+" completes "))})
	case verb == "fails":
		return tell(askback.Complete{Status: askback.SessionFailed, Error: said})
	case verb == "plans":
		var todos []askback.Todo
		for what := range strings.SplitSeq(object, ", ") {
			todos = append(todos, askback.Todo{Content: what, Status: askback.TodoPending})
		}
		return tell(askback.SetTodos{Todos: todos})
	}
	t.Fatalf("cannot read %q", line)
	return nil
}

// runChange returns the input for a change of the run of a hosted session.
func runChange(t *testing.T, s lifecycle.SessionState, what string, at time.Time) lifecycle.Input {
	t.Helper()
	in := lifecycle.RunChanged{
		Status: askback.SessionRunning, Tokens: s.Session.Tokens + 10, CostUSD: s.Session.CostUSD, At: at,
		Cancel: lifecycle.Cancelled{By: askback.Actor{Kind: askback.ActorAgent, Name: s.Session.Agent}, At: at},
	}
	did, said, _ := strings.Cut(what, ": ")
	switch did {
	case "goes on":
	case "ends its turn":
		in.Status, in.Idle, in.Result = askback.SessionCompleted, true, json.RawMessage(said)
	case "fails":
		in.Status, in.Error = askback.SessionFailed, said
	case "is cancelled":
		in.Status, in.Error = askback.SessionCancelled, said
	default:
		t.Fatalf("cannot read %q", what)
	}
	return in
}

func describeSession(before lifecycle.SessionState, r lifecycle.Result[lifecycle.SessionState], err error) string {
	if err != nil {
		return fmt.Sprintf("rejected: %v\n", err)
	}
	if r.Unchanged {
		return "nothing changes\n"
	}
	var b strings.Builder
	one := r.State.Session
	fmt.Fprintf(&b, "%s", one.Status)
	for _, part := range []struct {
		before, text string
	}{{", ", one.Phase}, {", result ", string(one.Result)}, {", error ", one.Error}} {
		if part.text != "" {
			b.WriteString(part.before + part.text)
		}
	}
	fmt.Fprintf(&b, "; %d of %d asks open", one.AsksPending, one.AsksTotal)
	if one.ReadsMessages {
		b.WriteString("; reads messages")
	}
	b.WriteString("\n")
	describeDeliveries(&b, before.Deliveries, r.State.Deliveries)
	for _, h := range r.History {
		fmt.Fprintf(&b, "  history: %s", h.Type)
		for _, part := range []string{h.State, h.Ask, string(h.Role), h.Text} {
			if part != "" {
				b.WriteString(" " + part)
			}
		}
		for _, todo := range h.Todos {
			b.WriteString(" [" + todo.Content + "]")
		}
		b.WriteString("\n")
	}
	b.WriteString(describeHistory(nil, r.Effects))
	return b.String()
}

// anySessionRun draws a random run of a session.
func anySessionRun(t *rapid.T) []sessionTransition {
	var s lifecycle.SessionState
	var run []sessionTransition
	apply := func(ev lifecycle.Input) {
		r, err := s.Step(ev)
		run = append(run, sessionTransition{s, r.State, ev, r, err})
		s = r.State
	}
	at := nine
	started := lifecycle.SessionStarted{
		Session: askback.Session{ID: "ses_1", Owner: "deploy-bot", Agent: "deployer"}, At: at,
	}
	started.Session.Hosted = rapid.Bool().Draw(t, "hosted")
	if rapid.Bool().Draw(t, "callback") {
		started.Callback = "https://Agents.example.com/calls?key=secret"
	}
	if rapid.Bool().Draw(t, "configured") {
		started.Configured = "https://agents.example.com/all"
	}
	apply(started)
	for range rapid.IntRange(1, 25).Draw(t, "events") {
		at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(t, "after"))
		apply(anySessionEvent(s, at).Draw(t, "event"))
	}
	return run
}

type sessionTransition struct {
	before, after lifecycle.SessionState
	event         lifecycle.Input
	result        lifecycle.Result[lifecycle.SessionState]
	err           error
}

func anySessionEvent(s lifecycle.SessionState, at time.Time) *rapid.Generator[lifecycle.Input] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Input {
		by := askback.Actor{Kind: askback.ActorPerson, Name: people.Draw(t, "by")}
		said := texts.Draw(t, "text")
		tells := []askback.Command{
			askback.SendMessage{Text: said},
			askback.Report{Text: said},
			askback.EndTurn{Reason: said},
			askback.EndSession{Reason: said},
			askback.ResumeSession{Message: said},
			askback.Complete{Error: said},
			askback.Complete{Status: askback.SessionFailed, Error: said},
			askback.SetTodos{Todos: []askback.Todo{{Content: "a", Status: askback.TodoPending}}},
			askback.SetTodos{},
		}
		runs := []lifecycle.RunChanged{
			{Status: askback.SessionRunning, Tokens: 7, At: at},
			{Status: askback.SessionCompleted, Idle: true, Result: json.RawMessage(`"x"`), At: at},
			{Status: askback.SessionFailed, Error: said, At: at},
			{Status: askback.SessionCancelled, At: at},
		}
		switch n := rapid.IntRange(0, 19).Draw(t, "kind"); {
		case n == 19 && s.Session.Hosted:
			return rapid.SampledFrom(runs).Draw(t, "run")
		case n < 6:
			return lifecycle.AskOpened{ID: "ask_1", At: at}
		case n < 12 && s.Session.AsksPending > 0:
			return lifecycle.AskClosed{ID: "ask_1", Fails: rapid.IntRange(0, 9).Draw(t, "fails") == 0, At: at}
		case n == 12 && s.Session.AsksTotal > 0:
			return lifecycle.CallbackChanged{Callback: "https://agents.example.com/other", At: at}
		case n == 13 && s.Session.AsksTotal > 0:
			return lifecycle.MessagesRead{}
		case n < 16 && len(s.Deliveries) > 0:
			return anyDeliveryEvent(s.Deliveries, at).Draw(t, "delivery event")
		}
		return lifecycle.SessionCommand{
			By: by, Via: askback.ChannelWeb, Command: rapid.SampledFrom(tells).Draw(t, "tell"), At: at,
		}
	})
}

// Until a session ends, its status depends on its open asks. A final session does not change. Each change has
// an event in the history of the session, or in the history of the ask that ended. The stored form has the
// whole state (A7, docs/wire.md §1).
func TestSessionInvariantsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, m := range anySessionRun(t) {
			one := m.after.Session
			changed := cmp.Diff(m.before, m.after) != ""
			if m.err != nil && changed {
				t.Fatalf("%+v was rejected, and changed the session", m.event)
			}
			counted := false
			switch m.event.(type) {
			case lifecycle.AskClosed: // the event is in the history of the ask
				counted = true
			case lifecycle.CallbackChanged: // the address may be secret, so there is no event
				counted = true
			case lifecycle.MessagesRead: // nothing happened that could be followed
				counted = true
			case lifecycle.RunChanged: // the event is in the history of the run
				counted = true
			}
			if m.result.Unchanged && (changed || len(m.result.History)+len(m.result.Effects) > 0) {
				t.Fatalf("%+v: got unchanged with %+v", m.event, m.result)
			}
			if len(m.result.History) == 0 && changed && !counted {
				t.Fatalf("%+v changed the session, without history", m.event)
			}
			if was := m.before.Session; was.ID != "" && was.Final() && (one.Status != was.Status ||
				string(one.Result) != string(was.Result) || !one.CompletedAt.Equal(was.CompletedAt)) {
				t.Fatalf("%+v: got %s with %s after %s with %s", m.event, one.Status, one.Result, was.Status,
					was.Result)
			}
			if !one.Ended() && (one.Status == askback.SessionWaiting) != (one.AsksPending > 0) {
				t.Fatalf("%+v: got %s with %d open asks", m.event, one.Status, one.AsksPending)
			}
			if one.Ended() == one.CompletedAt.IsZero() {
				t.Fatalf("%+v: got %s, completed at %v", m.event, one.Status, one.CompletedAt)
			}
			cancels := slices.ContainsFunc(m.result.Effects,
				func(f lifecycle.Effect) bool { _, ok := f.(lifecycle.CancelOpenAsks); return ok })
			if cancels && one.AsksPending != 0 {
				t.Fatalf("%+v cancels all asks, and %d are open", m.event, one.AsksPending)
			}
			if diff := cmp.Diff(m.after, roundTripSession(t, m.after)); diff != "" {
				t.Fatalf("stored -, read +:\n%s", diff)
			}
		}
	})
}

// sessionRow returns the columns of a session.
func sessionRow(s lifecycle.SessionState) lifecycle.Row {
	one := s.Session
	return lifecycle.Row{
		ID: one.ID, Owner: one.Owner, Agent: one.Agent, Status: string(one.Status), Created: one.CreatedAt,
	}
}

func roundTripSession(t rapid.TB, s lifecycle.SessionState) lifecycle.SessionState {
	t.Helper()
	fixed, err := s.AppendFixed(nil)
	if err != nil {
		t.Fatal(err)
	}
	moving, err := s.AppendMoving(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lifecycle.DecodeSession(sessionRow(s), fixed, moving)
	if err != nil {
		t.Fatalf("%v, reading %s and %s", err, fixed, moving)
	}
	return out
}

// The error for a newer format states that a newer release is needed.
func TestNewerOrIncompleteSessionIsRejected(t *testing.T) {
	for _, c := range [][2]string{
		{`{"v":7,"id":"ses_1"}`, `{"v":1,"status":"running"}`}, {`{"v":1,"id":"ses_1"}`, `{"v":9,"status":[]}`},
	} {
		_, err := lifecycle.DecodeSession(lifecycle.Row{}, []byte(c[0]), []byte(c[1]))
		if err == nil || !strings.Contains(err.Error(), "newer release") {
			t.Errorf("%s %s: got %v, want an error that names a newer release", c[0], c[1], err)
		}
	}
	for _, c := range [][2]string{{`{}`, `{}`}, {`[`, `{}`}, {`{"v":1,"id":"ses_1"}`, `{"v":1}`}} {
		if got, err := lifecycle.DecodeSession(lifecycle.Row{}, []byte(c[0]), []byte(c[1])); err == nil {
			t.Errorf("%s %s: got %+v, want an error", c[0], c[1], got)
		}
	}
}
