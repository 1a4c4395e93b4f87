package conformance

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

var refusing = []testCase{
	{"AgentsCannotAnswer", agentsCannotAnswer},     // T1
	{"PermissionsDependOnKind", permissions},       // package access
	{"HiddenAskIsNotFound", hiddenAsks},            // wire.md §3
	{"InvalidRequestIsExplained", invalidRequests}, // F15
	{"InvalidAnswerIsExplained", invalidAnswers},   // F15
}

// An operation is a named call of a client's method for one ask.
type operation struct {
	name string
	do   func(fixture, askback.Client, askback.Ask) (askback.Ask, error)
}

var inboxActs = []operation{
	{"answer", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) {
		return s.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
	}},
	{"decline", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) {
		return s.Decline(f.ctx(), a.ID, "")
	}},
	{"claim", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) { return s.Claim(f.ctx(), a.ID) }},
	{"seen", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) {
		return askback.Ask{}, s.Seen(f.ctx(), a.ID)
	}},
}

var askerActs = []operation{
	{"cancel", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) {
		return s.Cancel(f.ctx(), a.ID, "")
	}},
	{"consume", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) {
		return s.Consume(f.ctx(), a.ID, "sha256:"+strings.Repeat("0", 64))
	}},
	{"ack", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) { return s.Ack(f.ctx(), a.ID) }},
}

var readActs = []operation{
	{"get", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) { return s.Get(f.ctx(), a.ID) }},
	{"wait", func(f fixture, s askback.Client, a askback.Ask) (askback.Ask, error) { return s.Wait(f.ctx(), a.ID) }},
}

// wantRejected requires that err is want or wraps it, and that the call returned no ask.
func (f fixture) wantRejected(who string, a operation, got askback.Ask, err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("%s: %s: got error %v, want %v", who, a.name, err, want)
	}
	if got.ID != "" {
		f.Errorf("%s: %s: got ask %s together with error %v, want none", who, a.name, got.ID, err)
	}
}

func agentsCannotAnswer(f fixture) {
	agent := f.agent()
	q := database()
	q.To = []string{"judge", "deploybot", "ana"} // even if the agent is a recipient
	a := f.ask(agent, q)
	for _, name := range []string{"deploybot", "ana", "judge", "otherbot"} {
		for _, operation := range inboxActs {
			got, err := operation.do(f, f.as(askback.Agent, name), a)
			f.wantRejected("agent "+name, operation, got, err, askback.ErrForbidden)
			got, err = operation.do(f, f.as(askback.Agent, name), askback.Ask{ID: unknown})
			f.wantRejected("agent "+name, operation, got, err, askback.ErrForbidden)
		}
	}
	f.wantPending(a)
}

func permissions(f fixture) {
	a := f.ask(f.agent(), database())
	for _, kind := range []askback.Kind{askback.Responder, askback.Operator, askback.Admin} {
		client := f.as(kind, "deploybot") // even with the name of the agent
		if _, err := client.Ask(f.ctx(), database()); !errors.Is(err, askback.ErrForbidden) {
			f.Errorf("%s: ask: got error %v, want %v", kind, err, askback.ErrForbidden)
		}
		for _, operation := range askerActs {
			got, err := operation.do(f, client, a)
			f.wantRejected(string(kind), operation, got, err, askback.ErrForbidden)
		}
	}
	operator := f.as(askback.Operator, "ops")
	for _, operation := range append(inboxActs, readActs...) {
		got, err := operation.do(f, operator, a)
		f.wantRejected("operator", operation, got, err, askback.ErrForbidden)
	}
	_, err := operator.List(f.ctx(), askback.Query{})
	f.wantError(err, askback.ErrForbidden)
	f.wantPending(a)
	f.wantOperatorView(operator)

	root := f.as(askback.Admin, "root") // has the permissions of a responder
	f.wantSame(f.noError(root.Get(f.ctx(), a.ID)), a)
	got := f.noError(root.Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	if got.Outcome.Actor != (askback.Actor{Kind: askback.ActorPerson, Name: "root"}) {
		f.Errorf("got an outcome by %s, want the person root", text(got.Outcome.Actor))
	}
}

// wantOperatorView requires that an operator can read numbers, names and states, but no
// texts of agents and people. An operator cannot revoke grants or create tokens.
func (f fixture) wantOperatorView(operator askback.Client) {
	f.Helper()
	agent, ana := f.agent(), f.person("ana")
	const secret = "a secret of the run"
	one := f.start(agent,
		askback.SessionRequest{Key: "run", Title: secret, Metadata: json.RawMessage(`{"x":"` + secret + `"}`)})
	call := toolCall("deploy", `{"x":"`+secret+`"}`)
	call.To = []string{"ana"}
	f.noError(ana.Answer(f.ctx(), f.ask(agent, call).ID, askback.Decide(askback.ApproveAll, secret)))
	f.send(agent, one.ID, askback.SetTodos{Todos: []askback.Todo{{Content: secret, Status: askback.TodoPending}}})
	f.send(agent, one.ID, askback.Complete{Result: json.RawMessage(`"` + secret + `"`)})
	stats, err := operator.Stats(f.ctx())
	if err != nil || stats.Pending != 1 || stats.Settled[askback.Answered] != 1 {
		f.Errorf("stats: got %s, %v, want one ask pending and one answered, even though it is addressed to ana",
			text(stats), err)
	}
	agents, errAgents := operator.Agents(f.ctx())
	people, errPeople := operator.People(f.ctx())
	grants, errGrants := operator.Grants(f.ctx(), askback.GrantQuery{})
	sessions, errSessions := operator.Sessions(f.ctx(), askback.SessionQuery{})
	got, errSession := operator.Session(f.ctx(), one.ID)
	hidden, errHidden := operator.Sessions(f.ctx(), askback.SessionQuery{Search: secret})
	tokens, errTokens := operator.Tokens(f.ctx())
	if err := errors.Join(errAgents, errPeople, errGrants, errSessions, errSession, errHidden, errTokens); err != nil {
		f.Errorf("operator: %v", err)
	}
	if len(grants.Items) != 1 || len(sessions.Items) != 1 || got.Status != askback.SessionCompleted ||
		got.AsksTotal != 1 || len(hidden.Items) != 0 {
		f.Errorf("got grants %s, sessions %s, %s and, searched, %s", text(grants), text(sessions), text(got),
			text(hidden))
	}
	if all := text(agents) + text(people) + text(grants) + text(sessions) + text(got) +
		text(tokens); strings.Contains(all, secret) {
		f.Errorf("an operator sees messages: %s", all)
	}
	_, err = operator.Messages(f.ctx(), one.ID, "", 0)
	f.wantError(err, askback.ErrForbidden)
	_, err = operator.Revoke(f.ctx(), grants.Items[0].ID)
	f.wantError(err, askback.ErrForbidden)
	_, _, err = operator.CreateToken(f.ctx(), askback.TokenRequest{Kind: askback.Agent, Name: "x"})
	f.wantError(err, askback.ErrForbidden)
}

func hiddenAsks(f fixture) {
	q := database()
	q.To = []string{"ana", "judge"}
	a := f.ask(f.agent(), q)
	stranger, ben := f.as(askback.Agent, "otherbot"), f.person("ben")
	show := func(who string, client askback.Client, acts []operation) {
		for _, operation := range acts {
			got, err := operation.do(f, client, a)
			f.wantRejected(who, operation, got, err, askback.ErrNotFound)
			_, none := operation.do(f, client, askback.Ask{ID: unknown})
			f.wantError(none, askback.ErrNotFound)
			if err == nil || none == nil {
				continue
			}
			if said, want := strings.ReplaceAll(err.Error(), a.ID, unknown), none.Error(); said != want {
				f.Errorf("%s: %s: got %q for a hidden ask and %q for an unknown one, want the same", who,
					operation.name, said, want)
			}
		}
	}
	show("another agent", stranger, append(askerActs, readActs...))
	show("a person who is not a recipient", ben, append(inboxActs, readActs...))
	show("an admin who is not asked", f.as(askback.Admin, "root"), append(inboxActs, readActs...))
	show("a responder with the asker's name", f.person("deploybot"), readActs)
	f.wantPending(a)
	won := f.noError(f.person("ana").Answer(f.ctx(), a.ID, askback.Choose("SQLite")))
	show("another agent, after the end", stranger, append(askerActs, readActs...))
	show("a person who is not a recipient, after the end", ben, append(inboxActs, readActs...))
	f.wantSame(f.noError(f.person("judge").Get(f.ctx(), a.ID)), won)
}

func invalidRequests(f fixture) {
	ask := func(change func(*askback.Request)) askback.Request {
		q := database()
		change(&q)
		return q
	}
	confirm := func(change func(*askback.Request)) askback.Request {
		q := confirmation()
		change(&q)
		return q
	}
	for _, c := range []struct {
		name     string
		ask      askback.Request
		pointers []string
	}{
		{"nothing", askback.Request{}, []string{"/questions"}},
		{"five questions", ask(func(q *askback.Request) {
			for _, text := range []string{"2", "3", "4", "5"} {
				q.Questions = append(q.Questions, askback.Question{Text: text})
			}
		}), []string{"/questions"}},
		{"both kinds", ask(func(q *askback.Request) {
			q.Confirmation = confirmation().Confirmation
		}), []string{"/confirmation"}},
		{"blank question", ask(func(q *askback.Request) {
			q.Questions[0].Text = " \n"
		}), []string{"/questions/0/question"}},
		{
			"long question",
			ask(func(q *askback.Request) { q.Questions[0].Text = strings.Repeat("é", limits.MaxQuestion+1) }),
			[]string{"/questions/0/question"},
		},
		{"one option", ask(func(q *askback.Request) {
			q.Questions[0].Options = askback.Options("A")
		}), []string{"/questions/0/options"}},
		{
			"a label twice", ask(func(q *askback.Request) { q.Questions[0].Options = askback.Options("A", "B", "A") }),
			[]string{"/questions/0/options/2/label"},
		},
		{"two faults", ask(func(q *askback.Request) {
			q.Questions = append(q.Questions, askback.Question{Text: "Really?", Options: askback.Options("Yes", "")})
			q.To = []string{"ana", ""}
		}), []string{"/questions/1/options/1/label", "/to/1"}},
		{
			"an impossible default",
			ask(func(q *askback.Request) { q.Questions[0].NoOther, q.Questions[0].Default = true, []string{"C"} }),
			[]string{"/questions/0/default"},
		},
		{"two sessions", ask(func(q *askback.Request) {
			q.SessionID, q.SessionKey = "ses_1", "run"
		}), []string{"/session_key"}},
		{"a number as context", ask(func(q *askback.Request) {
			q.Context = json.RawMessage("7")
		}), []string{"/context"}},
		{"an ending without deadline", ask(func(q *askback.Request) {
			q.OnTimeout = askback.OnTimeoutDecline
		}), []string{"/on_timeout"}},
		{
			"silence without a default",
			ask(func(q *askback.Request) { q.Timeout, q.OnTimeout = time.Hour, askback.OnTimeoutDefault }),
			[]string{"/questions/0/default"},
		},
		{
			"a deadline long past",
			ask(func(q *askback.Request) { q.Deadline = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) }),
			[]string{"/deadline"},
		},
		{"no tool", confirm(func(q *askback.Request) {
			q.Confirmation.ToolName = ""
		}), []string{"/confirmation/tool_name"}},
		{
			"arguments in a list", confirm(func(q *askback.Request) { q.Confirmation.Input = json.RawMessage("[1]") }),
			[]string{"/confirmation/input"},
		},
		{"a number that is two numbers", confirm(func(q *askback.Request) {
			q.Confirmation.Input = json.RawMessage(`{"row":{"ids":[1,9007199254740993]}}`)
		}), []string{"/confirmation/input/row/ids/1"}},
		{
			"a name twice",
			confirm(func(q *askback.Request) { q.Confirmation.Input = json.RawMessage(`{"path":"/tmp","path":"/"}`) }),
			[]string{"/confirmation/input/path"},
		},
		{
			"an approval by silence",
			confirm(func(q *askback.Request) { q.Timeout, q.OnTimeout = time.Hour, askback.OnTimeoutDefault }),
			[]string{"/on_timeout"},
		},
	} {
		c.ask.Key = "k"
		got, err := f.agent().Ask(f.ctx(), c.ask)
		if got.ID != "" {
			f.Errorf("%s: got ask %s, want none", c.name, got.ID)
		}
		f.Run(c.name, func(t *testing.T) { fixture{t, f.subject}.wantInvalid(err, c.pointers...) })
	}
	page, err := f.person("judge").List(f.ctx(), askback.Query{Status: askback.AnyStatus})
	if err != nil || len(page.Items) != 0 {
		f.Errorf("got %d asks and error %v, want none of them stored", len(page.Items), err)
	}
	_, err = f.person("judge").List(f.ctx(), askback.Query{Status: "open", Limit: askback.MaxLimit + 1})
	f.wantInvalid(err, "/status", "/limit")
	_, err = f.agent().List(f.ctx(), askback.Query{Limit: -1})
	f.wantInvalid(err, "/limit")
}

func invalidAnswers(f fixture) {
	closed := database()
	closed.Questions[0].NoOther = true
	one := func(q askback.QuestionAnswer) askback.Answer { return answers(q) }
	for _, c := range []struct {
		name     string
		ask      askback.Request
		answer   askback.Answer
		pointers []string
	}{
		{"nothing", database(), askback.Answer{}, []string{"/answers"}},
		{"blank", database(), askback.Choose(" "), []string{"/answers/0"}},
		{"blank other", database(), one(askback.QuestionAnswer{ID: "q1", Other: "\n"}), []string{"/answers/0"}},
		{"notes alone", database(), one(askback.QuestionAnswer{ID: "q1", Notes: "hm"}), []string{"/answers/0"}},
		{"two for one", database(), askback.Choose("SQLite", "PostgreSQL"), []string{"/answers/0/selected"}},
		{
			"a label and text for one", database(),
			one(askback.QuestionAnswer{ID: "q1", Selected: []string{"SQLite"}, Other: "or not"}),
			[]string{"/answers/0/selected"},
		},
		{"no option", closed, askback.Choose("MySQL"), []string{"/answers/0/selected"}},
		{"no such question", database(), one(askback.QuestionAnswer{ID: "q2", Selected: []string{"SQLite"}}), []string{
			"/answers/0/id", "/answers",
		}},
		{
			"no such text", database(), one(askback.QuestionAnswer{Question: "What?", Selected: []string{"SQLite"}}),
			[]string{"/answers/0/question", "/answers"},
		},
		{
			"one question twice", database(),
			answers(chosen("1", database(), "SQLite"), chosen("1", database(), "SQLite")),
			[]string{"/answers/1"},
		},
		{
			"a decision on questions", database(),
			askback.Answer{Answers: askback.Choose("SQLite").Answers, Decision: askback.Approve},
			[]string{"/decision"},
		},
		{
			"a long comment", database(),
			askback.Answer{Answers: askback.Choose("SQLite").Answers, Comment: strings.Repeat("é", limits.MaxText+1)},
			[]string{"/comment"},
		},
		{"no decision", confirmation(), askback.Answer{}, []string{"/decision"}},
		{"another decision", confirmation(), askback.Decide("maybe", ""), []string{"/decision"}},
		{
			"answers to a confirmation", confirmation(),
			askback.Answer{Answers: askback.Choose("yes").Answers, Decision: askback.Approve},
			[]string{"/answers"},
		},
	} {
		a := f.ask(f.agent(), c.ask)
		got, err := f.person("ana").Answer(f.ctx(), a.ID, c.answer)
		if got.ID != "" {
			f.Errorf("%s: got ask %s, want none", c.name, got.ID)
		}
		f.Run(c.name, func(t *testing.T) { fixture{t, f.subject}.wantInvalid(err, c.pointers...) })
		f.wantPending(a)
	}
	a := f.ask(f.agent(), database())
	long := strings.Repeat("é", limits.MaxText+1)
	_, err := f.person("ana").Decline(f.ctx(), a.ID, long)
	f.wantInvalid(err, "/reason")
	_, err = f.agent().Cancel(f.ctx(), a.ID, long)
	f.wantInvalid(err, "/reason")
	f.wantPending(a)
}
