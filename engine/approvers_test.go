package engine_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// payments is a route whose confirmations need the approval of two people: ana and ben.
func payments() askback.Route {
	return askback.Route{
		Match: askback.Match{Kind: askback.Confirm, Tags: []string{"pay"}}, Approvers: []string{"@payments"}, Quorum: 2,
	}
}

func payment(to ...string) askback.Request {
	r := confirm()
	r.Tags, r.To = []string{"pay"}, to
	return r
}

// A person who is named in an ask but is not an approver of its route can read the ask. No action of that
// person changes the ask, whatever the channel. The error names the people who may decide (F12).
func TestOnlyApproversDecide(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, payments())
	a := p.ask(payment("cem", "ana", "ben"))
	if !slices.Equal(a.Approvers, []string{"ana", "ben"}) || !slices.Equal(a.People(), []string{"cem", "ana", "ben"}) {
		t.Fatalf("got approvers %q for %q", a.Approvers, a.People())
	}
	for _, who := range []askback.Principal{
		{Kind: askback.Responder, Name: "cem", Channel: askback.ChannelWeb},
		{Kind: askback.Responder, Name: "cem", Channel: askback.ChannelSlack},
		{Kind: askback.Responder, Name: "cem", Channel: askback.ChannelEmail},
		{Kind: askback.Admin, Name: "cem", Channel: askback.ChannelAPI},
	} {
		cem := p.engine.As(who)
		if got, err := cem.Get(t.Context(), a.ID); err != nil || got.Confirmation == nil {
			t.Errorf("get: got %v, %v", got, err)
		}
		errs := map[string]error{}
		for _, d := range []askback.Decision{askback.Approve, askback.Deny, askback.ApproveAll} {
			_, errs[string(d)] = cem.Answer(t.Context(), a.ID, askback.Decide(d, ""))
		}
		_, errs["decline"] = cem.Decline(t.Context(), a.ID, "")
		_, errs["claim"] = cem.Claim(t.Context(), a.ID)
		errs["draft"] = cem.SaveDraft(t.Context(), a.ID, json.RawMessage(`{"a":1}`))
		if who.Kind == askback.Responder {
			_, errs["reassign"] = cem.Reassign(t.Context(), a.ID, askback.Reassignment{To: []string{"ana", "ben"}})
		}
		for what, err := range errs {
			if !errors.Is(err, askback.ErrNotApprover) ||
				!strings.Contains(err.Error(), "only ana, ben may decide this") {
				t.Errorf("%s %s by %s: got %v", who.Kind, what, who.Channel, err)
			}
		}
	}
	if got := p.get(a.ID); got.Settled() || len(got.Votes)+len(got.Claims) > 0 {
		t.Fatalf("got %s, votes %v, claims %v", got.Status, got.Votes, got.Claims)
	}
	for _, name := range []string{"ana", "ben"} {
		if _, err := p.as(name).Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil {
			t.Error(err)
		}
	}
	if got := p.get(a.ID); !got.Outcome.Approved() || len(got.Votes) != 2 {
		t.Errorf("got %s with %v", got.Status, got.Votes)
	}
}

// An approver and an admin cannot make a person an approver by a reassignment if the routes exclude that
// person. An operator cannot reassign the ask.
func TestReassignmentDoesNotAddApprovers(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, payments())
	a := p.ask(payment())
	if _, err := p.as("ana").Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil {
		t.Fatal(err)
	}
	to := func(names ...string) askback.Reassignment { return askback.Reassignment{To: names} }
	for _, r := range []askback.Reassignment{
		to("ana", "cem"), to("cem"), to("cem", "dan"), {To: []string{"cem"}, Delegate: true}, to("@oncall"),
	} {
		for _, c := range []askback.Client{p.as("ana"), p.admin()} {
			_, err := c.Reassign(t.Context(), a.ID, r)
			invalid, _ := errors.AsType[askback.Invalid](err)
			if len(invalid) != 1 || !strings.HasPrefix(invalid[0].Pointer, "/to") && invalid[0].Pointer != "/delegate" {
				t.Errorf("%+v: got %v", r, err)
			}
		}
	}
	operator := p.engine.As(askback.Principal{Kind: askback.Operator, Name: "ops"})
	for _, ask := range []askback.Ask{a, p.ask(confirm())} {
		if _, err := operator.Reassign(t.Context(), ask.ID, to("ben")); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("by an operator: got %v", err)
		}
	}
	got, err := p.as("ana").Reassign(t.Context(), a.ID, to("ben", "cem"))
	if err != nil || !slices.Equal(got.Approvers, []string{"ana", "ben"}) {
		t.Fatalf("got approvers %q, %v", got.Approvers, err)
	}
	if _, err := p.as("cem").Answer(t.Context(), a.ID,
		askback.Decide(askback.Approve, "")); !errors.Is(err, askback.ErrNotApprover) {
		t.Errorf("cem approves: got %v", err)
	}
	if got, err := p.as("ben").Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil ||
		!got.Outcome.Approved() {
		t.Errorf("ben approves: got %s, %v", got.Status, err)
	}
}

// Only the people who are approvers in every matching route may decide an ask. If they are too few, the ask
// is rejected, and the error states why.
func TestApproversOfAllMatchingRoutesMustAgree(t *testing.T) {
	route := func(approvers ...string) askback.Route { return askback.Route{Approvers: approvers} }
	quorum := func(r askback.Route, n int) askback.Route { r.Quorum = n; return r }
	to := func(r askback.Route, names ...string) askback.Route { r.To = names; return r }
	noSelf := askback.Route{NoSelfApproval: true}
	for name, c := range map[string]struct {
		routes    []askback.Route
		to        string
		approvers string // the approvers of the ask, or "" if the ask is rejected
		people    string
		refused   string // a part of the error
	}{
		"one route": {[]askback.Route{route("@payments")}, "", "ana ben", "ana ben", ""},
		"two routes": {
			[]askback.Route{route("@payments"), route("ben", "cem")}, "", "ben", "ben", "",
		},
		"two routes that exclude another": {
			[]askback.Route{route("ana"), route("cem")}, "", "", "", "no one may decide this",
		},
		"a route without approvers first": {
			[]askback.Route{to(askback.Route{}, "dan"), route("@payments")}, "", "ana ben", "dan ana ben", "",
		},
		"a route for others": {
			[]askback.Route{to(route("@payments"), "dan")}, "", "ana ben", "dan ana ben", "",
		},
		"a route for one of them": {
			[]askback.Route{to(route("@payments"), "ana", "dan")}, "", "ana ben", "ana dan", "",
		},
		"a route for too few of them": {
			[]askback.Route{quorum(to(route("@payments"), "ana", "dan"), 2)}, "", "ana ben", "ana dan ben", "",
		},
		"to names one of them": {[]askback.Route{route("@payments")}, "ben cem", "ana ben", "ben cem", ""},
		"to names none of them": {
			[]askback.Route{route("@payments")},
			"cem dan", "", "",
			`/to: a person must approve this, but none of the people named may decide it: the routes of this server allow only "ana", "ben"`,
		},
		"to names too few of them": {
			[]askback.Route{quorum(route("@payments"), 2)},
			"cem ana", "", "",
			`/to: 2 people must approve this, but only 1 of the people named may decide it: the routes of this server allow only "ana", "ben"`,
		},
		"too few approvers": {
			[]askback.Route{quorum(route("@payments"), 3)},
			"", "", "",
			`3 people must approve this, but the routes of this server let only "ana", "ben" decide it`,
		},
		"only the starter": {
			[]askback.Route{route("starter", "zoe"), noSelf}, "", "", "", "only the person who started this session",
		},
		"the starter and another": {
			[]askback.Route{quorum(route("starter", "ana"), 2), noSelf},
			"", "", "",
			`2 people must approve this, but the routes of this server let only "ana" decide it`,
		},
		"people who are not known": {[]askback.Route{route("@gone")}, "", "", "", "no one may decide this"},
		"a route for people not known": {
			[]askback.Route{to(askback.Route{}, "zoe")},
			"", "", "",
			"none of the people in a route of this server is known",
		},
		"known to and unknown in a group":  {[]askback.Route{route("@oncall")}, "", "cem", "cem", ""},
		"route for unknown, known approve": {[]askback.Route{to(route("ana"), "zoe")}, "", "ana", "zoe ana", ""},
	} {
		s := team(c.routes...)
		s.People = append(s.People, askback.Person{Name: "starter"})
		p := newTeam(t, &clockedChannel{})
		p.engine.Set(s)
		r := confirm()
		r.To, r.StartedBy = strings.Fields(c.to), "starter"
		a, err := p.agent.Ask(t.Context(), r)
		if c.refused != "" {
			if !errors.As(err, new(askback.Invalid)) || !strings.Contains(err.Error(), c.refused) ||
				c.to == "" && strings.Contains(err.Error(), "/to") {
				t.Errorf("%s: got %v, %v, want an error with %q", name, a.Approvers, err, c.refused)
			}
			continue
		}
		people := slices.DeleteFunc(strings.Fields(c.people), func(name string) bool { return name == "zoe" })
		if err != nil || strings.Join(a.Approvers, " ") != c.approvers || !slices.Equal(a.People(), people) {
			t.Errorf("%s: got approvers %q for %q, %v; want %q for %q", name, a.Approvers, a.People(), err,
				c.approvers, people)
		}
	}
}

// The approvers of a route do not apply to questions: every recipient may answer.
func TestApproversDoNotApplyToQuestions(t *testing.T) {
	p := newTeam(t, &clockedChannel{}, askback.Route{Approvers: []string{"@payments"}})
	a := p.ask(question())
	if len(a.Approvers) > 0 || len(a.People()) > 0 {
		t.Errorf("got approvers %q for %q", a.Approvers, a.People())
	}
	if _, err := p.as("cem").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
		t.Error(err)
	}
}

// If a route with approvers escalates an ask, the people of the escalation get the question. From then on
// they may decide the ask, unless another route excludes them. People who may only read the ask get no
// message.
func TestEscalationAddsApprovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phones := &clockedChannel{}
		r := payments()
		r.Quorum, r.Escalate = 1, []askback.Escalation{{After: span(time.Hour), To: []string{"cem", "dan"}}}
		p := newTeam(t, phones, r, askback.Route{Approvers: []string{"ana", "ben", "cem"}})
		defer p.run()()
		a := p.ask(payment("ana", "dan"))
		want(t, "at first", phones.take(), "00:00 anas-phone pending")
		approve := func(name string) error {
			_, err := p.as(name).Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
			return err
		}
		if err := approve("cem"); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("cem, before: got %v", err)
		}
		<-time.After(time.Hour + time.Minute)
		want(t, "after an hour", phones.take(), "01:00 anas-phone reminded", "01:00 cems-phone pending")
		if err := approve("dan"); !errors.Is(err, askback.ErrNotApprover) {
			t.Errorf("dan: got %v", err)
		}
		if err := approve("cem"); err != nil || !p.get(a.ID).Outcome.Approved() {
			t.Errorf("cem: got %v", err)
		}
	})
}

// A quorum is accepted if the recipients and the people of the escalations can reach it. A quorum that the
// known people cannot reach is rejected, whether or not the ask names recipients.
func TestUnreachableQuorumIsRejected(t *testing.T) {
	escalating := askback.Route{
		Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"@payments"}, Quorum: 3,
		Escalate: []askback.Escalation{{After: span(time.Hour), To: []string{"cem"}}},
	}
	p := newTeam(t, &clockedChannel{}, escalating)
	if a := p.ask(payment()); a.Quorum != 3 {
		t.Errorf("got quorum %d", a.Quorum)
	}
	for _, to := range [][]string{nil, {"ana", "ben"}, {"@payments"}} {
		r := confirm()
		r.Quorum, r.To = 9, to
		_, err := p.agent.Ask(t.Context(), r)
		if invalid, _ := errors.AsType[askback.Invalid](err); len(invalid) != 1 ||
			to == nil && invalid[0].Pointer != "/quorum" {
			t.Errorf("to %q: got %v", to, err)
		}
	}
	r := confirm()
	if r.Quorum = 4; p.ask(r).Quorum != 4 {
		t.Error("four of four people is refused")
	}
	p.engine.Set(engine.Settings{}) // any person may get a token
	if r.Quorum = 9; p.ask(r).Quorum != 9 {
		t.Error("nine people are refused although no one is known")
	}
}

// A standing approval counts only if its maker is an approver of the new ask.
func TestGrantOfNonApproverApprovesNothing(t *testing.T) {
	p := newTeam(t, &clockedChannel{})
	for _, name := range []string{"cem", "ana"} {
		a := p.ask(confirm())
		everything := askback.Answer{
			Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool},
		}
		if _, err := p.as(name).Answer(t.Context(), a.ID, everything); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(confirm()); got.Outcome == nil || got.Outcome.Actor.Name != name {
			t.Fatalf("without a route: got %+v", got.Outcome)
		}
		r := payments()
		r.Quorum = 0
		p.engine.Set(team(r))
		for _, to := range [][]string{nil, {"ana", "ben", "cem"}} {
			if got := p.ask(payment(to...)); got.Settled() != (name == "ana") {
				t.Errorf("with a grant of %s, to %q: got %s", name, to, got.Status)
			}
		}
		p.engine.Set(team())
		page, err := p.as("ana").Grants(t.Context(), askback.GrantQuery{})
		if err != nil || len(page.Items) != 1 {
			t.Fatal(page.Items, err)
		}
		if _, err := p.as("ana").Revoke(t.Context(), page.Items[0].ID); err != nil {
			t.Fatal(err)
		}
	}
}

// An ask keeps its approvers when their group changes. A person who was removed from the settings decides
// nothing through a channel.
func TestGroupChangeDoesNotChangeApproversOfPendingAsk(t *testing.T) {
	p := newDirectory(t, &clockedChannel{})
	for _, name := range []string{"eli", "fay"} {
		p.putPerson(askback.PersonRequest{Name: name})
	}
	p.putGroup("signers", "eli", "fay")
	p.putRoutes(askback.Route{Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"@signers"}})
	a := p.ask(payment())
	p.putGroup("signers", "dan")
	if got := p.ask(payment()); !slices.Equal(got.Approvers, []string{"dan"}) {
		t.Errorf("a new ask: got %q", got.Approvers)
	}
	if _, err := p.admin().DeletePerson(t.Context(), "eli"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.engine.Person(t.Context(), "eli", askback.ChannelSlack); !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("eli: got %v", err)
	}
	if _, err := p.admin().Reassign(t.Context(), a.ID,
		askback.Reassignment{To: []string{"dan"}}); !errors.As(err, new(askback.Invalid)) {
		t.Errorf("to dan: got %v", err)
	}
	fay := must(p.engine.Person(t.Context(), "fay", askback.ChannelSlack))
	if got, err := fay.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, "")); err != nil ||
		!got.Outcome.Approved() {
		t.Errorf("fay: got %s, %v", got.Status, err)
	}
}
