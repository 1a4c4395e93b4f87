package main

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// team is the people and groups of the stories.
var team = struct {
	people []askback.Person
	groups []askback.Group
}{
	[]askback.Person{{Name: "ana", Email: "ana@example.com"}, {Name: "ben"}, {Name: "cem"}, {Name: "a-person-with-a-name-that-is-longer-than-a-column-of-a-phone"}},
	[]askback.Group{{Name: "oncall", People: []string{"ben", "cem"}}, {Name: "payments", People: []string{"ana", "ben", "a-person-with-a-name-that-is-longer-than-a-column-of-a-phone"}}},
}

// reassignStories are the form that gives an ask to others, and what follows.
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
		f.Others, f.Problem = "dan", view.RawText("None of the people who are named is known here, so no one could answer: \"dan\".").Text()
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
