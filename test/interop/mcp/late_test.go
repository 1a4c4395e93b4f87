package mcp_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// The questions of a lateAgent. There is one question for each way in which an agent can get its answer
// after a client timeout.
const (
	repeating = "Found by the same call?"
	waiting   = "Found by wait_for_answer?"
	looking   = "Found by get_answer?"
)

// A lateAgent is an agent whose client times out before the answer.
type lateAgent struct {
	*agent
	p    *clienttest.Instance
	keys bool // the calls have keys, because the sessions of the agent end
	ids  map[string]string
}

// ask returns the call that asks a question. All calls for the same question are equal.
func (i *lateAgent) ask(question string) call {
	c := ask(question, "Yes", "No")
	if i.keys {
		c.Meta = map[string]string{"askback/idempotency-key": question}
	}
	return c
}

// timeOut asks all questions so that the client times out.
func (i *lateAgent) timeOut() {
	i.t.Helper()
	i.timeOutAll(i.p, 3, func(withTimeout time.Duration) (calls []<-chan reply) {
		for _, question := range []string{repeating, waiting, looking} {
			calls = append(calls, i.start("call", i.ask(question).withTimeout(withTimeout)))
		}
		return calls
	})
	i.ids = map[string]string{}
	for _, k := range i.p.Open(3) {
		i.ids[k.Questions[0].Text] = k.ID
	}
}

// wantOpen requires that all questions are open, that no way returns an answer yet, and that no question is
// asked again.
func (i *lateAgent) wantOpen() {
	i.t.Helper()
	want := []string{i.ids[repeating], i.ids[waiting], i.ids[looking]}
	got := i.openQuestions()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		i.t.Errorf("list_open_questions\n%s", diff)
	}
	if r := i.call(laterCall("get_answer", i.ids[looking])); r.IsError || r.Structured.Status != askback.Pending {
		i.t.Errorf("got %+v before the answer", r)
	}
	for _, c := range []call{laterCall("wait_for_answer", i.ids[waiting]), i.ask(repeating)} {
		i.callAndTimeOut(i.p, c)
	}
	i.p.Open(3)
}

// answer answers all questions while no call waits for them.
func (i *lateAgent) answer() {
	i.t.Helper()
	for _, id := range i.ids {
		i.p.Answer(id, askback.Choose("Yes"))
	}
}

// wantAnswers requires that each way returns the answer.
func (i *lateAgent) wantAnswers() {
	i.t.Helper()
	i.wantAnswer(i.call(i.ask(repeating)), repeating, "Yes")
	for range 2 { // repeatedly
		i.wantAnswer(i.call(laterCall("wait_for_answer", i.ids[waiting])), waiting, "Yes")
		i.wantAnswer(i.call(laterCall("get_answer", i.ids[looking])), looking, "Yes")
	}
	if left := i.openQuestions(); len(left) != 0 {
		i.t.Errorf("still open: %v", left)
	}
	i.p.Open(0)
}

// An agent gets an answer that comes after the timeout of its client (B7, F4).
func TestAnswerAfterClientTimeoutIsReturned(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		i := &lateAgent{agent: newAgent(t, w.script, w.in(p)), p: p}
		i.timeOut()
		i.wantOpen()
		i.answer()
		i.wantAnswers()
	})
}

// The server is restarted between ask and answer, and between the answer and the call that fetches the
// answer. HTTP clients keep their session, and askback mcp finds the new server (B7, F4).
func TestQuestionSurvivesServerKilledBetweenCalls(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		i := &lateAgent{agent: newAgent(t, w.script, w.in(p)), p: p}
		before := i.about()
		if hasSession := before.Session != ""; hasSession != (w.script == legacy && before.Process == 0) {
			t.Errorf("session %q", before.Session)
		}
		i.timeOut()
		p.Restart()
		i.wantOpen()
		i.answer()
		p.Restart()
		i.wantAnswers()
		if after := i.about(); after.Session != before.Session || after.Process != before.Process {
			t.Errorf("the connection was %+v, and is %+v", before, after)
		}
	})
}

// If the server is killed during a call, a call over HTTP returns an error, and a call over
// stdio continues. The question remains open, and the same call gets its answer (B7).
func TestQuestionSurvivesServerKilledDuringCall(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		a := newAgent(t, w.script, w.in(p))
		const question = "Still there?"
		c := ask(question, "Yes", "No")
		done := a.start("call", c)
		id := p.Open(1)[0].ID
		p.Restart()
		stdio := a.about().Process != 0
		if !stdio {
			if r := a.await(done); r.Error == nil || r.Error.isTimeout() {
				t.Errorf("the connection broke, but got %s %v", r.Result, r.Error)
			}
			done = a.start("call", c)
		}
		if again := p.Open(1)[0].ID; again != id {
			t.Errorf("%s was asked, and is %s now", id, again)
		}
		p.Answer(id, askback.Choose("Yes"))
		a.wantAnswer(a.result(done), question, "Yes")
		p.Open(0)
	})
}

// askback mcp is restarted, connected to a server or as the owner of the database. Its
// session ends, so a call finds its question by a key (B7, F4).
func TestQuestionSurvivesRestartOfAskbackMCP(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for name, script := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		for beside, alone := range map[string]bool{"with a server": false, "without a server": true} {
			t.Run(name+"/"+beside, func(t *testing.T) {
				t.Parallel()
				p := clienttest.New(t)
				if alone {
					p.Kill()
				}
				i := &lateAgent{agent: newAgent(t, script, overStdio(p)), p: p, keys: true}
				i.timeOut()
				i.killServer()
				i.wantOpen()
				i.answer()
				i.killServer()
				i.wantAnswers()
			})
		}
	}
}
