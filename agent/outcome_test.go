package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

func TestQuestionHasTextAndOptionsOfModel(t *testing.T) {
	d, m := support()
	d.To, d.Timeout, d.OnTimeout, d.Callback = []string{
		"ana", "@oncall",
	}, time.Hour, askback.OnTimeoutDecline, "https://example.com/answers"
	r := newRunner(t, d)
	q, err := r.Question(attended,
		plan(t, r, m, attended, call("AskUserQuestion", `{"question":"Which?","options":["A","B"],"header":"Base"}`)))
	if err != nil || len(q.Questions) != 1 || q.Questions[0].Text != "Which?" ||
		len(q.Questions[0].Options) != 2 || q.Confirmation != nil {
		t.Errorf("got %+v, %v", q, err)
	}
	if !slices.Equal(q.To, d.To) || q.Timeout != d.Timeout || q.OnTimeout != d.OnTimeout ||
		q.CallbackURL != d.Callback {
		t.Errorf("got %+v", q)
	}
	q, err = r.Question(attended,
		plan(t, r, m, attended, call("confirm_action", `{"action":"Delete it","details":"all"}`)))
	if c := q.Confirmation; err != nil || c == nil || c.ToolName != "confirm_action" || c.Server != "" ||
		c.Description != "Delete it" || c.Context != "all" || !slices.Equal(q.To, d.To) {
		t.Errorf("got %+v, %v", q, err)
	}
}

func TestApprovalShowsServerToolAndArguments(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	want := askback.Confirmation{
		ToolName: "close", Server: "tickets", Description: "Closes a ticket.", Input: json.RawMessage(`{"id":7}`),
		Tier: "confirm", Dangerous: true,
	}
	closing := plan(t, r, m, attended, call("tickets__close", `{ "id": 7 }`))
	for _, r := range []*agent.Runner{r, newRunner(t, d)} { // another process lists the tools again
		q, err := r.Question(attended, closing)
		if err != nil {
			t.Fatal(err)
		}
		got := *q.Confirmation
		if string(got.Input) != string(want.Input) {
			t.Errorf("got %s", got.Input)
		}
		got.Input, want.Input = nil, nil
		if !equalJSON(got, want) || len(q.Questions) != 0 || q.OnTimeout != askback.OnTimeoutWait {
			t.Errorf("got %+v, want %+v", got, want)
		}
		want.Input = json.RawMessage(`{"id":7}`)
	}
	q, err := r.Question(attended, plan(t, r, m, attended, call("tickets__list", `{}`)))
	if err != nil || q.Confirmation.Dangerous {
		t.Errorf("got %+v, %v", q.Confirmation, err)
	}
	d.Dangerous = []string{"tickets.list"}
	r = newRunner(t, d)
	q, err = r.Question(attended, plan(t, r, m, attended, call("tickets__list", `{}`)))
	if err != nil || !q.Confirmation.Dangerous {
		t.Errorf("a pattern of dangerous matches: got %+v, %v", q.Confirmation, err)
	}
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// settled returns an ask that a person settled with this outcome.
func settled(kind askback.AskKind, o askback.Outcome) askback.Ask {
	if o.Actor.Kind == "" {
		o.Actor = askback.Actor{Kind: askback.ActorPerson, Name: "ana"}
	}
	a := askback.Ask{ID: "ask_1", Kind: kind, Status: o.Status, Outcome: &o}
	if kind == askback.Confirm {
		a.Confirmation = &askback.Confirmation{ToolName: "close", Server: "tickets", Input: json.RawMessage(`{"id":7}`)}
	} else {
		a.Questions = []askback.Question{
			{ID: "q1", Text: "Which?", Options: []askback.Option{{Label: "A"}, {Label: "B"}}},
		}
	}
	return a
}

func TestOutcomeIsExplainedToModel(t *testing.T) {
	answers := []askback.QuestionAnswer{{ID: "q1", Question: "Which?", Selected: []string{"B"}, Notes: "now"}}
	timer := askback.Actor{Kind: askback.ActorTimer}
	with := func(a askback.Ask, o askback.OnTimeout) askback.Ask { a.OnTimeout = o; return a }
	expired := func(kind askback.AskKind, o askback.OnTimeout) askback.Ask {
		return with(settled(kind, askback.Outcome{Status: askback.Expired, Actor: timer}), o)
	}
	ask, tool := conversation.KindAsk, conversation.KindTool
	for _, c := range []struct {
		name    string
		kind    conversation.Kind
		ask     askback.Ask
		has     []string
		isError bool
		fails   string
	}{
		{
			"answered",
			ask, settled(askback.Questions, askback.Outcome{Status: askback.Answered, Answers: answers}),
			[]string{
				`User has answered your questions: "Which?" = "B" [notes: "now"].` + "\n",
				`{"answers":{"Which?":"B"},"outcome":{"status":"answered"`,
			},
			false, "",
		},
		{
			"declined",
			ask, settled(askback.Questions, askback.Outcome{Status: askback.Declined, Reason: "busy"}),
			[]string{
				`"ana" declined to answer. Reason: "busy". This is not consent.`, `"status":"declined"`,
			},
			true, "",
		},
		{
			"cancelled by a person", ask, settled(askback.Questions, askback.Outcome{Status: askback.Cancelled}),
			[]string{`"ana" cancelled this request before it was answered.`},
			true, "",
		},
		{
			"expired, fail", ask, expired(askback.Questions, askback.OnTimeoutFail),
			[]string{"There was no answer in time: the deadline passed."},
			true,
			"ask_1 was not answered in time, and its on_timeout is fail",
		},
		{
			"expired, decline", ask, expired(askback.Questions, askback.OnTimeoutDecline),
			[]string{"There was no answer in time: the deadline passed.", "This is not consent."},
			true, "",
		},
		{"expired, default", ask, with(settled(askback.Questions, askback.Outcome{
			Status: askback.Expired, Actor: timer, Answers: answers, Defaulted: true,
		}), askback.OnTimeoutDefault), []string{
			"a timer applied the defaults you gave; no person chose them", `"Which?" = "B"`, `"default_applied":true`,
		}, false, ""},
		{
			"confirmed", ask,
			settled(askback.Confirm, askback.Outcome{Status: askback.Answered, Decision: askback.Approve}),
			[]string{
				`Approved by "ana": do it once`, "\n" + `{"confirmed":true,`,
			},
			false, "",
		},
		{"not confirmed", ask, settled(askback.Confirm,
			askback.Outcome{Status: askback.Answered, Decision: askback.Deny, Reason: "no"}), []string{
			`Denied by "ana": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: "no".`, "\n" + `{"confirmed":false,`,
		}, false, ""},
		{"denied", tool, settled(askback.Confirm,
			askback.Outcome{Status: askback.Answered, Decision: askback.Deny, Reason: "keep it"}), []string{
			`Denied by "ana": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: "keep it". The tool was not called.` + "\n", `{"confirmed":false,`,
		}, false, ""},
		{
			"approval declined", tool, settled(askback.Confirm, askback.Outcome{Status: askback.Declined}),
			[]string{
				"This is not consent: do not do this, and do not reach the same end in another way, such as with " +
					"another tool or command. The tool was not called.",
			},
			true, "",
		},
		{
			"approval expired, fail", tool, expired(askback.Confirm, askback.OnTimeoutFail),
			[]string{"The tool was not called."},
			true, "ask_1 was not answered in time, and its on_timeout is fail",
		},
		{
			"approval expired, decline", tool, expired(askback.Confirm, askback.OnTimeoutDecline),
			[]string{"The tool was not called."},
			true, "",
		},
		{
			"still open", tool,
			with(askback.Ask{ID: "ask_1", Kind: askback.Confirm, Status: askback.Pending}, askback.OnTimeoutWait),
			[]string{"neither an answer nor consent"},
			false, "",
		},
	} {
		d, _ := support()
		got := newRunner(t, d).Outcome(attended, conversation.Call{N: 4, Plan: conversation.Plan{Kind: c.kind}}, c.ask)
		if got.IsError != c.isError || got.Fails != c.fails || got.Approved || got.AskID != "" || got.Input != nil {
			t.Errorf("%s: got %+v", c.name, got)
		}
		for _, has := range c.has {
			if !strings.Contains(got.Text, has) {
				t.Errorf("%s: got %s, want %s", c.name, got.Text, has)
			}
		}
	}
}

func TestApprovedToolRunsWithApprovedInput(t *testing.T) {
	d, _ := support()
	r := newRunner(t, d)
	closing := conversation.Call{
		Tool: "tickets__close", Plan: conversation.Plan{Kind: conversation.KindTool, Confirm: true},
	}
	for _, c := range []struct {
		name    string
		outcome askback.Outcome
		input   string
	}{
		{"approved", askback.Outcome{Decision: askback.Approve}, ""},
		{"all approved", askback.Outcome{Decision: askback.ApproveAll}, ""},
		{"edited", askback.Outcome{Decision: askback.Approve, Input: json.RawMessage(`{"id":8}`)}, `{"id":8}`},
		{"by a grant", askback.Outcome{Decision: askback.Approve, Actor: askback.Actor{Kind: askback.ActorPolicy}}, ""},
	} {
		c.outcome.Status = askback.Answered
		got := r.Outcome(attended, closing, settled(askback.Confirm, c.outcome))
		if !got.Approved || got.AskID != "ask_1" || string(got.Input) != c.input || got.Fails != "" || got.IsError {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func TestResultsOfToolsAreLimited(t *testing.T) {
	d, _ := support()
	r := newRunner(t, d)
	for _, c := range []struct {
		tool, text string
		isError    bool
	}{
		{"tickets__search", `did {"q":"x"}`, false},
		{"tickets__break", "no such ticket", true},
		{
			"tickets__panic",
			"tickets__panic panicked, and its outcome is unknown. Check what it did before you call it again.", true,
		},
		{"tickets__binary", "a�", false},
		{"tickets__away", "tickets__away was not called: the agent does not have this tool any more", true},
		{"todo_write", "unknown field", true},
	} {
		got := r.Execute(t.Context(), attended, call(c.tool, `{"q":"x"}`))
		if got.IsError != c.isError || !strings.Contains(got.Text, c.text) || got.Todos != nil {
			t.Errorf("%s: got %+v, want %+v", c.tool, got, c)
		}
	}
	got := r.Execute(t.Context(), attended, call("tickets__flood", `{}`))
	kept, note, _ := strings.Cut(got.Text, "\n")
	if n := utf8.RuneCountInString(kept); n != 100_000 || note != "[Cut here: the result has 100001 characters, and "+
		"at most 100000 are shown. Ask for less.]" || got.IsError {
		t.Errorf("got %d characters and %q", n, note)
	}
}

func TestTodosAreReadFromTheCall(t *testing.T) {
	d, _ := support()
	r := newRunner(t, d)
	got := r.Execute(t.Context(), attended,
		call("todo_write", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}`))
	want := []askback.Todo{
		{Content: "a", Status: askback.TodoCompleted}, {Content: "b", Status: askback.TodoInProgress},
	}
	if got.IsError || !slices.Equal(got.Todos, want) || !strings.Contains(got.Text, "2 entries") {
		t.Errorf("got %+v", got)
	}
	if got := r.Execute(t.Context(), attended, call("todo_write", `{"todos":[]}`)); got.Todos == nil ||
		len(got.Todos) != 0 {
		t.Errorf("got %+v; nil does not remove the list", got)
	}
}

func TestUnapprovedToolDoesNotRunUnderAStricterDefinition(t *testing.T) {
	d, m := support()
	d.Allow = []string{"tickets.close"}
	r := newRunner(t, d)
	c := plan(t, r, m, attended, call("tickets__close", `{}`))
	if c.Confirm {
		t.Fatalf("got %+v", c)
	}
	d.Allow = nil
	if err := r.Set([]agent.Definition{d}); err != nil {
		t.Fatal(err)
	}
	if got := r.Execute(t.Context(), attended, c); !got.IsError ||
		got.Text != "tickets__close was not called: a person must approve it now. Call it again." {
		t.Errorf("got %+v", got)
	}
	c.Confirm = true
	if got := r.Execute(t.Context(), attended, c); got.IsError {
		t.Errorf("got %+v of an approved call", got)
	}
}

func TestTaskReturnsAgentAndPrompt(t *testing.T) {
	d, _ := support()
	r := newRunner(t, d)
	c := call("spawn_agents", `{"tasks":[{"prompt":"a"},{"prompt":"b","agent":"other"}]}`)
	for i, want := range [][2]string{{"support", "a"}, {"other", "b"}, {"support", ""}} {
		if agent, prompt := r.Task(attended, c, i); agent != want[0] || prompt != want[1] {
			t.Errorf("%d: got %s, %q, want %q", i, agent, prompt, want)
		}
	}
}

func TestModelErrorsAreSentences(t *testing.T) {
	usage := conversation.Usage{InputTokens: 5}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		reply agent.ModelReply
		err   error
		want  conversation.ModelFailed
	}{
		{
			"temporary", t.Context(),
			agent.ModelReply{},
			&agent.ModelError{Err: errors.New("overloaded"), Retry: true, After: time.Minute, Usage: usage},
			conversation.ModelFailed{Error: "overloaded", Retry: true, After: time.Minute, Usage: usage},
		},
		{
			"for good", t.Context(),
			agent.ModelReply{},
			&agent.ModelError{Err: errors.New("no key")},
			conversation.ModelFailed{Error: "no key"},
		},
		{"of a program", t.Context(), agent.ModelReply{}, errors.New("no tokens"), conversation.ModelFailed{
			Error: "no tokens",
		}},
		{"the server stops", gone, agent.ModelReply{}, context.Canceled, conversation.ModelFailed{
			Error: "context canceled", Retry: true,
		}},
		{"empty", t.Context(), agent.ModelReply{Cut: true, Usage: usage}, nil, conversation.ModelFailed{
			Error: "the reply of the model reached its maximum length before its first word; raise max_tokens " +
				"of this model",
			Usage: usage,
		}},
	} {
		d, m := support()
		m.reply, m.err = c.reply, c.err
		c.want.Request, c.want.Attempt = request.Request, request.Attempt
		if got := newRunner(t, d).Reply(c.ctx, attended, request, nil, nil); got != conversation.Input(c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	d, _ := support()
	d.Model = panics{}
	if got, ok := newRunner(t, d).Reply(t.Context(), attended, request, nil, nil).(conversation.ModelFailed); !ok ||
		got.Retry || got.Error != "the model of the agent support panicked: boom" {
		t.Errorf("got %+v", got)
	}
}

type panics struct{}

func (panics) Reply(context.Context, agent.ModelRequest, func(string)) (agent.ModelReply, error) {
	panic("boom")
}

func TestReplyOfModelIsReturned(t *testing.T) {
	d, m := support()
	d.MaxTokens = 500
	m.reply = agent.ModelReply{
		Text: "Done\xff", Provider: json.RawMessage(`{"x":1}`), Usage: conversation.Usage{OutputTokens: 2},
	}
	var pieces []string
	messages := []conversation.Message{{Role: conversation.RoleUser, Text: "Hello"}}
	in := newRunner(t, d).Reply(t.Context(), attended, request, messages, func(s string) { pieces = append(pieces, s) })
	got, ok := in.(conversation.ModelReplied)
	if !ok || got.Request != 3 || got.Text != "Done�" || string(got.Provider) != `{"x":1}` ||
		got.Usage.OutputTokens != 2 || len(got.Calls) != 0 || len(pieces) != 1 {
		t.Errorf("got %+v, %q", in, pieces)
	}
	if m.got.MaxTokens != 500 || m.got.Attempt != 2 || len(m.got.Messages) != 1 {
		t.Errorf("got %+v", m.got)
	}
	m.reply.Cut = true
	if got := newRunner(t, d).Reply(
		t.Context(), attended, request, messages, nil,
	).(conversation.ModelReplied); !strings.HasSuffix(got.Text,
		"[The reply ends here because it reached its maximum length.]") {
		t.Errorf("got %q", got.Text)
	}
}
