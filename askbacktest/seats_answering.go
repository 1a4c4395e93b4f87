package askbacktest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
)

var answering = []fact{
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

func everyShape(r room) {
	agent, ana := r.agent(), r.person("ana")
	for _, s := range shapes() {
		before := r.must(agent, s.ask)
		r.pending(before)
		got, err := ana.Answer(r.ctx(), before.ID, s.answer)
		if err != nil {
			r.Errorf("%s: %v", s.name, err)
			continue
		}
		if got.Outcome == nil || got.Outcome.At.Before(before.CreatedAt) {
			r.Errorf("%s: got outcome %s, want one that is later than the ask, %v", s.name, text(got.Outcome), before.CreatedAt)
			continue
		}
		want := before
		s.want.Status, want.Status = askback.Answered, askback.Answered
		s.want.By = askback.By{Kind: askback.ByPerson, Name: "ana"}
		s.want.Via, s.want.At = askback.ViaAPI, got.Outcome.At
		if s.want.Decision == askback.Approve {
			s.want.Digest = before.Confirmation.Digest // what was approved is what was asked (F7)
		}
		want.Outcome = &s.want
		r.same(got, want)
		r.same(r.done(agent.Get(r.ctx(), before.ID)), want)
		r.same(r.done(agent.Wait(r.ctx(), before.ID)), want)
		if approved := s.want.Decision == askback.Approve; got.Outcome.Approved() != approved {
			r.Errorf("%s: got approved %v, want %v", s.name, got.Outcome.Approved(), approved)
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

func readUnchanged(r room) {
	q := everything()
	got := r.must(r.agent(), q)
	r.pending(got)
	want := got // what Askback gives is not compared
	want.Agent, want.Title, want.To, want.Tags, want.Context = q.Agent, q.Title, q.To, q.Tags, q.Context
	want.Questions = q.Questions
	want.Questions[0].ID, want.Questions[1].ID = "q1", "q2"
	want.Kind, want.Status, want.Quorum, want.OnTimeout = askback.Questions, askback.Pending, 1, askback.OnTimeoutDefault
	want.Deadline = got.CreatedAt.Add(time.Hour)
	r.same(got, want)
	if !strings.HasPrefix(got.ID, "ask_") || !strings.HasPrefix(got.SessionID, "ses_") || got.CreatedAt.IsZero() {
		r.Errorf("got id %q, session %q, created %v", got.ID, got.SessionID, got.CreatedAt)
	}

	q = removal()
	got = r.must(r.agent(), q)
	r.pending(got)
	c := q.Confirmation
	c.Tier, c.Digest = "confirm", got.Confirmation.Digest
	want = got
	want.Kind, want.Agent, want.Confirmation, want.OnTimeout = askback.Confirm, "deploybot", c, askback.OnTimeoutWait
	r.same(got, want)
	if !strings.HasPrefix(c.Digest, "sha256:") || len(c.Digest) != len("sha256:")+64 {
		r.Errorf("got digest %q", c.Digest)
	}
}

func sharesNothing(r room) {
	q := everything()
	agent, ana := r.agent(), r.person("ana")
	asked := r.must(agent, q)
	whole := asked.Clone()
	scribble := func(questions []askback.Question, to, tags []string, about json.RawMessage) {
		questions[0].Text, questions[0].Options[0].Label, questions[1].Default[0] = "?", "?", "?"
		to[0], tags[0], about[1] = "?", "?", '?'
	}
	scribble(q.Questions, q.To, q.Tags, q.Context)
	r.pending(whole)
	for _, a := range []askback.Ask{asked, r.done(ana.Get(r.ctx(), asked.ID)), r.done(ana.Claim(r.ctx(), asked.ID))} {
		scribble(a.Questions, a.To, a.Tags, a.Context)
	}
	claimed := r.done(ana.Get(r.ctx(), asked.ID))
	whole.Claims = claimed.Clone().Claims
	claimed.Claims[0].Name = "?"
	r.pending(whole)

	answer := answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}}, askback.QuestionAnswer{ID: "q2", Selected: []string{"red"}})
	won := r.done(ana.Answer(r.ctx(), asked.ID, answer))
	want := won.Clone()
	answer.Answers[0].Selected[0], answer.Answers[1].Selected[0] = "?", "?"
	won.Outcome.Answers[0].Selected[0], won.Outcome.By.Name = "?", "?"
	waited := r.done(agent.Wait(r.ctx(), asked.ID))
	r.same(waited, want)
	waited.Outcome.Answers[1].Selected[0], waited.Outcome.Status = "?", "?"
	page, err := ana.List(r.ctx(), askback.Query{Status: askback.Answered})
	if err != nil || len(page.Items) != 1 {
		r.Fatalf("got %d asks and error %v, want one", len(page.Items), err)
	}
	r.same(page.Items[0], want)
	page.Items[0].Outcome.Answers[0].Other = "?"
	r.same(r.done(ana.Get(r.ctx(), asked.ID)), want)

	confirm := removal()
	asked = r.must(agent, confirm)
	want = asked.Clone()
	confirm.Confirmation.Input[2], confirm.Confirmation.ToolName = '?', "?"
	asked.Confirmation.Input[2], asked.Confirmation.Digest = '?', "?"
	r.pending(want)
}

func repeatedAnswer(r room) {
	agent, ana := r.agent(), r.person("ana")
	a := r.must(agent, database())
	want := r.done(ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite")))
	r.same(r.done(ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite"))), want)
	r.same(r.done(ana.Answer(r.ctx(), a.ID, answers(chosen("1", database(), "SQLite")))), want)

	a = r.must(agent, removal())
	want = r.done(ana.Answer(r.ctx(), a.ID, askback.Decide(askback.Deny, "not now")))
	r.same(r.done(ana.Answer(r.ctx(), a.ID, askback.Decide(askback.Deny, "not now"))), want)

	a = r.must(agent, database())
	want = r.done(ana.Decline(r.ctx(), a.ID, "ask ben"))
	r.same(r.done(ana.Decline(r.ctx(), a.ID, "ask ben")), want)

	a = r.must(agent, database())
	want = r.done(agent.Cancel(r.ctx(), a.ID, "found it"))
	r.same(r.done(agent.Cancel(r.ctx(), a.ID, "found it")), want)
	r.same(r.done(agent.Cancel(r.ctx(), a.ID, "for another reason")), want)
}

func lateAnswer(r room) {
	agent, ana, ben := r.agent(), r.person("ana"), r.person("ben")
	a := r.must(agent, database())
	won := r.done(ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite")))
	for _, late := range []func() (askback.Ask, error){
		func() (askback.Ask, error) { return ben.Answer(r.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		func() (askback.Ask, error) { return ben.Answer(r.ctx(), a.ID, askback.Choose("SQLite")) }, // the same, by another
		func() (askback.Ask, error) { return ben.Answer(r.ctx(), a.ID, askback.Choose()) },
		func() (askback.Ask, error) { return ana.Answer(r.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		func() (askback.Ask, error) { return ana.Decline(r.ctx(), a.ID, "no") },
		func() (askback.Ask, error) { return ben.Decline(r.ctx(), a.ID, "") },
		func() (askback.Ask, error) { return ben.Claim(r.ctx(), a.ID) },
		func() (askback.Ask, error) { return agent.Cancel(r.ctx(), a.ID, "too slow") },
	} {
		got, err := late()
		r.settled(got, err, won)
	}
	r.same(r.done(agent.Get(r.ctx(), a.ID)), won)
}

func declineEnds(r room) {
	agent, ana, ben := r.agent(), r.person("ana"), r.person("ben")
	for _, q := range []askback.Request{database(), removal()} {
		want := r.must(agent, q)
		got := r.done(ana.Decline(r.ctx(), want.ID, "ask ben"))
		want.Status = askback.Declined
		want.Outcome = &askback.Outcome{
			Status: askback.Declined, Reason: "ask ben",
			By: askback.By{Kind: askback.ByPerson, Name: "ana"}, Via: askback.ViaAPI, At: got.Outcome.At,
		}
		r.same(got, want)
		r.same(r.done(agent.Wait(r.ctx(), want.ID)), want)
		late, err := ben.Decline(r.ctx(), want.ID, "ask ben")
		r.settled(late, err, want)
	}
}

func cancelEnds(r room) {
	agent, ana := r.agent(), r.person("ana")
	want := r.must(agent, database())
	got := r.done(agent.Cancel(r.ctx(), want.ID, "found it"))
	want.Status = askback.Cancelled
	want.Outcome = &askback.Outcome{
		Status: askback.Cancelled, Reason: "found it",
		By: askback.By{Kind: askback.ByAgent, Name: "deploybot"}, Via: askback.ViaAPI, At: got.Outcome.At,
	}
	r.same(got, want)
	r.same(r.done(agent.Wait(r.ctx(), want.ID)), want)
	late, err := ana.Answer(r.ctx(), want.ID, askback.Choose("SQLite"))
	r.settled(late, err, want)
}

func claimIsSeen(r room) {
	agent, ana, ben := r.agent(), r.person("ana"), r.person("ben")
	want := r.must(agent, database())
	got := r.done(ana.Claim(r.ctx(), want.ID))
	if len(got.Claims) != 1 || got.Claims[0].Name != "ana" || got.Claims[0].At.Before(want.CreatedAt) {
		r.Fatalf("got claims %s, want one of ana's", text(got.Claims))
	}
	want.Claims = got.Claims
	r.same(got, want)
	r.same(r.done(ana.Claim(r.ctx(), want.ID)), want) // at once again: nothing new
	r.same(r.done(agent.Get(r.ctx(), want.ID)), want)
	got = r.done(ben.Claim(r.ctx(), want.ID))
	if len(got.Claims) != 2 || got.Claims[1].Name != "ben" {
		r.Errorf("got claims %s, want ana's and ben's", text(got.Claims))
	}
	carl := r.done(r.person("carl").Answer(r.ctx(), want.ID, askback.Choose("SQLite")))
	if carl.Outcome.By.Name != "carl" {
		r.Errorf("got an outcome by %s, want carl, whoever claims", carl.Outcome.By)
	}
}

func spentOnce(r room) {
	agent := r.agent()
	a := r.must(agent, removal())
	digest := a.Confirmation.Digest
	want := r.done(r.person("ana").Answer(r.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	_, err := agent.Consume(r.ctx(), a.ID, "sha256:"+strings.Repeat("0", 64))
	r.want(err, askback.ErrDigest)
	_, err = r.as(askback.Agent, "otherbot").Consume(r.ctx(), a.ID, digest)
	r.want(err, askback.ErrNotFound)
	spent := r.done(agent.Consume(r.ctx(), a.ID, digest))
	if spent.ReceivedAt.IsZero() {
		r.Errorf("an approval is spent, and there is no receipt for it")
	}
	want.ReceivedAt = spent.ReceivedAt
	r.same(spent, want)
	_, err = agent.Consume(r.ctx(), a.ID, digest)
	r.want(err, askback.ErrConsumed)
	r.same(r.done(agent.Get(r.ctx(), a.ID)), want)
}

func receivedOnce(r room) {
	agent := r.agent()
	a := r.must(agent, database())
	_, err := agent.Receive(r.ctx(), a.ID)
	r.want(err, askback.ErrPending)
	want := r.done(r.person("ana").Answer(r.ctx(), a.ID, askback.Choose("SQLite")))
	if !want.ReceivedAt.IsZero() {
		r.Errorf("got a receipt of %v with the answer, want none yet", want.ReceivedAt)
	}
	_, err = r.as(askback.Agent, "otherbot").Receive(r.ctx(), a.ID)
	r.want(err, askback.ErrNotFound)
	_, err = r.person("ana").Receive(r.ctx(), a.ID)
	r.want(err, askback.ErrForbidden)
	waits := func(q askback.Query) bool {
		page, err := agent.List(r.ctx(), q)
		r.want(err, nil)
		return slices.ContainsFunc(page.Items, func(one askback.Ask) bool { return one.ID == a.ID })
	}
	late := askback.Query{Undelivered: true}
	if !waits(late) || !waits(askback.Query{Undelivered: true, Status: askback.Answered}) || waits(askback.Query{Undelivered: true, Status: askback.Declined}) {
		r.Errorf("what was answered is not in the list of what was not delivered")
	}
	other, err := r.as(askback.Agent, "otherbot").List(r.ctx(), late)
	if r.want(err, nil); len(other.Items) > 0 {
		r.Errorf("another agent is told of %d asks", len(other.Items))
	}
	open, gone := r.must(agent, database()), r.must(agent, database())
	r.done(agent.Cancel(r.ctx(), gone.ID, "found it"))
	page, err := agent.List(r.ctx(), late)
	if r.want(err, nil); slices.ContainsFunc(page.Items, func(one askback.Ask) bool { return one.ID == open.ID || one.ID == gone.ID }) {
		r.Errorf("what is open, or withdrawn by the agent itself, waits to be delivered")
	}
	got := r.done(agent.Receive(r.ctx(), a.ID))
	if waits(late) {
		r.Errorf("what was received waits to be delivered")
	}
	if got.ReceivedAt.Before(want.Outcome.At) {
		r.Errorf("got a receipt of %v for an answer of %v", got.ReceivedAt, want.Outcome.At)
	}
	want.ReceivedAt = got.ReceivedAt
	r.same(got, want)
	r.same(r.done(agent.Receive(r.ctx(), a.ID)), want)
	r.same(r.done(r.person("ana").Get(r.ctx(), a.ID)), want)
}

func nothingSpent(r room) {
	agent, ana := r.agent(), r.person("ana")
	ends := map[string]func(id string) (askback.Ask, error){
		"pending":   func(id string) (askback.Ask, error) { return ana.Get(r.ctx(), id) },
		"denied":    func(id string) (askback.Ask, error) { return ana.Answer(r.ctx(), id, askback.Decide(askback.Deny, "")) },
		"declined":  func(id string) (askback.Ask, error) { return ana.Decline(r.ctx(), id, "") },
		"cancelled": func(id string) (askback.Ask, error) { return agent.Cancel(r.ctx(), id, "") },
	}
	for name, end := range ends {
		a := r.must(agent, removal())
		r.done(end(a.ID))
		if _, err := agent.Consume(r.ctx(), a.ID, a.Confirmation.Digest); !errors.Is(err, askback.ErrNotApproved) {
			r.Errorf("%s: got error %v, want %v", name, err, askback.ErrNotApproved)
		}
	}
	a := r.must(agent, database())
	r.done(ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite")))
	_, err := agent.Consume(r.ctx(), a.ID, "")
	r.want(err, askback.ErrNotApproved)
}

func waitEnds(r room) {
	agent := r.agent()
	want := r.must(agent, database())
	ctx, cancel := context.WithTimeout(r.ctx(), 50*time.Millisecond)
	defer cancel()
	got, err := agent.Wait(ctx, want.ID)
	r.want(err, context.DeadlineExceeded)
	r.same(got, want)

	ctx, cancel = context.WithCancel(r.ctx())
	go cancel() // before, while or after the wait begins
	_, err = agent.Wait(ctx, want.ID)
	r.want(err, context.Canceled)
	r.pending(want)
}

func waitSettled(r room) {
	agent, ana := r.agent(), r.person("ana")
	a := r.must(agent, database())
	want := r.done(ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite")))
	r.same(r.done(agent.Wait(r.ctx(), a.ID)), want)
	r.same(r.done(ana.Wait(r.ctx(), a.ID)), want)
	_, err := r.as(askback.Agent, "otherbot").Wait(r.ctx(), a.ID)
	r.want(err, askback.ErrNotFound)
	_, err = agent.Wait(r.ctx(), unknown)
	r.want(err, askback.ErrNotFound)
}

// unknown is the id of no ask.
const unknown = "ask_00000000000000000000000000"
