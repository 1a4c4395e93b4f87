package engine_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// Unknown names, and routes whose confirmations have no approver, are reported and logged once. Other names
// and routes are not reported.
func TestUnknownNamesAndUnapprovableRoutesAreReported(t *testing.T) {
	r := func(change func(*askback.Route)) askback.Route {
		out := askback.Route{Match: askback.Match{Kind: askback.Confirm}}
		change(&out)
		return out
	}
	approvers := func(names ...string) askback.Route { return r(func(r *askback.Route) { r.Approvers = names }) }
	for name, c := range map[string]struct {
		routes []askback.Route
		// a part of the text of each problem; a "!" before the text means that the route rejects its asks
		want []string
	}{
		"fine": {[]askback.Route{approvers("@payments"), r(func(r *askback.Route) {
			r.Quorum = 2
			r.To = []string{"@payments"}
		})}, nil},
		"unknown people": {
			[]askback.Route{approvers("ana", "yan"), r(func(r *askback.Route) {
				r.To, r.Escalate = []string{"xia"}, []askback.Escalation{{After: span(time.Hour), To: []string{"yan"}}}
			})},
			[]string{
				`route 1 of the settings names "yan", who is unknown`,
				`route 2 of the settings names "xia", "yan", who are unknown`,
			},
		},
		"unknown approvers": {[]askback.Route{approvers("@gone")}, []string{
			"!route 1 of the settings refuses each confirmation: none of its approvers",
		}},
		"too few approvers": {
			[]askback.Route{r(func(r *askback.Route) { r.Approvers = []string{"@payments"}; r.Quorum = 3 })},
			[]string{"!3 people must approve, but only 2"},
		},
		"too few people": {
			[]askback.Route{r(func(r *askback.Route) { r.To = []string{"@payments"}; r.Quorum = 3 })},
			[]string{"!refuses each confirmation that names no people: 3 people must approve, but only 2"},
		},
		"too few people here": {
			[]askback.Route{r(func(r *askback.Route) { r.Quorum = 5 })}, []string{"!5 people must approve, but only 4"},
		},
		"an escalation completes it": {[]askback.Route{r(func(r *askback.Route) {
			r.Approvers, r.Quorum, r.Escalate = []string{"@payments"}, 3, []askback.Escalation{
				{After: span(time.Hour), To: []string{"@oncall"}},
			}
		})}, nil},
		"routes that exclude each other": {[]askback.Route{approvers("ana"), approvers("ben")}, []string{
			"!route 1 of the settings and route 2 of the settings refuse each confirmation that both match: no " +
				"person is an approver of both",
		}},
		"routes that rarely meet": {[]askback.Route{
			r(func(r *askback.Route) { r.Approvers, r.Match.Tags = []string{"ana"}, []string{"a"} }),
			r(func(r *askback.Route) { r.Approvers, r.Match.Tags = []string{"ben"}, []string{"b"} }),
		}, nil},
		"a quorum for questions": {
			[]askback.Route{{Match: askback.Match{Kind: askback.Questions}, To: []string{"ana"}, Quorum: 1}}, nil,
		},
	} {
		var log strings.Builder
		p := newFixture(t, memstore.New(),
			&engine.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Settings: team(c.routes...)})
		var problems []engine.DirectoryProblem
		for range 2 {
			var err error
			if problems, err = p.engine.CheckDirectory(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// the groups of the team name zoe, who has left
		want := append([]string{`the group "gone" names "zoe"`, `the group "oncall" names "zoe"`}, c.want...)
		if len(problems) != len(want) {
			t.Errorf("%s: got %+v, want %q", name, problems, want)
			continue
		}
		for i, part := range want {
			part, refuses := strings.CutPrefix(part, "!")
			if got := problems[i]; !strings.Contains(got.Text, part) || got.Refuses != refuses {
				t.Errorf("%s: got %+v, want %q, refuses %v", name, got, part, refuses)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n != len(want) {
			t.Errorf("%s: got %d lines in the log, want %d:\n%s", name, n, len(want), log.String())
		}
	}
}

// A route of the API that would reject every confirmation is itself rejected. If a stored route later rejects
// every confirmation, the route is reported.
func TestRouteThatRejectsEveryConfirmationIsRejected(t *testing.T) {
	p := newDirectory(t, &clockedChannel{},
		askback.Route{Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"ana", "ben"}})
	for name, r := range map[string]askback.Route{
		"unknown":          {Approvers: []string{"xia"}},
		"too few":          {Approvers: []string{"@payments"}, Quorum: 3},
		"against settings": {Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"cem"}},
		"too few may under both routes": {
			Match: askback.Match{Tags: []string{"pay"}}, Approvers: []string{"cem", "ana"}, Quorum: 2,
		},
		"questions":     {Match: askback.Match{Kind: askback.Questions}, Approvers: []string{"ana"}},
		"unknown group": {Approvers: []string{"@nothing"}},
	} {
		_, err := p.admin().PutRoutes(t.Context(), []askback.Route{{To: []string{"dan"}}, r}, 0)
		invalid, _ := errors.AsType[askback.Invalid](err)
		if len(invalid) == 0 || !strings.HasPrefix(invalid[0].Pointer, "/items/1") {
			t.Errorf("%s: got %v, want a problem with the second route", name, err)
		}
	}
	p.putPerson(askback.PersonRequest{Name: "eli"})
	got := p.putRoutes(askback.Route{Match: askback.Match{Tags: []string{"x"}}, Approvers: []string{"eli"}})
	if last := got.Items[len(got.Items)-1]; len(last.Approvers) != 1 || last.Approvers[0] != "eli" {
		t.Errorf("got %+v", last)
	}
	if _, err := p.admin().DeletePerson(t.Context(), "eli"); err != nil {
		t.Fatal(err)
	}
	problems, err := p.engine.CheckDirectory(t.Context())
	if err != nil || !problems[len(problems)-1].Refuses || !problems[len(problems)-1].Alone {
		t.Errorf("got %+v, %v", problems, err)
	}
	r := confirm()
	r.Tags = []string{"x"}
	if _, err := p.agent.Ask(t.Context(), r); !errors.As(err, new(askback.Invalid)) {
		t.Errorf("an ask: got %v", err)
	}
}

// People of the settings whose names look alike are reported.
func TestPeopleWithLookAlikeNamesAreReported(t *testing.T) {
	p := newFixture(t, memstore.New(), &engine.Options{
		Settings: engine.Settings{People: []askback.Person{{Name: "ana"}, {Name: "аna"}, {Name: "ben"}}},
	})
	problems, err := p.engine.CheckDirectory(t.Context())
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "looks like the person") {
		t.Errorf("got %+v, %v", problems, err)
	}
}
