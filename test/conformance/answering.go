package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
)

var answering = []testCase{
	{"EveryShapeOfAnswerComesBackWhole", everyShape},           // A1, C1, C3, F4
	{"WhatIsAskedIsReadUnchanged", readUnchanged},              // C1, D1, F3
	{"AskAndAnswerShareNothingWithTheirCaller", sharesNothing}, // D4
	{"ARepeatedAnswerIsNoError", repeatedAnswer},               // E10
	{"ALateAnswerLearnsWhoWon", lateAnswer},                    // E10, F6
	{"ADeclineEndsTheAsk", declineEnds},                        // F4
	{"ACancelEndsTheAsk", cancelEnds},                          // F4
	{"AClaimIsSeenAndKeepsNobodyOut", claimIsSeen},             // F5
	{"AnApprovalIsSpentOnceForItsArguments", spentOnce},        // F7
	{"AnOutcomeIsReceivedOnce", receivedOnce},                  // F6
	{"WithoutApprovalNothingIsSpent", nothingSpent},            // C3, F7
	{"WaitEndsWithItsContext", waitEnds},                       // B3, D3
	{"WaitReturnsWhatIsSettledAlready", waitSettled},           // B3
}

// shape is a request, an answer to it, and what becomes of them.
type shape struct {
	name   string
	ask    askback.Request
	answer askback.Answer
	want   askback.Outcome
}

// chosen is the normal form of an answer to question n.
func chosen(n string, q askback.Request, selected ...string) askback.QuestionAnswer {
	return askback.QuestionAnswer{ID: "q" + n, Question: q.Questions[n[0]-'1'].Text, Selected: selected}
}

func answers(list ...askback.QuestionAnswer) askback.Answer { return askback.Answer{Answers: list} }

func shapes() []shape {
	one := database()
	many := askback.Request{Questions: []askback.Question{{
		Text: "Which regions?", MultiSelect: true, Options: askback.Options("eu", "us", "asia"),
	}}}
	free := askback.Request{Questions: []askback.Question{{Text: "What is the customer called?"}}}
	form := askback.Request{Questions: []askback.Question{
		one.Questions[0], many.Questions[0], {Text: "Anything else?", Optional: true}, free.Questions[0],
	}}
	closed := database()
	closed.Questions[0].NoOther = true
	odd := "naïve <b>\"quoted\"</b> & \\ 日本語 \U0001f469\u200d\U0001f4bb\nsecond line\u2028\ttab"

	own := func(q askback.QuestionAnswer, other, notes string) askback.QuestionAnswer {
		q.Other, q.Notes = other, notes
		return q
	}
	given := func(list ...askback.QuestionAnswer) askback.Outcome { return askback.Outcome{Answers: list} }
	return []shape{
		{"a label", one, askback.Choose("SQLite"), given(chosen("1", one, "SQLite"))},
		{
			"a label by the question's text", one,
			answers(askback.QuestionAnswer{Question: one.Questions[0].Text, Selected: []string{"SQLite"}}),
			given(chosen("1", one, "SQLite")),
		},
		{"a label where nothing else counts", closed, askback.Choose("SQLite"), given(chosen("1", one, "SQLite"))},
		{"text instead of a label", one, askback.Choose("MySQL"), given(own(chosen("1", one), "MySQL", ""))},
		{"other text", one, answers(askback.QuestionAnswer{ID: "q1", Other: odd}), given(own(chosen("1", one), odd, ""))},
		{
			"a label with notes", one, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"SQLite"}, Notes: odd}),
			given(own(chosen("1", one, "SQLite"), "", odd)),
		},
		{"several labels", many, askback.Choose("us", "eu"), given(chosen("1", many, "us", "eu"))},
		{"labels and text", many, askback.Choose("eu", "the moon"), given(own(chosen("1", many, "eu"), "the moon", ""))},
		{"a label twice", many, askback.Choose("eu", "eu"), given(chosen("1", many, "eu"))},
		{"free text", free, askback.Choose("ACME"), given(own(chosen("1", free), "ACME", ""))},
		{
			"a form", form,
			askback.Answer{
				Answers: []askback.QuestionAnswer{
					{ID: "q4", Other: "ACME"},
					{Question: "Which regions?", Selected: []string{"eu", "us"}},
					{ID: "q1", Selected: []string{"SQLite"}},
				},
				Comment: odd,
			},
			askback.Outcome{Comment: odd, Answers: []askback.QuestionAnswer{
				chosen("1", form, "SQLite"), chosen("2", form, "eu", "us"), chosen("3", form), own(chosen("4", form), "ACME", ""),
			}},
		},
		{"an approval", removal(), askback.Decide(askback.Approve, ""), askback.Outcome{Decision: askback.Approve}},
		{"a denial", removal(), askback.Decide(askback.Deny, odd), askback.Outcome{Decision: askback.Deny, Reason: odd}},
	}
}

func everyShape(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	for _, s := range shapes() {
		before := f.must(agent, s.ask)
		f.pending(before)
		got, err := ana.Answer(f.ctx(), before.ID, s.answer)
		if err != nil {
			f.Errorf("%s: %v", s.name, err)
			continue
		}
		if got.Outcome == nil || got.Outcome.At.Before(before.CreatedAt) {
			f.Errorf("%s: got outcome %s, want one that is later than the ask, %v", s.name, text(got.Outcome), before.CreatedAt)
			continue
		}
		want := before
		s.want.Status, want.Status = askback.Answered, askback.Answered
		s.want.Actor = askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
		s.want.Channel, s.want.At = askback.ChannelAPI, got.Outcome.At
		if s.want.Decision == askback.Approve {
			s.want.Digest = before.Confirmation.Digest // what was approved is what was asked (F7)
		}
		want.Outcome = &s.want
		f.same(got, want)
		f.same(f.done(agent.Get(f.ctx(), before.ID)), want)
		f.same(f.done(agent.Wait(f.ctx(), before.ID)), want)
		if approved := s.want.Decision == askback.Approve; got.Outcome.Approved() != approved {
			f.Errorf("%s: got approved %v, want %v", s.name, got.Outcome.Approved(), approved)
		}
	}
}

// everything is a request that leaves nothing out.
func everything() askback.Request {
	return askback.Request{
		Questions: []askback.Question{{
			Text: "Which <design>?", Header: "Design", Default: []string{"B"},
			Options: []askback.Option{{Label: "A", Description: "the & old", Preview: "┌─┐\n└─┘"}, {Label: "B"}},
		}, {
			Text: "Which colours?", MultiSelect: true, Optional: true, NoOther: true,
			Options: askback.Options("red", "blue"), Default: []string{"red", "blue"},
		}},
		SessionKey: "run 7", Agent: "designer", Title: "The page", To: []string{"ana", "judge"}, Tags: []string{"ui", "prod"},
		Context: json.RawMessage(`{"file":"a<b>.css","lines":[1,2]}`), Timeout: time.Hour, OnTimeout: askback.OnTimeoutDefault,
	}
}

func readUnchanged(f fixture) {
	q := everything()
	got := f.must(f.agent(), q)
	f.pending(got)
	want := got // what Askback gives is not compared
	want.Agent, want.Title, want.To, want.Tags, want.Context = q.Agent, q.Title, q.To, q.Tags, q.Context
	want.Questions = q.Questions
	want.Questions[0].ID, want.Questions[1].ID = "q1", "q2"
	want.Kind, want.Status, want.Quorum, want.OnTimeout = askback.Questions, askback.Pending, 1, askback.OnTimeoutDefault
	want.Deadline = got.CreatedAt.Add(time.Hour)
	f.same(got, want)
	if !strings.HasPrefix(got.ID, "ask_") || !strings.HasPrefix(got.SessionID, "ses_") || got.CreatedAt.IsZero() {
		f.Errorf("got id %q, session %q, created %v", got.ID, got.SessionID, got.CreatedAt)
	}

	q = removal()
	got = f.must(f.agent(), q)
	f.pending(got)
	c := q.Confirmation
	c.Tier, c.Digest = "confirm", got.Confirmation.Digest
	want = got
	want.Kind, want.Agent, want.Confirmation, want.OnTimeout = askback.Confirm, "deploybot", c, askback.OnTimeoutWait
	f.same(got, want)
	if !strings.HasPrefix(c.Digest, "sha256:") || len(c.Digest) != len("sha256:")+64 {
		f.Errorf("got digest %q", c.Digest)
	}
}

func sharesNothing(f fixture) {
	q := everything()
	agent, ana := f.agent(), f.person("ana")
	asked := f.must(agent, q)
	whole := asked.Clone()
	scribble := func(questions []askback.Question, to, tags []string, about json.RawMessage) {
		questions[0].Text, questions[0].Options[0].Label, questions[1].Default[0] = "?", "?", "?"
		to[0], tags[0], about[1] = "?", "?", '?'
	}
	scribble(q.Questions, q.To, q.Tags, q.Context)
	f.pending(whole)
	for _, a := range []askback.Ask{asked, f.done(ana.Get(f.ctx(), asked.ID)), f.done(ana.Claim(f.ctx(), asked.ID))} {
		scribble(a.Questions, a.To, a.Tags, a.Context)
	}
	claimed := f.done(ana.Get(f.ctx(), asked.ID))
	whole.Claims = claimed.Clone().Claims
	claimed.Claims[0].Name = "?"
	f.pending(whole)

	answer := answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}}, askback.QuestionAnswer{ID: "q2", Selected: []string{"red"}})
	won := f.done(ana.Answer(f.ctx(), asked.ID, answer))
	want := won.Clone()
	answer.Answers[0].Selected[0], answer.Answers[1].Selected[0] = "?", "?"
	won.Outcome.Answers[0].Selected[0], won.Outcome.Actor.Name = "?", "?"
	waited := f.done(agent.Wait(f.ctx(), asked.ID))
	f.same(waited, want)
	waited.Outcome.Answers[1].Selected[0], waited.Outcome.Status = "?", "?"
	page, err := ana.List(f.ctx(), askback.Query{Status: askback.Answered})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got %d asks and error %v, want one", len(page.Items), err)
	}
	f.same(page.Items[0], want)
	page.Items[0].Outcome.Answers[0].Other = "?"
	f.same(f.done(ana.Get(f.ctx(), asked.ID)), want)

	confirm := removal()
	asked = f.must(agent, confirm)
	want = asked.Clone()
	confirm.Confirmation.Input[2], confirm.Confirmation.ToolName = '?', "?"
	asked.Confirmation.Input[2], asked.Confirmation.Digest = '?', "?"
	f.pending(want)
}

func repeatedAnswer(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.must(agent, database())
	want := f.done(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.same(f.done(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))), want)
	f.same(f.done(ana.Answer(f.ctx(), a.ID, answers(chosen("1", database(), "SQLite")))), want)

	a = f.must(agent, removal())
	want = f.done(ana.Answer(f.ctx(), a.ID, askback.Decide(askback.Deny, "not now")))
	f.same(f.done(ana.Answer(f.ctx(), a.ID, askback.Decide(askback.Deny, "not now"))), want)

	a = f.must(agent, database())
	want = f.done(ana.Decline(f.ctx(), a.ID, "ask ben"))
	f.same(f.done(ana.Decline(f.ctx(), a.ID, "ask ben")), want)

	a = f.must(agent, database())
	want = f.done(agent.Cancel(f.ctx(), a.ID, "found it"))
	f.same(f.done(agent.Cancel(f.ctx(), a.ID, "found it")), want)
	f.same(f.done(agent.Cancel(f.ctx(), a.ID, "for another reason")), want)
}

func lateAnswer(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	a := f.must(agent, database())
	won := f.done(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	for _, late := range []func() (askback.Ask, error){
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose("SQLite")) }, // the same, by another
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose()) },
		func() (askback.Ask, error) { return ana.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		func() (askback.Ask, error) { return ana.Decline(f.ctx(), a.ID, "no") },
		func() (askback.Ask, error) { return ben.Decline(f.ctx(), a.ID, "") },
		func() (askback.Ask, error) { return ben.Claim(f.ctx(), a.ID) },
		func() (askback.Ask, error) { return agent.Cancel(f.ctx(), a.ID, "too slow") },
	} {
		got, err := late()
		f.settled(got, err, won)
	}
	f.same(f.done(agent.Get(f.ctx(), a.ID)), won)
}

func declineEnds(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	for _, q := range []askback.Request{database(), removal()} {
		want := f.must(agent, q)
		got := f.done(ana.Decline(f.ctx(), want.ID, "ask ben"))
		want.Status = askback.Declined
		want.Outcome = &askback.Outcome{
			Status: askback.Declined, Reason: "ask ben",
			Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelAPI, At: got.Outcome.At,
		}
		f.same(got, want)
		f.same(f.done(agent.Wait(f.ctx(), want.ID)), want)
		late, err := ben.Decline(f.ctx(), want.ID, "ask ben")
		f.settled(late, err, want)
	}
}

func cancelEnds(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	want := f.must(agent, database())
	got := f.done(agent.Cancel(f.ctx(), want.ID, "found it"))
	want.Status = askback.Cancelled
	want.Outcome = &askback.Outcome{
		Status: askback.Cancelled, Reason: "found it",
		Actor: askback.Actor{Kind: askback.ActorAgent, Name: "deploybot"}, Channel: askback.ChannelAPI, At: got.Outcome.At,
	}
	f.same(got, want)
	f.same(f.done(agent.Wait(f.ctx(), want.ID)), want)
	late, err := ana.Answer(f.ctx(), want.ID, askback.Choose("SQLite"))
	f.settled(late, err, want)
}

func claimIsSeen(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	want := f.must(agent, database())
	got := f.done(ana.Claim(f.ctx(), want.ID))
	if len(got.Claims) != 1 || got.Claims[0].Name != "ana" || got.Claims[0].At.Before(want.CreatedAt) {
		f.Fatalf("got claims %s, want one of ana's", text(got.Claims))
	}
	want.Claims = got.Claims
	f.same(got, want)
	f.same(f.done(ana.Claim(f.ctx(), want.ID)), want) // at once again: nothing new
	f.same(f.done(agent.Get(f.ctx(), want.ID)), want)
	got = f.done(ben.Claim(f.ctx(), want.ID))
	if len(got.Claims) != 2 || got.Claims[1].Name != "ben" {
		f.Errorf("got claims %s, want ana's and ben's", text(got.Claims))
	}
	carl := f.done(f.person("carl").Answer(f.ctx(), want.ID, askback.Choose("SQLite")))
	if carl.Outcome.Actor.Name != "carl" {
		f.Errorf("got an outcome by %s, want carl, whoever claims", carl.Outcome.Actor)
	}
}

func spentOnce(f fixture) {
	agent := f.agent()
	a := f.must(agent, removal())
	digest := a.Confirmation.Digest
	want := f.done(f.person("ana").Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	_, err := agent.Consume(f.ctx(), a.ID, "sha256:"+strings.Repeat("0", 64))
	f.want(err, askback.ErrDigest)
	_, err = f.as(askback.Agent, "otherbot").Consume(f.ctx(), a.ID, digest)
	f.want(err, askback.ErrNotFound)
	spent := f.done(agent.Consume(f.ctx(), a.ID, digest))
	if spent.AckedAt.IsZero() {
		f.Errorf("an approval is spent, and there is no receipt for it")
	}
	want.AckedAt = spent.AckedAt
	f.same(spent, want)
	_, err = agent.Consume(f.ctx(), a.ID, digest)
	f.want(err, askback.ErrConsumed)
	f.same(f.done(agent.Get(f.ctx(), a.ID)), want)
}

func receivedOnce(f fixture) {
	agent := f.agent()
	a := f.must(agent, database())
	_, err := agent.Ack(f.ctx(), a.ID)
	f.want(err, askback.ErrPending)
	want := f.done(f.person("ana").Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	if !want.AckedAt.IsZero() {
		f.Errorf("got a receipt of %v with the answer, want none yet", want.AckedAt)
	}
	_, err = f.as(askback.Agent, "otherbot").Ack(f.ctx(), a.ID)
	f.want(err, askback.ErrNotFound)
	_, err = f.person("ana").Ack(f.ctx(), a.ID)
	f.want(err, askback.ErrForbidden)
	waits := func(q askback.Query) bool {
		page, err := agent.List(f.ctx(), q)
		f.want(err, nil)
		return slices.ContainsFunc(page.Items, func(one askback.Ask) bool { return one.ID == a.ID })
	}
	late := askback.Query{Unacked: true}
	if !waits(late) || !waits(askback.Query{Unacked: true, Status: askback.Answered}) || waits(askback.Query{Unacked: true, Status: askback.Declined}) {
		f.Errorf("what was answered is not in the list of what was not delivered")
	}
	other, err := f.as(askback.Agent, "otherbot").List(f.ctx(), late)
	if f.want(err, nil); len(other.Items) > 0 {
		f.Errorf("another agent is told of %d asks", len(other.Items))
	}
	open, gone := f.must(agent, database()), f.must(agent, database())
	f.done(agent.Cancel(f.ctx(), gone.ID, "found it"))
	page, err := agent.List(f.ctx(), late)
	if f.want(err, nil); slices.ContainsFunc(page.Items, func(one askback.Ask) bool { return one.ID == open.ID || one.ID == gone.ID }) {
		f.Errorf("what is open, or withdrawn by the agent itself, waits to be delivered")
	}
	got := f.done(agent.Ack(f.ctx(), a.ID))
	if waits(late) {
		f.Errorf("what was received waits to be delivered")
	}
	if got.AckedAt.Before(want.Outcome.At) {
		f.Errorf("got a receipt of %v for an answer of %v", got.AckedAt, want.Outcome.At)
	}
	want.AckedAt = got.AckedAt
	f.same(got, want)
	f.same(f.done(agent.Ack(f.ctx(), a.ID)), want)
	f.same(f.done(f.person("ana").Get(f.ctx(), a.ID)), want)
}

func nothingSpent(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ends := map[string]func(id string) (askback.Ask, error){
		"pending":   func(id string) (askback.Ask, error) { return ana.Get(f.ctx(), id) },
		"denied":    func(id string) (askback.Ask, error) { return ana.Answer(f.ctx(), id, askback.Decide(askback.Deny, "")) },
		"declined":  func(id string) (askback.Ask, error) { return ana.Decline(f.ctx(), id, "") },
		"cancelled": func(id string) (askback.Ask, error) { return agent.Cancel(f.ctx(), id, "") },
	}
	for name, end := range ends {
		a := f.must(agent, removal())
		f.done(end(a.ID))
		if _, err := agent.Consume(f.ctx(), a.ID, a.Confirmation.Digest); !errors.Is(err, askback.ErrNotApproved) {
			f.Errorf("%s: got error %v, want %v", name, err, askback.ErrNotApproved)
		}
	}
	a := f.must(agent, database())
	f.done(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	_, err := agent.Consume(f.ctx(), a.ID, "")
	f.want(err, askback.ErrNotApproved)
}

func waitEnds(f fixture) {
	agent := f.agent()
	want := f.must(agent, database())
	ctx, cancel := context.WithTimeout(f.ctx(), 50*time.Millisecond)
	defer cancel()
	got, err := agent.Wait(ctx, want.ID)
	f.want(err, context.DeadlineExceeded)
	f.same(got, want)

	ctx, cancel = context.WithCancel(f.ctx())
	go cancel() // before, while or after the wait begins
	_, err = agent.Wait(ctx, want.ID)
	f.want(err, context.Canceled)
	f.pending(want)
}

func waitSettled(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.must(agent, database())
	want := f.done(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.same(f.done(agent.Wait(f.ctx(), a.ID)), want)
	f.same(f.done(ana.Wait(f.ctx(), a.ID)), want)
	_, err := f.as(askback.Agent, "otherbot").Wait(f.ctx(), a.ID)
	f.want(err, askback.ErrNotFound)
	_, err = agent.Wait(f.ctx(), unknown)
	f.want(err, askback.ErrNotFound)
}

// unknown is the id of no ask.
const unknown = "ask_00000000000000000000000000"
