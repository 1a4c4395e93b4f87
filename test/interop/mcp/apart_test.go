package mcp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// Two agents ask the same question. Neither gets, lists, waits for or withdraws
// the question of the other (F9).
func TestAgentsAreSeparate(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		const question = "Which of us?"
		names := []string{"left", "right"}
		agents, done, ids := map[string]*agent{}, map[string]<-chan reply{}, map[string]string{}
		for _, name := range names {
			token := strings.TrimSpace(p.Run("token", "add", "--kind", "agent", "--name", name))
			agents[name] = newAgent(t, w.script, w.in(p).as(token))
			done[name] = agents[name].start("call", ask(question))
		}
		for _, k := range p.Open(2) {
			ids[k.Owner] = k.ID
		}
		for i, name := range names {
			a, mine, others := agents[name], ids[name], ids[names[1-i]]
			if diff := cmp.Diff([]string{mine}, a.openQuestions()); diff != "" {
				t.Errorf("%s lists\n%s", name, diff)
			}
			for _, tool := range []string{"get_answer", "wait_for_answer", "withdraw_question"} {
				if r := a.call(laterCall(tool, others)); !r.IsError ||
					!strings.Contains(r.text(), "you have no question called") {
					t.Errorf("%s: %s of the other's question: %+v", name, tool, r)
				}
			}
		}
		p.Open(2)
		for _, name := range names {
			p.Answer(ids[name], askback.Choose("you, "+name))
		}
		for _, name := range names {
			agents[name].wantAnswer(agents[name].result(done[name]), question, "you, "+name)
		}
	})
}

// Two processes of askback mcp with the same token are one agent, but two sessions. The same question is
// therefore asked and answered separately for each process (F9).
func TestSessionsOfOneAgentAreSeparate(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for name, script := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			const question = "Which of us?"
			c := ask(question)
			one := newAgent(t, script, overStdio(p))
			first := one.start("call", c)
			id := p.Open(1)[0].ID
			two := newAgent(t, script, overStdio(p))
			second := two.start("call", c)
			for _, k := range p.Open(2) {
				text := "the second"
				if k.ID == id {
					text = "the first"
				}
				p.Answer(k.ID, askback.Choose(text))
			}
			one.wantAnswer(one.result(first), question, "the first")
			two.wantAnswer(two.result(second), question, "the second")
		})
	}
}

// withdraw_question cancels the question. Afterwards, get_answer returns an error result with
// this outcome (F4).
func TestWithdrawnQuestionIsCancelled(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		a := newAgent(t, w.script, w.in(p))
		a.callAndTimeOut(p, ask("Still needed?"))
		id := p.Open(1)[0].ID
		if r := a.call(laterCall("withdraw_question", id)); r.IsError || r.Structured.Status != askback.Cancelled {
			t.Errorf("got %+v", r)
		}
		p.Open(0)
		if r := a.call(laterCall("get_answer", id)); !r.IsError || r.Structured.Outcome == nil ||
			r.Structured.Outcome.Status != askback.Cancelled {
			t.Errorf("afterwards: %+v", r)
		}
	})
}
