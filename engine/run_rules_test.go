package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A failed request to a model is repeated after a pause. No goroutine waits during the pause, and the tokens
// of the failed request are counted.
func TestFailedRequestOfAHostedRunIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		h := newHost(t, &scriptRunner{reply: func(context.Context, conversation.Run, func(string)) conversation.Input {
			if requests++; requests < 3 {
				return conversation.ModelFailed{
					Error: "overloaded", Retry: true, After: time.Minute, Usage: conversation.Usage{InputTokens: 5},
				}
			}
			return says("End.")
		}})
		defer h.stop()
		begun := time.Now()
		s := h.run("Go.")
		for s.Status == askback.SessionRunning {
			<-time.After(time.Second)
			s = h.settled(s.ID)
		}
		h.check("session", fmt.Sprint(s.Status, s.Tokens, time.Since(begun)), "completed22 2m0s")
	})
}

// A run whose agent was removed, or whose model refuses, fails with a readable error.
func TestHostedRunFailsWithReadableError(t *testing.T) {
	for _, in := range []conversation.Input{
		conversation.RunFailed{Error: "the agent is gone"}, conversation.ModelFailed{Error: "the agent is gone"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t, &scriptRunner{
				reply: func(context.Context, conversation.Run, func(string)) conversation.Input { return in },
			})
			defer h.stop()
			s := h.run("Go.")
			h.check("session", fmt.Sprint(s.Status, s.Error, s.Final()), "failedthe agent is gonetrue")
			_, err := h.ana.Send(t.Context(), s.ID, askback.SendMessage{Text: "Go on."})
			if !errors.Is(err, askback.ErrEnded) {
				t.Errorf("a message to it: got %v, want %v", err, askback.ErrEnded)
			}
		})
	}
}

// A deadline with on_timeout fail fails the run. With the other values, the run goes on (E7, F5).
func TestOnTimeoutFailFailsHostedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("ask", `{"question":"Which?"}`)), says("End.")},
		}}
		h := newHost(t, r)
		defer h.stop()
		h.engine.Set(engine.Settings{
			Routes: []askback.Route{{Timeout: askback.Span(time.Hour), OnTimeout: askback.OnTimeoutDecline}},
		})
		s := h.run("Go.")
		<-time.After(2 * time.Hour)
		s = h.settled(s.ID)
		h.check("session", fmt.Sprint(s.Status, s.AsksPending), "completed0")
		h.check("the model read", h.heard(s.ID)[2], "result 1: expired")
	})
}

// A person may send a message while an ask is open. The message waits for the outcome, and does not answer
// the ask.
func TestMessageToAHostedRunWaitsForItsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("ask", `{"question":"Which?"}`)), says("End.")},
		}})
		defer h.stop()
		s := h.run("Go.")
		a := h.asked()
		if _, err := h.ana.Send(t.Context(), s.ID, askback.SendMessage{Text: "Make it short."}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.ana.Send(t.Context(), s.ID, askback.ResumeSession{}); !errors.Is(err, askback.ErrAsksOpen) {
			t.Errorf("resume: got %v, want %v", err, askback.ErrAsksOpen)
		}
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("A")); err != nil {
			t.Fatal(err)
		}
		s = h.settled(s.ID)
		h.check("the model read", h.heard(s.ID)[2:], []string{"result 1: answer: A", "user: Make it short."})
		page, err := h.ana.Messages(t.Context(), s.ID, "", 0)
		var texts []string
		for _, m := range page.Items {
			texts = append(texts, m.By+": "+m.Text)
		}
		h.check("messages", fmt.Sprint(strings.Join(texts, "\n"), err), "ana: Go.\nana: Make it short.\n: End.<nil>")
		h.check("events", strings.Count(strings.Join(h.events(s.ID), "\n"), "message_queued Make it short."), 1)
	})
}

// Programs cannot report for a hosted session. An agent sees only the hosted sessions that it started.
func TestHostedSessionBelongsToItsStarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{
			scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("ask", `{"question":"Which?"}`))}},
		})
		defer h.stop()
		bot, eve := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"}),
			h.engine.As(askback.Principal{Kind: askback.Agent, Name: "poem"})
		one, err := bot.Start(t.Context(),
			askback.SessionRequest{Agent: "poem", Payload: json.RawMessage("{\"text\":\"```\"}"), Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := bot.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Other.", Key: "k"})
		h.check("the same key", fmt.Sprint(again.ID, again.Repeated, err), one.ID+"true <nil>")
		s := h.settled(one.ID)
		h.check("owner", fmt.Sprint(s.Owner, s.StartedBy, string(s.Payload)), "bot{\"text\":\"```\"}")
		h.check("the model read", h.heard(s.ID), []string{"user: The payload:\n````json\n{\"text\":\"```\"}\n````"})
		for _, cmd := range []askback.Command{askback.Report{Text: "x"}, askback.Complete{}, askback.SetTodos{}} {
			if _, err := bot.Send(t.Context(), s.ID, cmd); !errors.As(err, new(askback.Invalid)) {
				t.Errorf("%T: got %v, want an Invalid", cmd, err)
			}
		}
		for _, cmd := range []askback.Command{askback.EndTurn{}, askback.EndSession{}} {
			if _, err := eve.Send(t.Context(), s.ID, cmd); !errors.Is(err, askback.ErrNotFound) {
				t.Errorf("%T by another agent: got %v, want %v", cmd, err, askback.ErrNotFound)
			}
		}
		if _, err := eve.Get(t.Context(), h.asked().ID); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("an agent with the name of the hosted one reads its ask: %v", err)
		}
		if _, err := h.ana.Start(t.Context(),
			askback.SessionRequest{Agent: "nil", Prompt: "x"}); !errors.As(err, new(askback.Invalid)) {
			t.Errorf("an unknown agent: got %v, want an Invalid", err)
		}
		if _, err := h.ana.Start(t.Context(),
			askback.SessionRequest{Agent: "poem"}); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("a person registers an external run: got %v, want %v", err, askback.ErrForbidden)
		}
	})
}

// If a grant is revoked after it approved a call, and before the tool runs, the tool does not run (F7, F8).
func TestRevokedGrantStopsTheTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
			says("", call("confirmed", `{"n":1}`)), says("", call("confirmed", `{"n":1}`)), says("End."),
		}}}
		h := newHost(t, r)
		defer h.stop()
		s := h.run("Go.")
		r.whenSettled(func(o askback.Outcome) {
			if o.Actor.Kind == askback.ActorPolicy {
				if _, err := h.ana.Revoke(t.Context(), o.GrantID); err != nil {
					t.Error(err)
				}
			}
		})
		if _, err := h.ana.Answer(t.Context(), h.asked().ID, askback.Answer{Decision: askback.ApproveAll}); err != nil {
			t.Fatal(err)
		}
		s = h.settled(s.ID)
		h.check("executed", len(r.ran()), 1)
		h.check("the model read", strings.Contains(h.heard(s.ID)[4], "approval was revoked"), true)
	})
}

// A tool does not run if its arguments differ from the approved arguments (F7).
func TestChangedArgumentsAreNotApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("confirmed", `{"n":1}`)), says("End.")},
		}}
		h := newHost(t, r)
		defer h.stop()
		s := h.run("Go.")
		// now the definition of the agent has another server
		r.whenSettled(func(askback.Outcome) { r.server = "other" })
		if _, err := h.ana.Answer(t.Context(), h.asked().ID, askback.Answer{Decision: askback.Approve}); err != nil {
			t.Fatal(err)
		}
		s = h.settled(s.ID)
		h.check("executed", len(r.ran()), 0)
		h.check("the model read", strings.Contains(h.heard(s.ID)[2], "differ from the approved ones"), true)
	})
}

// An engine without a runner leaves the work of runs to an engine that has a runner.
func TestRunsWaitForAServerWithAgents(t *testing.T) {
	t.Run("no agents", func(t *testing.T) { testRunWaits(t, nil, 0) })
	t.Run("another agent", func(t *testing.T) { testRunWaits(t, partialRunner{&scriptRunner{}}, 30*time.Second) })
}

// A partialRunner has only the agent child.
type partialRunner struct{ *scriptRunner }

func (partialRunner) Hosts(agent string) bool { return agent == "child" }

// testRunWaits tests that a run of the agent poem waits while the only process has another runner. When a
// process with the agent starts, the run must go on within the given time.
func testRunWaits(t *testing.T, other engine.Runner, within time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		h := &host{t: t, runner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("ask", `{"question":"Which?"}`)), says("End.")},
		}}}
		h.start(s)
		one := h.run("Go.")
		a := h.asked()
		h.stop()
		plain := engine.New(s,
			&engine.Options{Runner: other, Channels: map[string]engine.Channel{"webhook": &receiver{}}})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = plain.Run(ctx) }()
		if _, err := plain.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), a.ID,
			askback.Choose("A")); err != nil {
			t.Fatal(err)
		}
		<-time.After(12*time.Hour + 10*time.Second)
		stop()
		<-done
		h.start(s)
		defer h.stop()
		<-time.After(within)
		one = h.settled(one.ID)
		h.check("session", fmt.Sprint(one.Status, string(one.Result)), `completed"End."`)
	})
}

// Old runs are deleted with their sessions, and not before (E9).
func TestOldRunsAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		h := &host{t: t, runner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("ask", `{"question":"Which?"}`)), says("End.")},
		}}}
		h.start(s)
		defer h.stop()
		h.engine.Set(engine.Settings{Retention: 24 * time.Hour})
		one := h.run("Go.")
		a := h.asked()
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("A")); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Hour)
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("B")); !errors.Is(err, askback.ErrSettled) {
			t.Fatal(err)
		}
		kept := func() (kinds []string) {
			synctest.Wait()
			for _, kind := range []string{"session", "run"} {
				if _, err := s.Read(t.Context(), kind, one.ID); err == nil {
					kinds = append(kinds, kind)
				}
			}
			return kinds
		}
		<-time.After(20 * time.Hour)
		h.check("kept while its ask is", kept(), []string{"session", "run"})
		<-time.After(20 * time.Hour)
		h.check("kept", kept(), []string{})
	})
}

// Requests to models that exceed the number of slots run later, and do not delay deliveries. Hosted agents
// may have more open asks than other agents.
func TestManyHostedRunsDoNotDelayDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 400
		busy, most, release := 0, 0, make(chan struct{})
		var mu sync.Mutex
		r := &scriptRunner{}
		r.reply = func(_ context.Context, run conversation.Run, _ func(string)) conversation.Input {
			mu.Lock()
			busy++
			most = max(most, busy)
			mu.Unlock()
			<-release
			mu.Lock()
			defer mu.Unlock()
			busy--
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.messages[run.ID]) > 1 {
				return says("End.")
			}
			return says("", call("ask", `{"question":"Which?"}`))
		}
		hook := &receiver{}
		h := &host{t: t, runner: r, channels: map[string]engine.Channel{"webhook": hook}}
		s := &postponed{Store: memstore.New()}
		h.start(s)
		defer h.stop()
		for range runs {
			if _, err := h.ana.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go."}); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Minute)
		synctest.Wait()
		h.check("effects that were put back", s.count.Load(), 0)
		bot := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		if _, err := bot.Ask(t.Context(),
			askback.Request{Questions: []askback.Question{{Text: "Now?"}}, CallbackURL: callback}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.check("deliveries", len(hook.events()), 1)
		close(release)
		synctest.Wait()
		l, err := h.engine.Load(t.Context())
		h.check("open asks", fmt.Sprint(l.Pending, err, most <= 256), fmt.Sprint(runs+1, nil, true))
	})
}

// A postponed is a store that counts the effects that are scheduled for another attempt.
type postponed struct {
	engine.Store
	count atomic.Int64
}

func (s *postponed) Commit(ctx context.Context, c store.Change) (int64, error) {
	for _, d := range c.Done {
		if !d.Retry.IsZero() {
			s.count.Add(1)
		}
	}
	return s.Store.Commit(ctx, c)
}

// Two processes share the runs of a store. Each tool runs once, and each question is asked once (F1).
func TestTwoProcessesShareHostedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {
				says("", call("write", `{"n":1}`), call("spawn", `{}`)), says("", call("confirmed", `{"n":2}`)),
				says("End."),
			},
			"child": {says("", call("ask", `{"question":"Which?"}`)), says("Result.")},
		}}
		one, two := &host{t: t, runner: r}, &host{t: t, runner: r}
		one.start(s)
		defer one.stop()
		two.start(s)
		defer two.stop()
		const runs = 20
		for i := range runs {
			h := []*host{one, two}[i%2]
			if _, err := h.ana.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go."}); err != nil {
				t.Fatal(err)
			}
		}
		answered := 0
		for range 4 {
			<-time.After(time.Minute)
			synctest.Wait()
			page, err := two.ana.List(t.Context(), askback.Query{Limit: askback.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range page.Items {
				h, answer := []*host{one, two}[i%2], askback.Choose("A")
				if a.Kind == askback.Confirm {
					answer = askback.Answer{Decision: askback.Approve}
				}
				if _, err := h.ana.Answer(t.Context(), a.ID, answer); err != nil {
					t.Errorf("answer %s: %v", a.ID, err)
				}
				answered++
			}
		}
		one.check("answers", answered, runs*3)
		one.check("tools that ran", len(r.ran()), runs*2)
		page, err := one.ana.Sessions(t.Context(),
			askback.SessionQuery{Status: askback.SessionCompleted, Limit: askback.MaxLimit})
		one.check("completed", fmt.Sprint(len(page.Items), err), fmt.Sprint(runs*3, " ", nil))
	})
}

// With no_self_approval, no person who instructed a run may approve its calls. These people are the person
// who started the run, the people who wrote to it, and the owner of the token that started it. The rule also
// holds for the run's children (F12).
func TestPeopleWhoInstructedARunCannotApproveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem":  {says("Ready."), says("", call("spawn", `{}`)), says("End.")},
			"child": {says("", call("confirmed", `{}`)), says("End.")},
		}})
		defer h.stop()
		h.engine.Set(engine.Settings{Routes: []askback.Route{{NoSelfApproval: true}}})
		bot := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "ben"})
		one, err := bot.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		s := h.settled(one.ID)
		if _, err := h.ana.Send(t.Context(), s.ID, askback.SendMessage{Text: "Delete production."}); err != nil {
			t.Fatal(err)
		}
		h.settled(s.ID)
		page, err := h.engine.As(askback.Principal{Kind: askback.Responder, Name: "cem"}).List(t.Context(),
			askback.Query{})
		if err != nil || len(page.Items) != 2 {
			t.Fatalf("got %d asks, %v, want the asks of two children", len(page.Items), err)
		}
		for _, name := range []string{"ana", "ben", "cem"} {
			who := h.engine.As(askback.Principal{Kind: askback.Responder, Name: name})
			_, err := who.Answer(t.Context(), page.Items[0].ID, askback.Decide(askback.Approve, ""))
			if errors.Is(err, askback.ErrSelfApproval) != (name != "cem") || name == "cem" && err != nil {
				t.Errorf("%s approves: got %v", name, err)
			}
		}
	})
}

// The limit for open asks also limits the open runs of a program. Its open sessions that are not hosted do
// not count. Each turn that the program starts counts toward its limit per minute. The runs of a program are
// unattended.
func TestRunsThatProgramsStartAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attended atomic.Bool
		h := newHost(t,
			&scriptRunner{reply: func(_ context.Context, run conversation.Run, _ func(string)) conversation.Input {
				if !run.Unattended {
					attended.Store(true)
				}
				if run.Agent == "child" {
					return says("End.")
				}
				return says("", call("ask", `{"question":"Which?"}`))
			}})
		defer h.stop()
		bot := h.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		for range 110 { // these sessions are not hosted, so they have a separate limit
			if _, err := bot.Start(t.Context(), askback.SessionRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		started := 0
		for range 120 { // newHost sets MaxOpen to 100
			if _, err := bot.Start(t.Context(), askback.SessionRequest{Agent: "poem", Prompt: "Go."}); err == nil {
				started++
			} else if !errors.Is(err, askback.ErrTooMany) {
				t.Fatal(err)
			}
		}
		h.check("started", started, 100)
		h.engine.Set(engine.Settings{AsksPerMinute: 5, MaxOpen: 1000})
		one, err := bot.Start(t.Context(), askback.SessionRequest{Agent: "child", Prompt: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		resumed := 0
		for range 10 {
			h.settled(one.ID)
			if _, err := bot.Send(t.Context(), one.ID, askback.ResumeSession{}); err == nil {
				resumed++
			} else if !errors.Is(err, askback.ErrTooFast) {
				t.Fatal(err)
			}
		}
		h.check("turns in a minute", fmt.Sprint(1+resumed, attended.Load()), "5 false")
	})
}

// A brokenHistory is a store whose tool results cannot be decoded.
type brokenHistory struct{ engine.Store }

func (s brokenHistory) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	rows, err := s.Store.History(ctx, stream, after, limit)
	for i := range rows {
		if rows[i].Type == "tool_complete" {
			rows[i].Data = []byte("{")
		}
	}
	return rows, err
}

// A run fails with an error if a part of the run cannot be read. It does not wait forever.
func TestDamagedHostedRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, runner: &scriptRunner{
			scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("read", `{}`)), says("End.")}},
		}}
		h.start(brokenHistory{memstore.New()})
		defer h.stop()
		s := h.run("Go.")
		h.check("session", fmt.Sprint(s.Status, strings.Contains(s.Error, "damaged")), "failedtrue")
	})
}

// If a run is cancelled between two reads of the run, its work ends. The worker reads the run once more after
// it has registered for changes.
func TestRunCancelledBetweenTwoReadsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *host
		ended := false
		h = &host{t: t, runner: &scriptRunner{
			reply: func(ctx context.Context, _ conversation.Run, _ func(string)) conversation.Input {
				<-ctx.Done()
				ended = true
				return conversation.ModelFailed{Error: "stopped"}
			},
		}}
		s := &cancelling{Store: memstore.New()}
		s.before = func(id string) {
			if _, err := h.ana.Send(t.Context(), id, askback.EndTurn{}); err != nil {
				t.Error(err)
			}
		}
		h.start(s)
		defer h.stop()
		one := h.run("Go.")
		h.check("the model ended", fmt.Sprint(ended, one.Status), "truecompleted")
	})
}

// A cancelling is a store that calls its function before once, with the id of the first stream whose history
// is read.
type cancelling struct {
	engine.Store
	before func(id string)
	once   sync.Once
}

func (s *cancelling) History(ctx context.Context, stream string, after int64, limit int) ([]store.Event, error) {
	if stream != "" {
		s.once.Do(func() { s.before(stream) })
	}
	return s.Store.History(ctx, stream, after, limit)
}
