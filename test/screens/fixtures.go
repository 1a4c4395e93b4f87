package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// An example is an ask in the pictures, with the time since it was asked.
type example struct {
	name  string
	agent string
	age   time.Duration
	ask   askback.Request
}

var examples = []example{
	{"database", "planner", 3 * time.Hour, askback.Request{
		Context: json.RawMessage(`"The service gets about 40 requests a second, and one of us is on call."`),
		Questions: []askback.Question{{
			Text: "Which database should the new billing service use?", Header: "Database",
			Default: []string{"PostgreSQL"},
			Options: []askback.Option{
				{
					Label: "PostgreSQL", Description: "The team already runs one. Needs a connection pool.",
					Preview: "services:\n  billing:\n    image: billing:2.4\n    environment:\n      DATABASE_URL: " +
						"postgres://billing@db.internal:5432/billing?sslmode=verify-full\n      POOL_SIZE: 20",
				},
				{
					Label: "SQLite", Description: "One file beside the program. No server to run.",
					Preview: "services:\n  billing:\n    image: billing:2.4\n    volumes: " +
						"[billing-data:/var/lib/billing]",
				},
				{Label: "None", Description: "Keep everything in memory until the design is settled."},
			},
		}},
	}},
	{"mail", "support", 42 * time.Minute, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "mail.send", Server: "office", Description: "Tell the customer that the refund is on its way.",
		Input: json.RawMessage(`{"to":"kim@example.com","subject":"Your refund","body":"Hello Kim,\n\nyour refund of 40 EUR is on its way.\nIt takes up to three days.\n\nBest regards\nThe support team","cc":[],"urgent":false}`),
	}}},
	{"migrate", "deploy-bot", 12 * time.Minute, askback.Request{
		Timeout: time.Hour, OnTimeout: askback.OnTimeoutDecline, Tags: []string{"prod"},
		Confirmation: &askback.Confirmation{
			ToolName: "db.migrate", Server: "warehouse", Dangerous: true,
			Description: "Remove the table that nothing uses any more.",
			Input:       json.RawMessage(`{"database":"prod","sql":"drop table orders_2019;\nvacuum","dry_run":false}`),
		},
	}},
	{"form", "release", 9 * time.Minute, askback.Request{
		Title: "Release 2.4", Tags: []string{"release"},
		Context: json.RawMessage(`"The build is green, and **two** flaky tests were skipped."`),
		Questions: []askback.Question{
			{Text: "Which version number?", Options: askback.Options("2.4.0", "3.0.0")},
			{
				Text: "Who should hear of it?", MultiSelect: true,
				Options: askback.Options("Customers", "Partners", "The team"),
			},
			{Text: "Anything to add to the notes?", Optional: true},
		},
	}},
	{"short", "writer", 5 * time.Minute, askback.Request{Questions: []askback.Question{{
		Text: "Ship the blog post today?", Options: askback.Options("Today", "Tomorrow", "Not yet"),
	}}}},
	{"label", "support", 2 * time.Minute, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "tickets.label", Input: json.RawMessage(`{"ticket":4711,"label":"billing"}`),
	}}},
	{"later", "writer", time.Minute, askback.Request{Questions: []askback.Question{{
		Text:    "Which picture should the next newsletter have?",
		Options: askback.Options("The harbour", "The team", "None"),
	}}}},
	{"settled", "planner", 26 * time.Hour, askback.Request{Questions: []askback.Question{{
		Text: "Which region should the replicas be in?", Options: askback.Options("Frankfurt", "Dublin", "Both"),
	}}}},
	{
		"denied",
		"deploy-bot", 27 * time.Hour,
		askback.Request{Tags: []string{"prod"}, Confirmation: &askback.Confirmation{
			ToolName: "db.migrate", Server: "warehouse", Dangerous: true,
			Input: json.RawMessage(`{"database":"prod","sql":"drop table orders"}`),
		}},
	},
	{"withdrawn", "writer", 28 * time.Hour, askback.Request{Questions: []askback.Question{
		{Text: "Should the post have a picture of the team?", Options: askback.Options("Yes", "No")},
	}}},
	{"granted", "deploy-bot", 25 * time.Hour, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "tests.run", Input: json.RawMessage(`{"suite":"unit","race":true}`),
	}}},
}

// fixtures makes the asks of the pictures, and returns their ids by name.
func fixtures(e *engine.Engine, setClock func(time.Time), now time.Time) (map[string]string, error) {
	ctx := context.Background()
	ids := map[string]string{}
	for _, x := range examples {
		setClock(now.Add(-x.age))
		r := x.ask
		r.Agent = x.agent
		if r.Timeout > 0 {
			r.Timeout += x.age
		}
		a, err := e.As(askback.Principal{Kind: askback.Agent, Name: x.agent, Channel: askback.ChannelAPI}).Ask(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", x.name, err)
		}
		ids[x.name] = a.ID
	}
	setClock(now.Add(-25*time.Hour + time.Minute))
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	if _, err := ana.Answer(ctx, ids["settled"], askback.Answer{Answers: []askback.QuestionAnswer{
		{ID: "q1", Selected: []string{"Both"}, Notes: "Dublin first."},
	}, Comment: "The contract for Frankfurt starts in May."}); err != nil {
		return nil, err
	}
	if _, err := ana.Answer(
		ctx, ids["granted"],
		askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{ExpiresIn: 7 * 24 * time.Hour}},
	); err != nil {
		return nil, err
	}
	if _, err := ana.Answer(ctx, ids["denied"],
		askback.Answer{Decision: askback.Deny, Reason: "Not on a Monday."}); err != nil {
		return nil, err
	}
	if _, err := e.As(askback.Principal{Kind: askback.Agent, Name: "writer", Channel: askback.ChannelMCP}).Cancel(ctx,
		ids["withdrawn"], ""); err != nil {
		return nil, err
	}
	if err := standingApprovals(e, ana); err != nil {
		return nil, err
	}
	if err := session(e, ana, setClock, now, ids); err != nil {
		return nil, err
	}
	if err := snooze(ana, ids, setClock, now); err != nil {
		return nil, err
	}
	if _, err := e.As(askback.Principal{Kind: askback.Responder, Name: "ben", Channel: askback.ChannelWeb}).Claim(ctx,
		ids["form"]); err != nil {
		return nil, err
	}
	return ids, nil
}

// snooze snoozes two asks and sets the clock to now. The snooze of one ask has ended by then, and the other
// ask is hidden.
func snooze(person askback.Client, ids map[string]string, setClock func(time.Time), now time.Time) error {
	setClock(now.Add(-40 * time.Minute))
	_, err := person.Snooze(context.Background(), ids["mail"], now.Add(-10*time.Minute))
	setClock(now)
	if err == nil {
		_, err = person.Snooze(context.Background(), ids["later"], now.Add(14*time.Hour+30*time.Minute))
	}
	return err
}

// standingApprovals makes wide and narrow standing approvals, and a revoked standing approval.
func standingApprovals(e *engine.Engine, person askback.Client) error {
	ctx := context.Background()
	for _, g := range []struct {
		agent, tool, input string
		dangerous          bool
		scope              askback.Scope
	}{
		{"deploy-bot", "Bash", `{"command":"make release VERSION=2.4.0"}`, false, askback.ScopeTool},
		{"deploy-bot", "db.migrate", `{"database":"staging","sql":"vacuum"}`, true, askback.ScopeInput},
		{"support", "tickets.close", `{"ticket":4711,"reason":"duplicate"}`, false, askback.ScopeTool},
		{"support", "tickets.reopen", `{"ticket":4711}`, false, askback.ScopeInput},
	} {
		agent := e.As(askback.Principal{Kind: askback.Agent, Name: g.agent, Channel: askback.ChannelAPI})
		a, err := agent.Ask(ctx, askback.Request{Agent: g.agent, Confirmation: &askback.Confirmation{
			ToolName: g.tool, Input: json.RawMessage(g.input), Dangerous: g.dangerous,
		}})
		if err == nil {
			a, err = person.Answer(ctx, a.ID, askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{
				Scope: g.scope, ExpiresIn: 7 * 24 * time.Hour,
			}})
		}
		if err == nil && g.tool == "tickets.reopen" {
			_, err = person.Revoke(ctx, a.Outcome.GrantID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// session makes a session with a settled ask, an open ask and messages.
func session(
	e *engine.Engine, ana askback.Client, setClock func(time.Time), now time.Time, ids map[string]string,
) error {
	ctx := context.Background()
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "nightly", Channel: askback.ChannelAPI})
	setClock(now.Add(-3 * time.Hour))
	s, err := bot.Start(ctx, askback.SessionRequest{Title: "Nightly import of the orders", Agent: "nightly"})
	if err != nil {
		return err
	}
	ids["session"] = s.ID
	setClock(now.Add(-2 * time.Hour))
	a, err := bot.Ask(ctx, askback.Request{SessionID: s.ID, Agent: "nightly", Questions: []askback.Question{{
		Text:    "12 of 4 000 orders have no customer. Skip them?",
		Options: askback.Options("Skip them", "Stop the import"),
	}}})
	if err != nil {
		return err
	}
	setClock(now.Add(-100 * time.Minute))
	if _, err := ana.Answer(ctx, a.ID, askback.Choose("Skip them")); err != nil {
		return err
	}
	setClock(now.Add(-90 * time.Minute))
	if _, err := bot.Send(ctx, s.ID,
		askback.Report{Text: "3 988 orders are imported. The report is next."}); err != nil {
		return err
	}
	if _, err := bot.Send(ctx, s.ID, askback.SetTodos{Todos: []askback.Todo{
		{Content: "Import the orders", Status: askback.TodoCompleted},
		{Content: "Send the report", Status: askback.TodoInProgress},
		{Content: "Archive the files", Status: askback.TodoPending},
	}}); err != nil {
		return err
	}
	setClock(now.Add(-80 * time.Minute))
	if _, err := ana.Send(ctx, s.ID, askback.SendMessage{Text: "Send it to the team, too."}); err != nil {
		return err
	}
	setClock(now.Add(-time.Hour))
	a, err = bot.Ask(ctx, askback.Request{SessionID: s.ID, Agent: "nightly", Confirmation: &askback.Confirmation{
		ToolName: "mail.send", Input: json.RawMessage(`{"to":"team@example.com","subject":"Import of 3 November"}`),
	}})
	if err != nil {
		return err
	}
	setClock(now.Add(-50 * time.Minute))
	_, err = e.As(askback.Principal{Kind: askback.Responder, Name: "ben", Channel: askback.ChannelWeb}).Claim(ctx, a.ID)
	setClock(now)
	return err
}
