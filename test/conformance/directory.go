package conformance

import (
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
)

var directing = []testCase{
	{"PeopleGroupsAndRoutesAreChanged", directoryIsChanged},
	{"WrongPeopleGroupsAndRoutesAreRejected", directoryIsChecked},
}

func directoryIsChanged(f fixture) {
	eve := f.as(askback.Admin, "eve")
	p, err := eve.PutPerson(f.ctx(), askback.PersonRequest{
		Name: "dana o'neil/2", Email: "dana@example.com", Slack: "U1", TimeZone: "UTC", Quiet: "22:00-07:00",
	})
	if err != nil || p.Email != "dana@example.com" || p.Slack != "U1" || p.TimeZone != "UTC" ||
		p.Quiet != "22:00-07:00" || p.Source != askback.SourceAPI || p.By != "eve" || p.ChangedAt.IsZero() {
		f.Errorf("got %+v, %v", p, err)
	}
	g, err := eve.PutGroup(f.ctx(), "deploy 1", []string{p.Name})
	if err != nil || g.Name != "deploy 1" || !slices.Equal(g.People, []string{p.Name}) ||
		g.Source != askback.SourceAPI || g.By != "eve" {
		f.Errorf("got %+v, %v", g, err)
	}
	want := askback.Route{
		Match: askback.Match{Agent: "web-*", Kind: askback.Questions, Tags: []string{"shop"}},
		To:    []string{"@deploy 1"}, Channels: []string{"slack"}, Remind: []askback.Span{askback.Span(time.Minute)},
		Escalate: []askback.Escalation{{After: askback.Span(time.Hour), To: []string{"eve"}}},
		Timeout:  askback.Span(2 * time.Hour), OnTimeout: askback.OnTimeoutDecline, NoSelfApproval: true,
		Join: true,
	}
	all, err := eve.PutRoutes(f.ctx(), []askback.Route{want}, 0)
	listed, listErr := f.person("ana").Routes(f.ctx())
	for _, one := range []askback.RouteList{all, listed} {
		if len(one.Items) != 1 || one.Items[0].Escalate[0].To[0] != "eve" || one.Items[0].Timeout != want.Timeout ||
			one.Items[0].Source != askback.SourceAPI || one.Revision != 1 || one.By != "eve" || one.ChangedAt.IsZero() {
			f.Errorf("got %+v", one)
		}
	}
	if err := errors.Join(err, listErr); err != nil || !all.ChangedAt.Equal(listed.ChangedAt) {
		f.Errorf("got %v and %v, %v", all.ChangedAt, listed.ChangedAt, err)
	}
	if _, err := eve.PutRoutes(f.ctx(), nil, 0); !errors.Is(err, askback.ErrChanged) {
		f.Errorf("an old revision: got %v, want %v", err, askback.ErrChanged)
	}
	if all, err := eve.PutRoutes(f.ctx(), nil, 1); err != nil || all.Revision != 2 || len(all.Items) != 0 {
		f.Errorf("no routes: got %+v, %v", all, err)
	}
	if g, err := eve.DeleteGroup(f.ctx(), "deploy 1"); err != nil || g.Name != "deploy 1" {
		f.Errorf("got %+v, %v", g, err)
	}
	if p, err := eve.DeletePerson(f.ctx(), p.Name); err != nil || p.Email != "dana@example.com" || p.Warning != "" {
		f.Errorf("got %+v, %v", p, err)
	}
}

func directoryIsChecked(f fixture) {
	eve := f.as(askback.Admin, "eve")
	for _, name := range []string{"", "@eve", "eve ", "..", "e\nve", "eve\x00"} {
		_, person := eve.PutPerson(f.ctx(), askback.PersonRequest{Name: name})
		_, group := eve.PutGroup(f.ctx(), name, []string{"eve"})
		for i, err := range []error{person, group} {
			if _, ok := errors.AsType[askback.Invalid](err); !ok {
				f.Errorf("%q, call %d: got %v, want an Invalid", name, i, err)
			}
		}
		_, noPerson := eve.DeletePerson(f.ctx(), name)
		_, noGroup := eve.DeleteGroup(f.ctx(), name)
		for i, err := range []error{noPerson, noGroup} {
			if !errors.Is(err, askback.ErrNotFound) {
				f.Errorf("%q, call %d: got %v, want %v", name, i, err, askback.ErrNotFound)
			}
		}
	}
	if _, err := eve.PutRoutes(f.ctx(), []askback.Route{{To: []string{"@gone"}}}, 0); err == nil {
		f.Error("a route for a group that does not exist is accepted")
	} else if bad, ok := errors.AsType[askback.Invalid](err); !ok || bad[0].Pointer != "/items/0/to/0" {
		f.Errorf("got %v, want a problem at /items/0/to/0", err)
	}
}
