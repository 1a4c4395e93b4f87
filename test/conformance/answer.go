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
	{"AnswersAreReturnedComplete", answerShapes}, // A1, C1, C3, F4
	{"AskIsReturnedUnchanged", askUnchanged},     // C1, D1, F3
	{"ResultsShareNoMemory", noSharedMemory},     // D4
	{"RepeatedAnswerSucceeds", repeatedAnswer},   // E10
	{"LateAnswerReturnsTheOutcome", lateAnswer},  // E10, F6
	{"DeclineSettlesTheAsk", decline},            // F4
	{"CancelSettlesTheAsk", cancel},              // F4
	{"ClaimIsVisibleAndDoesNotBlock", claim},     // F5
	{"SeenChangesNoAsk", seen},
	{"ApprovalIsConsumedOnce", consumeOnce},          // F7
	{"OutcomeIsAckedOnce", ackOnce},                  // F6
	{"ConsumeRequiresAnApproval", consumeUnapproved}, // C3, F7
	{"WaitStopsWithItsContext", waitCancelled},       // B3, D3
	{"WaitReturnsSettledAsk", waitAfterOutcome},      // B3
}

// An answerShape is a request, an answer and the expected outcome.
type answerShape struct {
	name   string
	ask    askback.Request
	answer askback.Answer
	want   askback.Outcome
}

// chosen returns the stored form of an answer that selects options of question n of the request. The first
// question has the number "1".
func chosen(n string, q askback.Request, selected ...string) askback.QuestionAnswer {
	return askback.QuestionAnswer{ID: "q" + n, Question: q.Questions[n[0]-'1'].Text, Selected: selected}
}

func answers(list ...askback.QuestionAnswer) askback.Answer { return askback.Answer{Answers: list} }

func allAnswerShapes() []answerShape {
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
	return []answerShape{
		{"a label", one, askback.Choose("SQLite"), given(chosen("1", one, "SQLite"))},
		{
			"a label by the question's text", one,
			answers(askback.QuestionAnswer{Question: one.Questions[0].Text, Selected: []string{"SQLite"}}),
			given(chosen("1", one, "SQLite")),
		},
		{"a label where nothing else counts", closed, askback.Choose("SQLite"), given(chosen("1", one, "SQLite"))},
		{"text instead of a label", one, askback.Choose("MySQL"), given(own(chosen("1", one), "MySQL", ""))},
		{
			"other text", one, answers(askback.QuestionAnswer{ID: "q1", Other: odd}),
			given(own(chosen("1", one), odd, "")),
		},
		{
			"a label with notes", one,
			answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"SQLite"}, Notes: odd}),
			given(own(chosen("1", one, "SQLite"), "", odd)),
		},
		{"several labels", many, askback.Choose("us", "eu"), given(chosen("1", many, "us", "eu"))},
		{
			"labels and text", many, askback.Choose("eu", "the moon"),
			given(own(chosen("1", many, "eu"), "the moon", "")),
		},
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
				chosen("1", form, "SQLite"), chosen("2", form, "eu", "us"), chosen("3", form),
				own(chosen("4", form), "ACME", ""),
			}},
		},
		{"an approval", confirmation(), askback.Decide(askback.Approve, ""), askback.Outcome{
			Decision: askback.Approve,
		}},
		{"a denial", confirmation(), askback.Decide(askback.Deny, odd), askback.Outcome{
			Decision: askback.Deny, Reason: odd,
		}},
	}
}

func answerShapes(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	for _, s := range allAnswerShapes() {
		before := f.ask(agent, s.ask)
		f.wantPending(before)
		got, err := ana.Answer(f.ctx(), before.ID, s.answer)
		if err != nil {
			f.Errorf("%s: %v", s.name, err)
			continue
		}
		if got.Outcome == nil || got.Outcome.At.Before(before.CreatedAt) {
			f.Errorf("%s: got outcome %s, want one after the ask, %v", s.name, text(got.Outcome), before.CreatedAt)
			continue
		}
		want := before
		s.want.Status, want.Status = askback.Answered, askback.Answered
		s.want.Actor = askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
		s.want.Channel, s.want.At = askback.ChannelAPI, got.Outcome.At
		if s.want.Decision == askback.Approve {
			s.want.Digest = before.Confirmation.Digest // the approval is bound to the digest of the ask (F7)
		}
		want.Outcome = &s.want
		f.wantSame(got, want)
		f.wantSame(f.noError(agent.Get(f.ctx(), before.ID)), want)
		f.wantSame(f.noError(agent.Wait(f.ctx(), before.ID)), want)
		if approved := s.want.Decision == askback.Approve; got.Outcome.Approved() != approved {
			f.Errorf("%s: got approved %v, want %v", s.name, got.Outcome.Approved(), approved)
		}
	}
}

// fullRequest returns a request with two questions, which together have every field that an
// agent sets. It has a session, recipients, tags, a context and a timeout.
func fullRequest() askback.Request {
	return askback.Request{
		Questions: []askback.Question{{
			Text: "Which <design>?", Header: "Design", Default: []string{"B"},
			Options: []askback.Option{{Label: "A", Description: "the & old", Preview: "┌─┐\n└─┘"}, {Label: "B"}},
		}, {
			Text: "Which colours?", MultiSelect: true, Optional: true, NoOther: true,
			Options: askback.Options("red", "blue"), Default: []string{"red", "blue"},
		}},
		SessionKey: "run 7", Agent: "designer", Title: "The page", To: []string{"ana", "judge"},
		Tags:    []string{"ui", "prod"},
		Context: json.RawMessage(`{"file":"a<b>.css","lines":[1,2]}`), Timeout: time.Hour,
		OnTimeout: askback.OnTimeoutDefault,
	}
}

func askUnchanged(f fixture) {
	q := fullRequest()
	got := f.ask(f.agent(), q)
	f.wantPending(got)
	want := got // fields that Askback sets are not compared
	want.Agent, want.Title, want.To, want.Tags, want.Context = q.Agent, q.Title, q.To, q.Tags, q.Context
	want.Questions = q.Questions
	want.Questions[0].ID, want.Questions[1].ID = "q1", "q2"
	want.Kind, want.Status, want.Quorum, want.OnTimeout = askback.Questions, askback.Pending, 1,
		askback.OnTimeoutDefault
	want.Deadline = got.CreatedAt.Add(time.Hour)
	f.wantSame(got, want)
	if !strings.HasPrefix(got.ID, "ask_") || !strings.HasPrefix(got.SessionID, "ses_") || got.CreatedAt.IsZero() {
		f.Errorf("got id %q, session %q, created %v", got.ID, got.SessionID, got.CreatedAt)
	}

	q = confirmation()
	got = f.ask(f.agent(), q)
	f.wantPending(got)
	c := q.Confirmation
	c.Tier, c.Digest = "confirm", got.Confirmation.Digest
	want = got
	want.Kind, want.Agent, want.Confirmation, want.OnTimeout = askback.Confirm, "deploybot", c, askback.OnTimeoutWait
	f.wantSame(got, want)
	if !strings.HasPrefix(c.Digest, "sha256:") || len(c.Digest) != len("sha256:")+64 {
		f.Errorf("got digest %q", c.Digest)
	}
}

func noSharedMemory(f fixture) {
	q := fullRequest()
	agent, ana := f.agent(), f.person("ana")
	asked := f.ask(agent, q)
	whole := asked.Clone()
	scribble := func(questions []askback.Question, to, tags []string, about json.RawMessage) {
		questions[0].Text, questions[0].Options[0].Label, questions[1].Default[0] = "?", "?", "?"
		to[0], tags[0], about[1] = "?", "?", '?'
	}
	scribble(q.Questions, q.To, q.Tags, q.Context)
	f.wantPending(whole)
	for _, a := range []askback.Ask{
		asked, f.noError(ana.Get(f.ctx(), asked.ID)), f.noError(ana.Claim(f.ctx(), asked.ID)),
	} {
		scribble(a.Questions, a.To, a.Tags, a.Context)
	}
	claimed := f.noError(ana.Get(f.ctx(), asked.ID))
	whole.Claims = claimed.Clone().Claims
	claimed.Claims[0].Name = "?"
	f.wantPending(whole)

	answer := answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}},
		askback.QuestionAnswer{ID: "q2", Selected: []string{"red"}})
	won := f.noError(ana.Answer(f.ctx(), asked.ID, answer))
	want := won.Clone()
	answer.Answers[0].Selected[0], answer.Answers[1].Selected[0] = "?", "?"
	won.Outcome.Answers[0].Selected[0], won.Outcome.Actor.Name = "?", "?"
	waited := f.noError(agent.Wait(f.ctx(), asked.ID))
	f.wantSame(waited, want)
	waited.Outcome.Answers[1].Selected[0], waited.Outcome.Status = "?", "?"
	page, err := ana.List(f.ctx(), askback.Query{Status: askback.Answered})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got %d asks and error %v, want one", len(page.Items), err)
	}
	f.wantSame(page.Items[0], want)
	page.Items[0].Outcome.Answers[0].Other = "?"
	f.wantSame(f.noError(ana.Get(f.ctx(), asked.ID)), want)

	confirm := confirmation()
	asked = f.ask(agent, confirm)
	want = asked.Clone()
	confirm.Confirmation.Input[2], confirm.Confirmation.ToolName = '?', "?"
	asked.Confirmation.Input[2], asked.Confirmation.Digest = '?', "?"
	f.wantPending(want)
}

func repeatedAnswer(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.ask(agent, database())
	want := f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.wantSame(f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))), want)
	f.wantSame(f.noError(ana.Answer(f.ctx(), a.ID, answers(chosen("1", database(), "SQLite")))), want)

	a = f.ask(agent, confirmation())
	want = f.noError(ana.Answer(f.ctx(), a.ID, askback.Decide(askback.Deny, "not now")))
	f.wantSame(f.noError(ana.Answer(f.ctx(), a.ID, askback.Decide(askback.Deny, "not now"))), want)

	a = f.ask(agent, database())
	want = f.noError(ana.Decline(f.ctx(), a.ID, "ask ben"))
	f.wantSame(f.noError(ana.Decline(f.ctx(), a.ID, "ask ben")), want)

	a = f.ask(agent, database())
	want = f.noError(agent.Cancel(f.ctx(), a.ID, "found it"))
	f.wantSame(f.noError(agent.Cancel(f.ctx(), a.ID, "found it")), want)
	f.wantSame(f.noError(agent.Cancel(f.ctx(), a.ID, "for another reason")), want)
}

func lateAnswer(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	a := f.ask(agent, database())
	won := f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	for _, late := range []func() (askback.Ask, error){
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		// the same answer by another person
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose("SQLite")) },
		func() (askback.Ask, error) { return ben.Answer(f.ctx(), a.ID, askback.Choose()) },
		func() (askback.Ask, error) { return ana.Answer(f.ctx(), a.ID, askback.Choose("PostgreSQL")) },
		func() (askback.Ask, error) { return ana.Decline(f.ctx(), a.ID, "no") },
		func() (askback.Ask, error) { return ben.Decline(f.ctx(), a.ID, "") },
		func() (askback.Ask, error) { return ben.Claim(f.ctx(), a.ID) },
		func() (askback.Ask, error) { return agent.Cancel(f.ctx(), a.ID, "too slow") },
	} {
		got, err := late()
		f.wantSettled(got, err, won)
	}
	f.wantSame(f.noError(agent.Get(f.ctx(), a.ID)), won)
}

func decline(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	for _, q := range []askback.Request{database(), confirmation()} {
		want := f.ask(agent, q)
		got := f.noError(ana.Decline(f.ctx(), want.ID, "ask ben"))
		want.Status = askback.Declined
		want.Outcome = &askback.Outcome{
			Status: askback.Declined, Reason: "ask ben",
			Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelAPI,
			At: got.Outcome.At,
		}
		f.wantSame(got, want)
		f.wantSame(f.noError(agent.Wait(f.ctx(), want.ID)), want)
		late, err := ben.Decline(f.ctx(), want.ID, "ask ben")
		f.wantSettled(late, err, want)
	}
}

func cancel(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	want := f.ask(agent, database())
	got := f.noError(agent.Cancel(f.ctx(), want.ID, "found it"))
	want.Status = askback.Cancelled
	want.Outcome = &askback.Outcome{
		Status: askback.Cancelled, Reason: "found it",
		Actor: askback.Actor{Kind: askback.ActorAgent, Name: "deploybot"}, Channel: askback.ChannelAPI,
		At: got.Outcome.At,
	}
	f.wantSame(got, want)
	f.wantSame(f.noError(agent.Wait(f.ctx(), want.ID)), want)
	late, err := ana.Answer(f.ctx(), want.ID, askback.Choose("SQLite"))
	f.wantSettled(late, err, want)
}

func claim(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	want := f.ask(agent, database())
	got := f.noError(ana.Claim(f.ctx(), want.ID))
	if len(got.Claims) != 1 || got.Claims[0].Name != "ana" || got.Claims[0].At.Before(want.CreatedAt) {
		f.Fatalf("got claims %s, want the claim of ana", text(got.Claims))
	}
	want.Claims = got.Claims
	f.wantSame(got, want)
	f.wantSame(f.noError(ana.Claim(f.ctx(), want.ID)), want) // a repeated claim changes nothing
	f.wantSame(f.noError(agent.Get(f.ctx(), want.ID)), want)
	got = f.noError(ben.Claim(f.ctx(), want.ID))
	if len(got.Claims) != 2 || got.Claims[1].Name != "ben" {
		f.Errorf("got claims %s, want the claims of ana and ben", text(got.Claims))
	}
	carl := f.noError(f.person("carl").Answer(f.ctx(), want.ID, askback.Choose("SQLite")))
	if carl.Outcome.Actor.Name != "carl" {
		f.Errorf("got an outcome by %s, want carl despite the claims", carl.Outcome.Actor)
	}
}

func seen(f fixture) {
	ana := f.person("ana")
	want := f.ask(f.agent(), database())
	for range 2 {
		f.wantError(ana.Seen(f.ctx(), want.ID), nil)
		f.wantSame(f.noError(ana.Get(f.ctx(), want.ID)), want)
	}
	want = f.noError(ana.Answer(f.ctx(), want.ID, askback.Choose("SQLite")))
	f.wantError(ana.Seen(f.ctx(), want.ID), nil)
	f.wantSame(f.noError(ana.Get(f.ctx(), want.ID)), want)
	f.wantError(ana.Seen(f.ctx(), unknown), askback.ErrNotFound)
}

func consumeOnce(f fixture) {
	agent := f.agent()
	a := f.ask(agent, confirmation())
	digest := a.Confirmation.Digest
	want := f.noError(f.person("ana").Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	_, err := agent.Consume(f.ctx(), a.ID, "sha256:"+strings.Repeat("0", 64))
	f.wantError(err, askback.ErrDigest)
	_, err = f.as(askback.Agent, "otherbot").Consume(f.ctx(), a.ID, digest)
	f.wantError(err, askback.ErrNotFound)
	spent := f.noError(agent.Consume(f.ctx(), a.ID, digest))
	if spent.AckedAt.IsZero() {
		f.Errorf("got no ack after Consume")
	}
	if !want.ConsumedAt.IsZero() || !spent.ConsumedAt.Equal(spent.AckedAt) {
		f.Errorf("consumed at %v before Consume and at %v after it, acknowledged at %v", want.ConsumedAt,
			spent.ConsumedAt, spent.AckedAt)
	}
	want.AckedAt, want.ConsumedAt = spent.AckedAt, spent.ConsumedAt
	f.wantSame(spent, want)
	_, err = agent.Consume(f.ctx(), a.ID, digest)
	f.wantError(err, askback.ErrConsumed)
	f.wantSame(f.noError(agent.Get(f.ctx(), a.ID)), want)
}

func ackOnce(f fixture) {
	agent := f.agent()
	a := f.ask(agent, database())
	_, err := agent.Ack(f.ctx(), a.ID)
	f.wantError(err, askback.ErrPending)
	want := f.noError(f.person("ana").Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	if !want.AckedAt.IsZero() {
		f.Errorf("got ack time %v with the answer, want none", want.AckedAt)
	}
	_, err = f.as(askback.Agent, "otherbot").Ack(f.ctx(), a.ID)
	f.wantError(err, askback.ErrNotFound)
	_, err = f.person("ana").Ack(f.ctx(), a.ID)
	f.wantError(err, askback.ErrForbidden)
	waits := func(q askback.Query) bool {
		page, err := agent.List(f.ctx(), q)
		f.wantError(err, nil)
		return slices.ContainsFunc(page.Items, func(one askback.Ask) bool { return one.ID == a.ID })
	}
	late := askback.Query{Unacked: true}
	if !waits(late) || !waits(askback.Query{Unacked: true, Status: askback.Answered}) ||
		waits(askback.Query{Unacked: true, Status: askback.Declined}) {
		f.Errorf("the answered ask is missing in the list of unacked asks")
	}
	other, err := f.as(askback.Agent, "otherbot").List(f.ctx(), late)
	if f.wantError(err, nil); len(other.Items) > 0 {
		f.Errorf("another agent got %d unacked asks, want none", len(other.Items))
	}
	open, gone := f.ask(agent, database()), f.ask(agent, database())
	f.noError(agent.Cancel(f.ctx(), gone.ID, "found it"))
	page, err := agent.List(f.ctx(), late)
	if f.wantError(err, nil); slices.ContainsFunc(page.Items,
		func(one askback.Ask) bool { return one.ID == open.ID || one.ID == gone.ID }) {
		f.Errorf("a pending or cancelled ask is in the list of unacked asks")
	}
	got := f.noError(agent.Ack(f.ctx(), a.ID))
	if waits(late) {
		f.Errorf("an acked ask is in the list of unacked asks")
	}
	if got.AckedAt.Before(want.Outcome.At) {
		f.Errorf("got ack time %v for an answer at %v", got.AckedAt, want.Outcome.At)
	}
	want.AckedAt = got.AckedAt
	f.wantSame(got, want)
	f.wantSame(f.noError(agent.Ack(f.ctx(), a.ID)), want)
	f.wantSame(f.noError(f.person("ana").Get(f.ctx(), a.ID)), want)
}

func consumeUnapproved(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ends := map[string]func(id string) (askback.Ask, error){
		"pending": func(id string) (askback.Ask, error) { return ana.Get(f.ctx(), id) },
		"denied": func(id string) (askback.Ask, error) {
			return ana.Answer(f.ctx(), id, askback.Decide(askback.Deny, ""))
		},
		"declined":  func(id string) (askback.Ask, error) { return ana.Decline(f.ctx(), id, "") },
		"cancelled": func(id string) (askback.Ask, error) { return agent.Cancel(f.ctx(), id, "") },
	}
	for name, end := range ends {
		a := f.ask(agent, confirmation())
		f.noError(end(a.ID))
		if _, err := agent.Consume(f.ctx(), a.ID, a.Confirmation.Digest); !errors.Is(err, askback.ErrNotApproved) {
			f.Errorf("%s: got error %v, want %v", name, err, askback.ErrNotApproved)
		}
	}
	a := f.ask(agent, database())
	f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	_, err := agent.Consume(f.ctx(), a.ID, "")
	f.wantError(err, askback.ErrNotApproved)
}

func waitCancelled(f fixture) {
	agent := f.agent()
	want := f.ask(agent, database())
	ctx, cancel := context.WithTimeout(f.ctx(), 50*time.Millisecond)
	defer cancel()
	got, err := agent.Wait(ctx, want.ID)
	f.wantError(err, context.DeadlineExceeded)
	f.wantSame(got, want)

	ctx, cancel = context.WithCancel(f.ctx())
	go cancel() // before, during or after the start of Wait
	_, err = agent.Wait(ctx, want.ID)
	f.wantError(err, context.Canceled)
	f.wantPending(want)
}

func waitAfterOutcome(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	a := f.ask(agent, database())
	want := f.noError(ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	f.wantSame(f.noError(agent.Wait(f.ctx(), a.ID)), want)
	f.wantSame(f.noError(ana.Wait(f.ctx(), a.ID)), want)
	_, err := f.as(askback.Agent, "otherbot").Wait(f.ctx(), a.ID)
	f.wantError(err, askback.ErrNotFound)
	_, err = agent.Wait(f.ctx(), unknown)
	f.wantError(err, askback.ErrNotFound)
}

// unknown is the id of an ask that does not exist.
const unknown = "ask_00000000000000000000000000"
