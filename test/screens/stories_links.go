package main

import (
	"time"

	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// linkStories adds the stories of the pages of links in messages, which need no log-in.
func linkStories(b *book) {
	const path = "/a/x"
	f := b.frame
	f.Name, f.Links = safetext.Text{}, nil
	l := pages.Link{Path: path}
	form, call, dangerous := view.Of(b.fixture("form")), view.Of(b.fixture("mail")), view.Of(b.fixture("migrate"))
	b.add("Links", "question", path, pages.LinkAsk(f, l, form, view.NewForm(form)))
	b.add("Links", "approval", path, pages.LinkAsk(f, l, call, view.NewForm(call)))
	one := view.Of(b.fixture("short"))
	l.Choice, l.Label = 1, safetext.Line("Today")
	b.add("Links", "choice", path, pages.LinkChoice(f, l, one, view.NewForm(one)))
	b.add("Links", "log in", path, pages.LinkLogin(f, dangerous))
	barred := b.fixture("mail")
	barred.Approvers = []string{"carla"}
	b.add("Links", "for another person", path, pages.LinkBarred(f, view.For(barred, "ben")))
	a := b.fixture("settled")
	b.add("Links", "settled", path, pages.LinkSettled(f, view.Of(a), true, view.Conflict{}))
	held := b.frame
	held.Held.Items = []pages.HeldItem{{Ask: call, Held: view.Held{
		Name: held.Name, Yours: true, Word: "Approved", Detail: safetext.Line("mail"),
		SendsAt: held.Now.Add(5 * time.Second),
	}}}
	_ = pages.Held // a text that each page of a person contains
	b.add("Inbox", "undo", "/asks/x", pages.LinkSettled(held, view.Of(a), true, view.Conflict{}))
	b.add("Links", "too late", path, pages.LinkSettled(f, view.Of(a), false, view.ConflictOf(*a.Outcome, "ben")))
}
