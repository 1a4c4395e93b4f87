package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

var _ engine.Runner = (*agent.Runner)(nil)

// A server is an engine that runs agents.
type server struct {
	t      *testing.T
	engine *engine.Engine
	stop   func()
}

func serve(t *testing.T, s engine.Store, definitions ...agent.Definition) *server {
	t.Helper()
	e := engine.New(s, &engine.Options{Runner: newRunner(t, definitions...)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = e.Run(ctx) }()
	return &server{t, e, func() { cancel(); <-done }}
}

func (s *server) person(name string) askback.Client {
	return s.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb})
}

// start starts a run and returns the id of its session. It returns once the run waits for a person or has
// ended.
func (s *server) start(r askback.SessionRequest) string {
	s.t.Helper()
	session, err := s.person("ana").Start(s.t.Context(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
	return session.ID
}

// asked returns the only open ask.
func (s *server) asked() askback.Ask {
	s.t.Helper()
	synctest.Wait()
	page, err := s.person("ana").List(s.t.Context(), askback.Query{})
	if err != nil || len(page.Items) != 1 {
		s.t.Fatalf("got %+v, %v, want one open ask", page.Items, err)
	}
	return page.Items[0]
}

func (s *server) answer(a askback.Answer) {
	s.t.Helper()
	if _, err := s.person("ana").Answer(s.t.Context(), s.asked().ID, a); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// ended returns the status of a session, followed by its result or its error.
func (s *server) ended(id string) string {
	s.t.Helper()
	synctest.Wait()
	session, err := s.person("ana").Session(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(session.Status) + " " + string(session.Result) + session.Error
}

// closing is the script of an agent that asks, and closes a ticket after an approval.
const closing = `
- tools: [{name: ask_user_question, input: {question: Which?, options: [A, B]}}]
- expect: '"Which?" = "B"'
  tools: [{name: tickets__close, input: {id: 7}}]
- expect: 'did {"id":8}'
  tools: [{name: tickets__close, input: {id: 9}}]
- expect: 'Denied by "ana": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: "enough". The tool was not called.'
  reply: Closed.
`

func TestEngineRunsAgentsAcrossRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		d.Model = script(t, closing)
		data := memstore.New()
		s := serve(t, data, d)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Close it."})
		for _, a := range []askback.Answer{
			askback.Choose("B"),
			{Decision: askback.Approve, Input: json.RawMessage(`{"id":8}`)},
			askback.Decide(askback.Deny, "enough"),
		} {
			s.stop() // another process, whose lists of tools are empty
			s = serve(t, data, d)
			s.answer(a)
		}
		if got := s.ended(id); got != `completed "Closed."` {
			t.Errorf("got %s", got)
		}
		s.stop()
	})
}

func TestApprovalsOfARunAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		d.Model = script(t, `
- tools: [{name: ask_user_question, input: {question: Which?, options: [A, B]}}]
- tools: [{name: confirm_action, input: {action: Delete it}}]
- expect: '{"confirmed":true,'
  tools: [{name: tickets__close, input: {id: 7}}]
- reply: Done.
`)
		s := serve(t, memstore.New(), d)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go."})
		s.answer(askback.Choose("B"))
		s.answer(askback.Decide(askback.Approve, ""))
		s.answer(askback.Decide(askback.Approve, ""))
		if got := s.ended(id); got != `completed "Done."` {
			t.Errorf("got %s", got)
		}
		page, err := s.person("ana").List(t.Context(), askback.Query{Status: askback.AnyStatus})
		if err != nil || len(page.Items) != 3 {
			t.Fatalf("got %+v, %v", page, err)
		}
		for _, a := range page.Items {
			if a.ConsumedAt.IsZero() != (a.Kind == askback.Questions) {
				t.Errorf("%s %+v: consumed at %v", a.Kind, a.Confirmation, a.ConsumedAt)
			}
		}
		s.stop()
	})
}

func TestUsedApprovalConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		d.Model = script(t, `
- tools: [{name: confirm_action, input: {action: Delete it}}]
- expect: 'This is not approved, because its approval was used already. Do not do this.'
  reply: Left.
`)
		data := memstore.New()
		s := serve(t, data, d)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go."})
		s.stop()
		ask := s.asked()
		s.answer(askback.Decide(askback.Approve, ""))
		run := s.engine.As(askback.Principal{
			Kind: askback.Agent, Name: askback.HostedPrefix + "support", Channel: askback.ChannelAPI,
		})
		if _, err := run.Consume(t.Context(), ask.ID, ask.Confirmation.Digest); err != nil {
			t.Fatal(err)
		}
		s = serve(t, data, d)
		if got := s.ended(id); got != `completed "Left."` {
			t.Errorf("got %s", got)
		}
		s.stop()
	})
}

func TestApprovedToolOfUnreachableServerDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		set := &served{Toolset: tickets()}
		set.list = set.Toolset.Tools
		d.Toolsets = []agent.Toolset{set}
		d.Model = script(t, `
- tools: [{name: tickets__close, input: {id: 7}}]
- expect: 'The tool did not run, because tickets__close was not called: the tools of the server tickets cannot be listed: connection refused.'
  reply: Left.
`)
		s := serve(t, memstore.New(), d)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go."})
		ask := s.asked()
		failures := 0
		set.list = func(ctx context.Context) ([]agent.ToolInfo, error) {
			if failures++; failures == 1 {
				return nil, errors.New("connection refused")
			}
			return tickets().Tools(ctx)
		}
		s.answer(askback.Decide(askback.Approve, ""))
		if got := s.ended(id); got != `completed "Left."` {
			t.Errorf("got %s", got)
		}
		if ask, err := s.person("ana").Get(t.Context(), ask.ID); err != nil || !ask.ConsumedAt.IsZero() {
			t.Errorf("got %+v, %v", ask, err)
		}
		s.stop()
	})
}

func TestTimeoutOfDefinitionApplies(t *testing.T) {
	for _, c := range []struct {
		onTimeout askback.OnTimeout
		script    string
		want      string
	}{
		{
			askback.OnTimeoutFail, "- tools: [{name: ask_user_question, input: {question: Which?}}]\n- reply: no\n",
			"failed ask_",
		},
		{"", "- tools: [{name: ask_user_question, input: {question: Which?}}]\n- reply: no\n", "failed ask_"},
		{askback.OnTimeoutDecline, "- tools: [{name: confirm_action, input: {action: Delete it}}]\n- {expect: There " +
			"was no answer in time, reply: Left.}\n", `completed "Left."`},
		{askback.OnTimeoutDefault, "- tools: [{name: ask_user_question, input: {question: Which?, options: [A, B], " +
			"default: A}}]\n- {expect: '\"Which?\" = \"A\"', reply: A.}\n", `completed "A."`},
		{
			askback.OnTimeoutDefault,
			"- tools: [{name: tickets__close}]\n- {expect: This is not consent, reply: Left.}\n", `completed "Left."`,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, _ := support()
			d.Model, d.Timeout, d.OnTimeout = script(t, c.script), time.Hour, c.onTimeout
			s := serve(t, memstore.New(), d)
			id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go."})
			s.asked()
			<-time.After(time.Hour + time.Minute)
			if got := s.ended(id); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: got %s, want %s", c.onTimeout, got, c.want)
			}
			s.stop()
		})
	}
}

func TestAskOfSubAgentContainsThePathToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		d.Bubble = true
		d.Model = script(t, "- tools: [{name: spawn_agents, input: {tasks: [{prompt: Look, agent: helper}]}}]\n- "+
			"{expect: Closed., reply: Done.}\n")
		helper, _ := support()
		helper.Name, helper.Model = "helper", script(t, closing)
		s := serve(t, memstore.New(), d, helper)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go."})
		if a := s.asked(); !slices.Equal(a.Path, []string{"support"}) || a.Agent != "helper" {
			t.Errorf("got %q, %s", a.Path, a.Agent)
		}
		s.answer(askback.Choose("B"))
		s.answer(askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"id":8}`)})
		s.answer(askback.Decide(askback.Deny, "enough"))
		if got := s.ended(id); got != `completed "Done."` {
			t.Errorf("got %s", got)
		}
		s.stop()
	})
}

func TestRunWithoutPeopleContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := support()
		d.Model = script(t, `
- tools: [{name: ask_user_question, input: {question: Which?}}, {name: tickets__close}, {name: tickets__search, input: {q: x}}]
- {expect: 'did {"q":"x"}', reply: Nothing closed.}
`)
		s := serve(t, memstore.New(), d)
		id := s.start(askback.SessionRequest{Agent: "support", Prompt: "Go.", Unattended: true})
		if got := s.ended(id); got != `completed "Nothing closed."` {
			t.Errorf("got %s", got)
		}
		s.stop()
	})
}
