package mcp_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// How an agent whose client lost patience comes by its answer, one question each.
const (
	repeating = "Found by the same call?"
	waiting   = "Found by wait_for_answer?"
	looking   = "Found by get_answer?"
)

// An impatient agent asks, its client times out, and the answer comes afterwards.
type impatient struct {
	*agent
	p    *clienttest.Place
	keys bool // its calls have keys of their own, since its sessions end
	ids  map[string]string
}

// ask is the call that asks a question, the same each time.
func (i *impatient) ask(question string) call {
	c := ask(question, "Yes", "No")
	if i.keys {
		c.Meta = map[string]string{"askback/idempotency-key": question}
	}
	return c
}

// lose asks everything, and has no answer when the client gives up.
func (i *impatient) lose() {
	i.t.Helper()
	i.loseAll(3, func(within time.Duration) (calls []<-chan reply) {
		for _, question := range []string{repeating, waiting, looking} {
			calls = append(calls, i.start("call", i.ask(question).within(within)))
		}
		return calls
	})
	i.ids = map[string]string{}
	for _, k := range i.p.Open(3) {
		i.ids[k.Questions[0].Text] = k.ID
	}
}

// sees checks that what is open is found while nobody has answered: by the list, by
// looking, by waiting and by the same call, of which none asks again.
func (i *impatient) sees() {
	i.t.Helper()
	want := []string{i.ids[repeating], i.ids[waiting], i.ids[looking]}
	got := i.open()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		i.t.Errorf("list_open_questions\n%s", diff)
	}
	if r := i.call(later("get_answer", i.ids[looking])); r.IsError || r.Structured.Status != askback.Pending {
		i.t.Errorf("nobody has answered, but got %+v", r)
	}
	for _, c := range []call{later("wait_for_answer", i.ids[waiting]), i.ask(repeating)} {
		i.loses(c)
	}
	i.p.Open(3)
}

// answer answers everything, once nobody waits.
func (i *impatient) answer() {
	i.t.Helper()
	for _, id := range i.ids {
		i.p.Answer(id, askback.Choose("Yes"))
	}
}

// finds checks that each way leads to the answer.
func (i *impatient) finds() {
	i.t.Helper()
	i.said(i.call(i.ask(repeating)), repeating, "Yes")
	for range 2 { // as often as it is called
		i.said(i.call(later("wait_for_answer", i.ids[waiting])), waiting, "Yes")
		i.said(i.call(later("get_answer", i.ids[looking])), looking, "Yes")
	}
	if left := i.open(); len(left) != 0 {
		i.t.Errorf("still open: %v", left)
	}
	i.p.Open(0)
}

// The client's time-out passes first and the answer comes afterwards: the agent gets
// it all the same (B7, F4).
func TestAnswersAfterTheClientsTimeOut(t *testing.T) {
	each(t, func(t *testing.T, p *clienttest.Place, w way) {
		i := &impatient{agent: begin(t, w.script, w.in(p)), p: p}
		i.lose()
		i.sees()
		i.answer()
		i.finds()
	})
}

// The server is killed and started again between the ask and its answer, and between
// the answer and the agent's coming for it. Clients over HTTP keep their session, and
// askback mcp finds the new server; the agent notices nothing (B7, F4).
func TestServerKilledInBetween(t *testing.T) {
	each(t, func(t *testing.T, p *clienttest.Place, w way) {
		i := &impatient{agent: begin(t, w.script, w.in(p)), p: p}
		before := i.about()
		if hasSession := before.Session != ""; hasSession != (w.script == legacy && before.Process == 0) {
			t.Errorf("session %q", before.Session)
		}
		i.lose()
		p.Restart()
		i.sees()
		i.answer()
		p.Restart()
		i.finds()
		if after := i.about(); after.Session != before.Session || after.Process != before.Process {
			t.Errorf("the connection was %+v, and is %+v", before, after)
		}
	})
}

// A call that waits when the server is killed is broken off over HTTP, and goes on
// over stdio; either way the question stays, and the same call gets its answer (B7).
func TestServerKilledDuringACall(t *testing.T) {
	each(t, func(t *testing.T, p *clienttest.Place, w way) {
		a := begin(t, w.script, w.in(p))
		const question = "Still there?"
		c := ask(question, "Yes", "No")
		done := a.start("call", c)
		id := p.Open(1)[0].ID
		p.Restart()
		stdio := a.about().Process != 0
		if !stdio {
			if r := a.soon(done); r.Error == nil || r.Error.timedOut() {
				t.Errorf("the connection broke, but got %s %v", r.Result, r.Error)
			}
			done = a.start("call", c)
		}
		if again := p.Open(1)[0].ID; again != id {
			t.Errorf("%s was asked, and is %s now", id, again)
		}
		p.Answer(id, askback.Choose("Yes"))
		a.said(a.result(done), question, "Yes")
		p.Open(0)
	})
}

// askback mcp itself is killed and started again, beside a server, or without one,
// when it holds the database itself. Its session ends with it, so a call finds its
// question again by a key of its own (B7, F4).
func TestAskbackMCPKilledInBetween(t *testing.T) {
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
				i := &impatient{agent: begin(t, script, overStdio(p)), p: p, keys: true}
				i.lose()
				i.kill()
				i.sees()
				i.answer()
				i.kill()
				i.finds()
			})
		}
	}
}
