package main

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/reports"
)

// team is the people and groups of the stories.
var team = struct {
	people []askback.Person
	groups []askback.Group
}{
	[]askback.Person{
		{Name: "ana", Email: "ana@example.com"},
		{Name: "ben"},
		{Name: "cem"},
		{Name: "a-person-with-a-name-that-is-longer-than-a-column-of-a-phone"},
	},
	[]askback.Group{{Name: "oncall", People: []string{"ben", "cem"}}, {Name: "payments", People: []string{
		"ana", "ben", "a-person-with-a-name-that-is-longer-than-a-column-of-a-phone",
	}}},
}

// reassignStories adds the stories of the form that gives an ask to other people, and of the pages after the
// form.
func reassignStories(b *book) {
	show := func(name string, a askback.Ask, fill func(*pages.ReassignForm)) {
		i := b.inbox
		i.Current = a.ID
		var form pages.ReassignForm
		if fill != nil {
			fill(&form)
		}
		form.Candidates = view.Candidates(team.groups, team.people, "ana")
		b.add("Reassigning", name, askback.PagePath(a.ID)+"/reassign", pages.Reassign(b.frame, i, view.Of(a), form))
	}
	a := b.fixture("form")
	show("form", a, nil)
	show("form with an error", a, func(f *pages.ReassignForm) {
		f.Others, f.Problem = "dan",
			view.RawText("None of the named people is known here, so none could answer: \"dan\".").Text()
	})
	a.To = []string{"ana", "@oncall"}
	a.Recipients = []string{"ana", "ben", "cem"}
	show("own part", a, func(f *pages.ReassignForm) {
		f.Chosen, f.Delegate = []string{"@payments"}, true
		f.Rest = []view.Text{view.RawText("ben").Text(), view.RawText("cem").Text()}
	})
	a.ReassignedBy, a.ReassignedAt = "ana", b.frame.Now
	i, v := b.inbox, view.Of(a)
	i.Current, v.MayReassign = a.ID, true
	v.To, v.People = v.To[1:], v.People[1:]
	b.add("Reassigning", "done", askback.PagePath(a.ID)+"/reassign", pages.Reassigned(b.frame, i, v))
	v.To, v.People = view.Of(a).To, view.Of(a).People
	i.Done = pages.DoneReassigning(v)
	b.add("Reassigning", "page of the ask", askback.PagePath(a.ID), pages.Ask(b.frame, i, v, view.NewForm(v)))
}

// contactStories adds the stories of the page of the chats and browsers where people get asks.
func contactStories(b *book) {
	one := func(id, person, channel, label string, used time.Duration) askback.Contact {
		c := askback.Contact{
			ID: "ctc_01jzzzzzzzzzzzzzzzzzzzzzz" + id, Person: person, Channel: channel, Label: label,
			CreatedAt: b.frame.Now.AddDate(0, -1, 0),
		}
		if used > 0 {
			c.UsedAt = b.frame.Now.Add(-used)
		}
		return c
	}
	all := []askback.Contact{
		one("1", "ana", "telegram", "Ana", 14*time.Minute), one("2", "ana", "webpush", "Chrome on Android", 0),
		one("3", "ben", "telegram",
			"a label that a person has chosen in a chat and that is longer than a phone is wide",
			time.Hour), one("4", "cem", "webpush", "Safari on iPhone", 200*time.Hour),
	}
	all[3].Ended = true
	var views []view.Contact
	for _, c := range all {
		views = append(views, view.OfContact(c, kinds.Titles()))
	}
	chats := []pages.Chat{{Channel: "telegram", Name: "Telegram"}}
	show := func(name string, l pages.ContactList) {
		b.add("Contacts", name, pages.ContactsPath, pages.Contacts(b.on(pages.ContactsPath), l))
	}
	show("own", pages.ContactList{Contacts: views[:2], Chats: chats, PushKey: "x", Codes: true})
	show("all", pages.ContactList{Contacts: views, All: true, Chats: chats, Result: &pages.ContactResult{
		Good: true, Word: "Removed", Detail: view.RawText("Telegram Ana at work").Text(),
	}})
	show("none", pages.ContactList{Chats: chats, Codes: true})
	code := view.OfContactCode(askback.ContactCode{
		Code: "K7M2PXQ4", Channel: "telegram", To: "@askback_bot", URL: "https://t.me/askback_bot?start=K7M2PXQ4",
		ExpiresAt: b.frame.Now.Add(10 * time.Minute),
	}, kinds.Titles())
	show("code", pages.ContactList{Contacts: views[:1], Chats: chats, Codes: true, Code: code})
	show("failed", pages.ContactList{Chats: chats, Result: &pages.ContactResult{
		Word:   "No code was created",
		Detail: view.RawText("Without https, create the code in a terminal, with the command below.").Text(),
	}})
}

// routeStories adds the stories of the page of routes and of the form of a route.
func routeStories(b *book) {
	span := func(d time.Duration) askback.Span { return askback.Span(d) }
	routes := []askback.Route{
		{
			Match: askback.Match{Agent: "deploy-*", Kind: askback.Confirm, Tags: []string{"prod"}},
			To:    []string{"@payments"}, Quorum: 2, NoSelfApproval: true,
			Remind:   []askback.Span{span(30 * time.Minute)},
			Escalate: []askback.Escalation{{After: span(2 * time.Hour), To: []string{"@oncall"}}},
			Source:   askback.SourceSettings,
		},
		{
			Match: askback.Match{Agent: "an-agent-with-a-name-that-is-longer-than-a-column-of-a-phone"},
			To:    []string{"ana", "ben"}, Channels: []string{"telegram", "email"}, Source: askback.SourceAPI,
		},
		{
			Match: askback.Match{Kind: askback.Questions}, To: []string{"@gone"}, Timeout: span(24 * time.Hour),
			OnTimeout: askback.OnTimeoutDecline, Source: askback.SourceAPI, Warning: "there is no group gone any more",
		},
	}
	l := pages.RouteList{
		Revision: "3", By: view.RawText("ana").Text(), MayChange: true, Check: pages.RouteCheck{First: -1},
	}
	for _, r := range routes {
		l.Routes = append(l.Routes, view.OfRoute(r))
	}
	f := b.on(pages.RoutesPath)
	show := func(name string, l pages.RouteList) { b.add("Routes", name, pages.RoutesPath, pages.Routes(f, l)) }
	show("list", l)
	l.Check = pages.RouteCheck{
		Agent: "deploy-eu", Kind: "confirmation", Tags: "prod", Asked: true, First: 0, Rules: []int{1},
	}
	l.MayChange, l.Done = false, ""
	show("route of an ask", l)
	show("moved",
		pages.RouteList{Routes: l.Routes[1:], MayChange: true, Done: "Moved up.", Check: pages.RouteCheck{First: -1}})
	show("changed meanwhile", pages.RouteList{
		Problem:   "The routes were changed after this page was loaded. The list below is up to date.",
		MayChange: true, Check: pages.RouteCheck{First: -1, Asked: true},
	})
	form := pages.RouteForm{
		Agent: "deploy-*", Kind: "confirmation", Tags: "prod", To: "@payments", Quorum: "2", NoSelfApproval: true,
		Remind: "30m", Escalate: "2h: @oncall\n1d: ana",
	}
	b.add("Routes", "form", pages.RoutesPath, pages.EditRoute(f, form))
	form.Index, form.Problems = "0", []view.Problem{{
		Field: "escalate",
		Text:  view.RawText("Write a time, a colon and who is asked then, such as 2h: @oncall.").Text(),
	}}
	b.add("Routes", "form with an error", pages.RoutesPath, pages.EditRoute(f, form))
}

// peopleStories adds the stories of the page of people and groups as an admin sees the page, and of the forms
// of the page.
func peopleStories(b *book) {
	people := []askback.Person{
		{Name: "ana", Email: "ana@example.com", Groups: []string{"payments"}, Source: askback.SourceSettings},
		{
			Name: "ben", Groups: []string{"oncall", "payments"}, Source: askback.SourceAPI, Slack: "U012AB3CD",
			TimeZone: "Europe/Berlin", Quiet: "22:00-07:00", By: "ana", ChangedAt: b.frame.Now.Add(-time.Hour),
		},
		{Name: "cem", Source: askback.SourceToken},
	}
	groups := []askback.Group{
		{Name: "oncall", People: []string{"ben", "cem"}, Source: askback.SourceSettings},
		{
			Name: "payments", People: team.groups[1].People, Source: askback.SourceAPI, By: "ana",
			ChangedAt: b.frame.Now,
			Warning:   "no person called a-person-with-a-name-that-is-longer-than-a-column-of-a-phone is known",
		},
	}
	p := pages.PeoplePage{
		People: view.OfPeople(reports.Figures{}, people), MayChange: true, Done: "The group is saved.",
	}
	for _, g := range groups {
		p.Groups = append(p.Groups, view.OfGroup(g))
	}
	b.add("People", "groups", pages.PeoplePath, pages.People(b.on(pages.PeoplePath), p))
	form := pages.EntryForm{
		Title: "New person", Path: pages.PeoplePath, Name: "dan", New: true,
		Hint:   "The name that agents and routes use, such as ana.",
		Fields: []pages.EntryField{{Name: "email", Label: "E-mail", Hint: "Optional.", Value: "dan@example.com"}},
		Problems: []view.Problem{
			{Field: "name", Text: view.RawText("A person with this name exists already.").Text()},
		},
	}
	b.add("People", "form with an error", pages.PeoplePath, pages.EditEntry(b.on(pages.PeoplePath), form))
	b.add("People", "edit a group", pages.PeoplePath, pages.EditEntry(b.on(pages.PeoplePath), pages.EntryForm{
		Title: "Edit a group", Path: pages.GroupsPath, Name: "payments", Fields: []pages.EntryField{
			{
				Name: "people", Label: "People", Hint: "Names with commas between them, such as ana, ben.",
				Value: "ana, ben",
			},
		},
	}))
}
