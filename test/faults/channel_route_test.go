package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/fakes"
)

// A routedRig is an engine with routes whose clock the test moves. Ana reads Slack, ben
// Telegram, and zoe nothing.
type routedRig struct {
	*channelRig
	t     *testing.T
	ahead atomic.Int64 // how far the clock of the engine is ahead, in nanoseconds
	runs  []func(context.Context, *engine.Engine)
}

func newRoutedRig(t *testing.T, s engine.Settings, at time.Time) *routedRig {
	g := &routedRig{t: t, channelRig: &channelRig{
		at: map[string]*venue{"ana": routedVenue(t, "slack"), "ben": routedVenue(t, "telegram")},
	}}
	g.ahead.Store(int64(time.Until(at)))
	o := engine.Options{Channels: map[string]engine.Channel{}, Now: g.now}
	for person, v := range g.at {
		c, run, err := v.open(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		o.Channels[v.channel] = c
		g.runs = append(g.runs, run)
		for _, r := range v.receivers() {
			if r.Person == person {
				s.Receivers = append(s.Receivers, r)
			}
		}
	}
	o.Settings = s
	g.engine = engine.New(memstore.New(), &o)
	g.engine.Link(publicPages)
	g.agent = g.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	g.start()
	t.Cleanup(func() { g.stop() })
	for person, v := range g.at {
		if err := v.join(t.Context(), person, g.engine.As(askback.Principal{Kind: askback.Responder, Name: person}),
			nil); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *routedRig) now() time.Time { return time.Now().Add(time.Duration(g.ahead.Load())) }

func (g *routedRig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = g.engine.Run(ctx) })
	for _, run := range g.runs {
		group.Go(func() { run(ctx, g.engine) })
	}
	g.stop = func() { cancel(); group.Wait() }
}

// advance moves the clock. It restarts the engine, because the timers of an engine use the real clock.
func (g *routedRig) advance(by time.Duration) {
	g.stop()
	g.ahead.Add(int64(by))
	g.start()
}

// messages returns the messages about an ask that a person sees. A message without an id matches if its text
// contains the step.
func (g *routedRig) messages(person string, a askback.Ask, step string) []fakes.Message {
	return sightsWith(g.at[person], person, a.ID, step)
}

// routedVenue starts a service and returns its venue.
func routedVenue(t *testing.T, name string) *venue {
	t.Helper()
	all, err := fakes.Start(t, fakes.Options{}, name)
	if err != nil {
		t.Fatal(err)
	}
	return newVenues(all)[0]
}

// wait waits until a person sees a matching message about an ask, and returns the message.
func (g *routedRig) wait(
	what, person string, a askback.Ask, step string, ok func(fakes.Message) bool,
) (found fakes.Message) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), venueTime)
	defer cancel()
	reached := until(ctx, func() bool {
		for _, m := range g.messages(person, a, step) {
			if ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	if !reached {
		g.t.Fatalf("%s: %s sees %v", what, person, g.messages(person, a, step))
	}
	return found
}

// wantNone fails the test if a person sees a message about an ask.
func (g *routedRig) wantNone(what, person string, a askback.Ask, step string) {
	g.t.Helper()
	if all := g.messages(person, a, step); len(all) > 0 {
		g.t.Errorf("%s: %s sees %v", what, person, all)
	}
}

func (g *routedRig) ask(r askback.Request) askback.Ask {
	g.t.Helper()
	a, err := g.agent.Ask(g.t.Context(), r)
	if err != nil {
		g.t.Fatal(err)
	}
	return a
}

func live(m fakes.Message) bool    { return m.Live }
func settled(m fakes.Message) bool { return m.Settled && !m.Live }

// A question that zoe does not answer reaches ana in Slack after ten minutes. The question reaches ben in
// Telegram after the quiet hours of ben, because the second escalation is within these hours. When ben
// presses a button, the question is settled, and the message in Slack shows the outcome (F12).
func TestEscalationReachesPeopleInTheirChannels(t *testing.T) {
	minutes := func(n int) askback.Span { return askback.Span(time.Duration(n) * time.Minute) }
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	g := newRoutedRig(t, engine.Settings{
		People: []askback.Person{{Name: "zoe"}, {Name: "ana"}, {Name: "ben", TimeZone: "UTC", Quiet: "12:15-12:30"}},
		Routes: []askback.Route{{
			To: []string{"zoe"},
			Escalate: []askback.Escalation{
				{After: minutes(10), To: []string{"ana"}}, {After: minutes(20), To: []string{"ben"}},
			},
		}},
	}, noon)
	const step = "step 1"
	a := g.ask(askback.Request{Questions: []askback.Question{
		{Text: "Go on with step 1?", Options: askback.Options("Yes", "No"), NoOther: true},
	}})
	g.wantNone("before the escalation", "ana", a, step)
	g.advance(11 * time.Minute)
	g.wait("after ten minutes", "ana", a, step, live)
	g.wantNone("before the second escalation", "ben", a, step)
	g.advance(10 * time.Minute)
	ops := g.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
	ctx, cancel := context.WithTimeout(t.Context(), venueTime)
	defer cancel()
	queued := until(ctx, func() bool {
		page, err := ops.Deliveries(ctx, askback.DeliveryQuery{AskID: a.ID, Status: askback.DeliveryQueued})
		return err == nil && len(page.Items) == 1 && page.Items[0].Person == "ben"
	})
	if !queued {
		t.Fatal("no message waits for ben")
	}
	g.wantNone("in quiet hours", "ben", a, step)
	g.advance(10 * time.Minute)
	m := g.wait("after the quiet hours", "ben", a, step, live)
	if _, err := g.at["ben"].press(t.Context(), "ben", m, "Yes"); err != nil {
		t.Fatal(err)
	}
	end, err := g.agent.Wait(ctx, a.ID)
	if err != nil || !end.Settled() || end.Outcome.Actor.Name != "ben" ||
		end.Outcome.Channel != askback.ChannelTelegram {
		t.Fatalf("got %+v, %v, want the answer of ben in Telegram", end.Outcome, err)
	}
	g.wait("after the answer", "ana", a, step, settled)
	g.wait("after the answer", "ben", a, step, settled)
}

// Two of three people must approve. One approval leaves the ask open, and one denial denies it; both messages
// show this. Two approvals approve the next ask (F12).
func TestTwoApprovalsAreShownInBothChannels(t *testing.T) {
	g := newRoutedRig(t, engine.Settings{
		People: []askback.Person{{Name: "zoe"}, {Name: "ana"}, {Name: "ben"}},
		Groups: map[string][]string{"owners": {"zoe", "ana", "ben"}},
		Routes: []askback.Route{{Match: askback.Match{Kind: askback.Confirm}, To: []string{"@owners"}, Quorum: 2}},
	}, time.Now())
	as := func(person string) askback.PersonClient {
		via := map[string]askback.Channel{"ana": askback.ChannelSlack, "ben": askback.ChannelTelegram}[person]
		c, err := g.engine.Person(t.Context(), person, via)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, in := range []struct {
		step   string
		second askback.Decision
	}{{"step 1", askback.Deny}, {"step 2", askback.Approve}} {
		a := g.ask(askback.Request{
			Confirmation: &askback.Confirmation{ToolName: "deploy", Input: []byte(`{"to":"` + in.step + `"}`)},
		})
		for person := range g.at {
			g.wait("asked", person, a, in.step, func(m fakes.Message) bool { return !m.Settled })
		}
		once, err := as("ana").Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
		if err != nil || once.Settled() || len(once.Votes) != 1 {
			t.Fatalf("after one approval: got %+v, %v, want one vote", once, err)
		}
		end, err := as("ben").Answer(t.Context(), a.ID, askback.Decide(in.second, ""))
		if err != nil || !end.Settled() || end.Outcome.Decision != in.second {
			t.Fatalf("after %s: got %+v, %v", in.second, end.Outcome, err)
		}
		for person := range g.at {
			g.wait("after "+string(in.second), person, a, in.step, settled)
		}
	}
}
