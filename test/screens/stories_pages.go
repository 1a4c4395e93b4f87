package main

import (
	"context"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/reports"
)

// on returns the frame for the page at a path.
func (b *book) on(path string) pages.Frame {
	f := b.frame
	f.Page = path
	return f
}

// listStories adds the stories of the pages with lists other than the inbox.
func listStories(b *book) {
	h := pages.History{}
	for _, a := range b.list(askback.Query{Status: askback.SettledStatus}) {
		h.Asks = append(h.Asks, view.Brief(a))
	}
	b.add("History", "list", "/history", pages.HistoryList(b.on("/history"), h))
	filtered := h
	filtered.Filter = pages.HistoryFilter{Search: "region", Outcome: "answered", Agent: "planner", From: "2026-11-01"}
	filtered.Asks, filtered.Found = nil, map[string]view.Snippet{}
	for _, a := range b.list(askback.Query{Status: askback.SettledStatus, Search: "region"}) {
		filtered.Asks = append(filtered.Asks, view.Brief(a))
		filtered.Found[a.ID] = view.SnippetOf(a, "region")
	}
	b.add("History", "search", "/history", pages.HistoryList(b.on("/history"), filtered))
	b.add("History", "empty", "/history", pages.HistoryList(b.on("/history"), pages.History{}))
	h.Current = b.ids["settled"]
	b.add("History", "open ask", "/history/"+h.Current,
		pages.HistoryAsk(b.on("/history"), h, view.Of(b.fixture("settled"))))
	b.sessionStories()
	grants, err := b.ana().Grants(context.Background(), askback.GrantQuery{})
	b.check(err)
	past, err := b.ana().Grants(context.Background(), askback.GrantQuery{Ended: true})
	b.check(err)
	l := pages.GrantList{
		Groups: view.GroupGrants(grantViews(grants.Items)), Past: grantViews(past.Items), MayRevoke: true,
	}
	if len(l.Past) > 0 {
		l.Revoked = &l.Past[0]
	}
	b.add("Standing approvals", "list", "/grants", pages.Grants(b.on("/grants"), l))
	b.add("Standing approvals", "empty", "/grants", pages.Grants(b.on("/grants"), pages.GrantList{}))
}

func grantViews(grants []askback.Grant) (views []view.Grant) {
	for _, g := range grants {
		views = append(views, view.OfGrant(g))
	}
	return views
}

func (b *book) sessionStories() {
	ctx := context.Background()
	page, err := b.ana().Sessions(ctx, askback.SessionQuery{})
	b.check(err)
	var l pages.SessionList
	for _, s := range page.Items {
		l.Sessions = append(l.Sessions, view.SessionOf(s))
	}
	b.add("Sessions", "list", "/sessions", pages.Sessions(b.on("/sessions"), l))
	b.add("Sessions", "empty", "/sessions", pages.Sessions(b.on("/sessions"), pages.SessionList{}))
	s, err := b.ana().Session(ctx, b.ids["session"])
	b.check(err)
	messages, err := b.ana().Messages(ctx, s.ID, "", askback.MaxLimit)
	b.check(err)
	asks := b.list(askback.Query{Status: askback.AnyStatus, SessionID: s.ID})
	sent := []askback.Delivery{
		{
			AskID: asks[len(asks)-1].ID, Channel: "webhook", Target: "https://agents.example.com",
			Event: askback.EventQuestionPending, Status: askback.DeliverySent, Attempts: 1,
			At: b.frame.Now.Add(-115 * time.Minute),
		},
		{
			AskID: asks[len(asks)-1].ID, Channel: "webhook", Target: "https://agents.example.com",
			Event: askback.EventQuestionAnswered, Status: askback.DeliveryQueued, Attempts: 4,
			At: b.frame.Now.Add(-2 * time.Minute), RetryAt: b.frame.Now.Add(time.Hour), Error: "no reply in 30 s",
		},
	}
	late := []reports.LateAnswer{{
		AskID: asks[len(asks)-1].ID, Name: "ben", Channel: askback.ChannelTerminal, At: b.frame.Now,
		Answer: askback.Answer{Comment: "Only after the backup."},
	}}
	b.add("Sessions", "timeline", "/sessions/"+s.ID, pages.Session(b.on("/sessions"), pages.SessionPage{
		Session: view.SessionOf(s),
		Moments: view.Timeline(s, asks, messages.Items, late, view.DeliveriesOf(sent, kinds.Titles())), More: true,
	}))
	s.ReadsMessages, s.Title = true, ""
	b.add("Sessions", "agent reads messages", "/sessions/"+s.ID, pages.Session(b.on("/sessions"), pages.SessionPage{
		Session: view.SessionOf(s), Moments: view.Timeline(s, asks, messages.Items, nil, nil),
	}))
	s.Status, s.Error, s.CompletedAt = askback.SessionFailed, "The connection to the warehouse was lost.", b.frame.Now
	b.add("Sessions", "failed", "/sessions/"+s.ID, pages.Session(b.on("/sessions"),
		pages.SessionPage{Session: view.SessionOf(s), Moments: view.Timeline(s, asks, nil, nil, nil)}))
}

// figureStories adds the stories of the pages with figures.
func figureStories(b *book) {
	ctx, who := context.Background(), askback.Principal{Kind: askback.Admin, Name: "ana", Channel: askback.ChannelWeb}
	f, err := b.engine.Reports(who).Figures(ctx, reports.FiguresQuery{Period: 7 * 24 * time.Hour, Points: 28})
	b.check(err)
	agents, err := b.ana().Agents(ctx)
	b.check(err)
	people, err := b.ana().People(ctx)
	b.check(err)
	periods := []pages.Period{{Value: "24h", Name: "24 hours"}, {Value: "7d", Name: "7 days", Chosen: true}}
	b.add("Figures", "numbers", "/numbers", pages.NumbersOf(b.on("/numbers"),
		pages.NumbersPage{Name: "7 days", Periods: periods, Partial: true, Numbers: view.OfFigures(f)}))
	b.add("Figures", "no numbers", "/numbers",
		pages.NumbersOf(b.on("/numbers"), pages.NumbersPage{Name: "7 days", Periods: periods}))
	b.add("Figures", "agents", "/agents", pages.Agents(b.on("/agents"), view.OfAgents(f, agents, nil), false))
	b.add("Figures", "no agents", "/agents", pages.Agents(b.on("/agents"), nil, false))
	b.add("Figures", "people", "/people",
		pages.People(b.on("/people"), pages.PeoplePage{People: view.OfPeople(f, people)}))
	b.add("Figures", "no people", "/people", pages.People(b.on("/people"), pages.PeoplePage{}))
}

// tokenStories adds the stories of the pages of tokens and of log-ins.
func tokenStories(b *book) {
	var all []view.Token
	for _, t := range []askback.Token{
		{
			ID: "tok_01jzzzzzzzzzzzzzzzzzzzzzzz", Kind: askback.Agent, Name: "deploy-bot", Channel: askback.ChannelAPI,
			CreatedAt: b.frame.Now.Add(-9 * time.Hour),
		},
		{
			ID: "tok_01jyyyyyyyyyyyyyyyyyyyyyyy", Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb,
			CreatedAt: b.frame.Now.Add(-time.Hour), ExpiresAt: b.frame.Now.AddDate(0, 1, 0), LastUsedAt: b.frame.Now,
			Browser: askback.Browser{Name: "Firefox on Linux", Address: "203.0.113.7"},
		},
		{
			ID: "tok_01jxxxxxxxxxxxxxxxxxxxxxxx", Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb,
			CreatedAt: b.frame.Now.Add(-50 * time.Hour), ExpiresAt: b.frame.Now.AddDate(0, 0, 3),
		},
	} {
		all = append(all, view.OfToken(t))
	}
	ended := all[0]
	ended.RevokedAt = b.frame.Now
	logins := []pages.PersonLogins{{Name: all[1].Name, Logins: all[1:]}}
	form := pages.TokenForm{Kind: string(askback.Agent), Lasts: "90d"}
	b.add("Tokens", "list", "/tokens", pages.Tokens(b.on("/tokens"),
		pages.TokenPage{
			Tokens: all[:1], Logins: logins, Ended: []view.Token{ended}, Form: form, Revoked: &ended, MayChange: true,
		}))
	form.Problem = "This name cannot be used: it is blank."
	b.add("Tokens", "form with an error", "/tokens",
		pages.Tokens(b.on("/tokens"), pages.TokenPage{Tokens: all, Form: form, MayChange: true}))
	b.add("Tokens", "new token", "/tokens", pages.NewToken(b.on("/tokens"), all[0],
		"askback_0123456789abcdefghijklmnopqrstuvwxyz0123", "http://127.0.0.1:7575"))
	b.add("Tokens", "log-ins", "/logins", pages.Logins(b.on("/logins"), all[1:], all[1].ID))
}

// messageStories adds the stories of the pages with one message.
func messageStories(b *book) {
	b.add("Messages", "more", "/more", pages.More(b.on("/more")))
	visitor := b.frame
	visitor.Name, visitor.Links = view.Text{}, nil
	b.add("Messages", "log in", "/login", pages.Login(visitor, "secret"))
	b.add("Messages", "log in as another", "/login", pages.Login(b.frame, "secret"))
	b.add("Messages", "not logged in", "/", pages.Message(visitor, pages.Notice{
		Heading: "Log in first", Body: []string{"Your agents' questions are behind a log-in."},
		Command: "askback login", After: "Open the link that it prints.",
		SignIn: pages.SignIn{Name: "Example", URL: "/login/oidc", Alternative: "Or type this in a terminal:"},
	}))
	b.add("Messages", "error", "/", pages.Message(b.frame, pages.Notice{
		Heading: "The server has a problem", Body: []string{"Try again in a moment."}, Home: true, Retry: true,
	}))
}
