package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A clockedChannel is a channel that records its messages, each with the time of day.
type clockedChannel struct {
	mu  sync.Mutex
	got []string
}

func (c *clockedChannel) Send(_ context.Context, n askback.Notification) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got,
		time.Now().UTC().Format("15:04")+" "+n.Address+" "+strings.TrimPrefix(string(n.Event), "question_"))
	return n.Address, nil
}

// take returns the messages since the last call.
func (c *clockedChannel) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	slices.Sort(got)
	return got
}

func span(d time.Duration) askback.Span { return askback.Span(d) }

func confirm() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{ToolName: "drop", Input: json.RawMessage(`{}`)}}
}

// team are settings with four people who each have a phone. Ben is at home in Tokyo, where the quiet hours
// 10:00 to 12:00 are 01:00 to 03:00 UTC.
func team(routes ...askback.Route) engine.Settings {
	s := engine.Settings{
		Groups: map[string][]string{"payments": {"ana", "ben"}, "oncall": {"cem", "zoe"}, "gone": {"zoe"}},
		Routes: routes,
	}
	for _, name := range []string{"ana", "ben", "cem", "dan"} {
		s.People = append(s.People, askback.Person{Name: name})
		s.Receivers = append(s.Receivers, engine.Receiver{Channel: "post", Name: name + "s-phone", Person: name})
	}
	s.People[1].Quiet, s.People[1].TimeZone = "10:00-12:00", "Asia/Tokyo"
	return s
}

func newTeam(t *testing.T, to *clockedChannel, routes ...askback.Route) *fixture {
	return newFixture(t, memstore.New(),
		&engine.Options{Channels: map[string]engine.Channel{"post": to, "chat": to}, Settings: team(routes...)})
}

// as returns the client of a person.
func (p *fixture) as(name string) askback.Client {
	return p.engine.As(askback.Principal{Kind: askback.Responder, Name: name})
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// Without an answer, the people are reminded, and then two escalations ask other people. No message is sent
// in quiet hours. All people who were asked may answer (F12). The clock of a synctest starts at midnight UTC.
func TestRemindersAndEscalationsSendNothingInQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		p := newTeam(t, phones, askback.Route{
			To: []string{"ana"}, Remind: []askback.Span{span(15 * time.Minute), span(30 * time.Minute)},
			Escalate: []askback.Escalation{
				{After: span(2 * time.Hour), To: []string{"@payments"}},
				{After: span(4 * time.Hour), To: []string{"@oncall"}},
			},
		})
		defer p.run()()
		a := p.ask(question())
		want(t, "at first", phones.take(), "00:00 anas-phone pending")
		<-time.After(time.Hour)
		want(t, "after an hour", phones.take(), "00:15 anas-phone reminded", "00:30 anas-phone reminded")
		<-time.After(time.Hour + time.Minute)
		want(t, "in quiet hours", phones.take(), "02:00 anas-phone reminded")
		if page, err := p.as("ben").List(t.Context(), askback.Query{}); err != nil || len(page.Items) != 1 {
			t.Errorf("the inbox of ben has %d asks, %v", len(page.Items), err)
		}
		if page, err := p.as("cem").List(t.Context(), askback.Query{}); err != nil || len(page.Items) != 0 {
			t.Errorf("the inbox of cem has %d asks, %v", len(page.Items), err)
		}
		<-time.After(time.Hour)
		want(t, "after quiet hours", phones.take(), "03:00 bens-phone pending")
		<-time.After(time.Hour)
		want(t, "after four hours", phones.take(), "04:00 anas-phone reminded", "04:00 bens-phone reminded",
			"04:00 cems-phone pending")
		got, err := p.as("cem").Answer(t.Context(), a.ID, askback.Choose("SQLite"))
		if err != nil || !slices.Equal(got.People(), []string{"ana", "ben", "cem"}) ||
			!slices.Equal(got.To, []string{"ana", "@payments", "@oncall"}) {
			t.Errorf("got %v for %v, %v", got.People(), got.To, err)
		}
		want(t, "when it is answered", phones.take(), "04:01 anas-phone answered", "04:01 bens-phone answered",
			"04:01 cems-phone answered")
		<-time.After(24 * time.Hour)
		want(t, "afterwards", phones.take())
	})
}

// A message that waits for the end of quiet hours is not sent if the ask is settled before.
func TestSettledAskSendsNothingAfterQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		p := newTeam(t, phones)
		defer p.run()()
		<-time.After(90 * time.Minute)
		r := question()
		r.To = []string{"ana", "ben"}
		p.answer(p.as("ben"), p.ask(r), "SQLite")
		phones.take()
		<-time.After(24 * time.Hour)
		for _, line := range phones.take() {
			if strings.Contains(line, "bens-phone") {
				t.Errorf("ben got %q", line)
			}
		}
	})
}

// An ask requires the approval of two of three people, and one denial denies it. The request of an agent
// cannot lower the quorum of a route (F12).
func TestQuorumApprovesAndOneDenialDenies(t *testing.T) {
	p := newTeam(t, &clockedChannel{},
		askback.Route{Match: askback.Match{Agent: "harmless"}, To: []string{"ana", "ben", "cem"}},
		askback.Route{
			Match: askback.Match{Agent: "b*", Kind: askback.Confirm}, To: []string{"ana", "ben", "cem"}, Quorum: 2,
		},
	)
	for _, deny := range []bool{false, true} {
		r := confirm()
		r.Agent, r.Quorum = "harmless", 1 // the route for the name of the token also applies
		a := p.ask(r)
		if a.Quorum != 2 {
			t.Fatalf("got quorum %d, want 2", a.Quorum)
		}
		decide := func(name string, d askback.Decision) askback.Ask {
			got, err := p.as(name).Answer(t.Context(), a.ID, askback.Decide(d, ""))
			if err != nil {
				t.Errorf("%s %s: %v", name, d, err)
			}
			return got
		}
		for range 2 {
			if got := decide("ana", askback.Approve); got.Settled() || len(got.Votes) != 1 {
				t.Errorf("after one person: got %s, votes %v", got.Status, got.Votes)
			}
		}
		if _, err := p.agent.Consume(t.Context(), a.ID,
			a.Confirmation.Digest); !errors.Is(err, askback.ErrNotApproved) {
			t.Errorf("the agent may run it after one approval: %v", err)
		}
		if deny {
			if got := decide("cem", askback.Deny); got.Outcome.Approved() || !got.Settled() {
				t.Errorf("after a denial: got %s", got.Status)
			}
			continue
		}
		if got := decide("cem", askback.Approve); !got.Outcome.Approved() {
			t.Errorf("after two people: got %s", got.Status)
		}
	}
}

// With no_self_approval, the person who started the session can read the ask, but cannot settle it by any
// action.
func TestPersonWhoStartedSessionCannotSettleAsk(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, askback.Route{NoSelfApproval: true})
	r := confirm()
	r.StartedBy = "ana"
	a := p.ask(r)
	ana := p.as("ana")
	if got, err := ana.Get(t.Context(), a.ID); err != nil || got.StartedBy != "ana" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, answered := ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
	_, declined := ana.Decline(t.Context(), a.ID, "")
	_, claimed := ana.Claim(t.Context(), a.ID)
	_, reassigned := ana.Reassign(t.Context(), a.ID, askback.Reassignment{To: []string{"ben"}})
	for what, err := range map[string]error{
		"answer": answered, "decline": declined, "claim": claimed, "reassign": reassigned,
	} {
		if !errors.Is(err, askback.ErrSelfApproval) {
			t.Errorf("%s: got %v, want %v", what, err, askback.ErrSelfApproval)
		}
	}
	if got, err := p.as("ben").Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil ||
		!got.Outcome.Approved() {
		t.Errorf("ben: got %s, %v", got.Status, err)
	}
	r.To = []string{"ana"}
	if _, err := p.agent.Ask(t.Context(), r); !errors.As(err, new(askback.Invalid)) {
		t.Errorf("for ana alone: got %v, want an error", err)
	}
}

// A person who has left is omitted with a warning. If no person is left, the agent gets an error, and not an
// ask that waits forever.
func TestUnknownPeopleAreReported(t *testing.T) {
	p := newTeam(t, &clockedChannel{})
	r := question()
	r.To = []string{"@oncall"}
	a := p.ask(r)
	if !slices.Equal(a.People(), []string{"cem"}) || len(a.Warnings) != 1 ||
		!strings.Contains(a.Warnings[0].Detail, "zoe") {
		t.Errorf("got people %v, warnings %v", a.People(), a.Warnings)
	}
	if _, err := p.as("zoe").Get(t.Context(), a.ID); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("zoe: got %v", err)
	}
	for _, to := range [][]string{{"@gone"}, {"zoe"}, {"@nothing"}, {"ana", "@nothing"}} {
		r.To = to
		if _, err := p.agent.Ask(t.Context(), r); !errors.As(err, new(askback.Invalid)) {
			t.Errorf("to %v: got %v, want an error", to, err)
		}
	}
	// A repeated request finds its ask even after its people have left.
	r.To, r.Key = []string{"dan"}, "k"
	first := p.ask(r)
	s := team()
	s.People = s.People[:3]
	p.engine.Set(s)
	if again := p.ask(r); again.ID != first.ID || !again.Repeated {
		t.Errorf("got %s, want %s again", again.ID, first.ID)
	}
}

// The first route that matches sets each field that the ask itself leaves out.
func TestFirstMatchingRouteApplies(t *testing.T) {
	p := newTeam(t, &clockedChannel{},
		askback.Route{Match: askback.Match{Tags: []string{"prod", "db"}}, To: []string{"dan"}},
		askback.Route{Match: askback.Match{Agent: "other-*"}, To: []string{"ben"}},
		askback.Route{
			Match: askback.Match{Kind: askback.Confirm}, Timeout: span(time.Hour), OnTimeout: askback.OnTimeoutDefault,
		},
		askback.Route{
			Match: askback.Match{Agent: "*"}, To: []string{"@payments"}, Timeout: span(2 * time.Hour),
			OnTimeout: askback.OnTimeoutDefault,
		},
	)
	tagged, labeled, named, timed := question(), question(), question(), confirm()
	tagged.Tags = []string{"db", "prod", "x"}
	labeled.Agent = "other-team/x"
	named.To, named.Timeout = []string{"cem"}, time.Minute
	without := question()
	without.Questions[0].Default = nil
	for _, c := range []struct {
		r         askback.Request
		people    string
		timeout   time.Duration
		onTimeout askback.OnTimeout
	}{
		{tagged, "dan", 0, askback.OnTimeoutWait},
		{labeled, "ben", 0, askback.OnTimeoutWait},
		{named, "cem", time.Minute, askback.OnTimeoutFail},
		{question(), "ana ben", 2 * time.Hour, askback.OnTimeoutDefault},
		{without, "ana ben", 2 * time.Hour, askback.OnTimeoutDecline}, // the ask has no default
		{timed, "", time.Hour, askback.OnTimeoutDecline},              // a timeout never approves
	} {
		a := p.ask(c.r)
		limit := time.Duration(0)
		if !a.Deadline.IsZero() {
			limit = a.Deadline.Sub(a.CreatedAt)
		}
		if got := strings.Join(a.People(), " "); got != c.people || limit != c.timeout || a.OnTimeout != c.onTimeout {
			t.Errorf("%+v: got people %q, timeout %v, then %s", c, got, limit, a.OnTimeout)
		}
	}
}

// A route names the channels that carry its asks.
func TestRouteSelectsChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &clockedChannel{}
		p := newTeam(t, all, askback.Route{
			Match: askback.Match{Tags: []string{"quiet"}}, To: []string{"dan"}, Channels: []string{"chat"},
			Remind: []askback.Span{span(time.Hour)},
		})
		s := team(p.routes(t)...)
		s.Receivers = append(s.Receivers, engine.Receiver{Channel: "chat", Name: "room"},
			engine.Receiver{Channel: "chat", Name: "dan", Person: "dan"})
		p.engine.Set(s)
		defer p.run()()
		r := question()
		r.To = []string{"dan"}
		p.ask(r)
		want(t, "without a route", all.take(), "00:00 dan pending", "00:00 dans-phone pending")
		r.Tags = []string{"quiet"}
		p.ask(r)
		want(t, "with a route", all.take(), "00:00 dan pending", "00:00 room pending")
		<-time.After(time.Hour)
		want(t, "the reminder", all.take(), "01:00 dan reminded", "01:00 room reminded")
	})
}

func (p *fixture) routes(t *testing.T) []askback.Route {
	all, err := p.ana.Routes(t.Context())
	if err != nil || len(all.Items) == 0 {
		t.Fatalf("got %v, %v", all, err)
	}
	return all.Items
}

// A recipient or an operator gives an ask to other people. The former recipients get a message, but can no
// longer read or answer the ask. A repeated call changes nothing.
func TestAskIsReassigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		p := newTeam(t, phones)
		defer p.run()()
		r := question()
		r.To = []string{"ana"}
		a := p.ask(r)
		phones.take()
		if _, err := p.as("ben").Reassign(t.Context(), a.ID,
			askback.Reassignment{To: []string{"ben"}}); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("by ben: got %v", err)
		}
		for range 2 {
			got, err := p.as("ana").Reassign(t.Context(), a.ID, askback.Reassignment{To: []string{"@oncall", "dan"}})
			if err != nil || !slices.Equal(got.People(), []string{"cem", "dan"}) ||
				got.Questions[0].Text == a.Questions[0].Text {
				t.Errorf("got %v, %v, want others and no text", got, err)
			}
		}
		want(t, "reassigned", phones.take(), "00:00 anas-phone reassigned", "00:00 cems-phone pending",
			"00:00 dans-phone pending")
		if _, err := p.as("ana").Answer(t.Context(), a.ID,
			askback.Choose("SQLite")); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("ana answers: got %v", err)
		}
		if got, err := p.as("cem").Reassign(
			t.Context(), a.ID, askback.Reassignment{To: []string{"ben"}, Delegate: true},
		); err != nil || !slices.Equal(got.People(), []string{"dan", "ben"}) {
			t.Errorf("delegated: got %v, %v", got.People(), err)
		}
		operator := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
		got, err := operator.Reassign(t.Context(), a.ID, askback.Reassignment{To: []string{"ana"}})
		if err != nil || got.Questions[0].Text == a.Questions[0].Text {
			t.Errorf("by an operator: got %v, %v", got, err)
		}
		if _, err := operator.Reassign(t.Context(), a.ID,
			askback.Reassignment{To: []string{"zoe"}}); !errors.As(err, new(askback.Invalid)) {
			t.Errorf("to a person who has left: got %v", err)
		}
		p.answer(p.as("ana"), a, "SQLite")
		if _, err := operator.Reassign(t.Context(), a.ID,
			askback.Reassignment{To: []string{"ben"}}); !errors.Is(err, askback.ErrSettled) {
			t.Errorf("a settled ask: got %v", err)
		}
	})
}
