package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A task is what the package ext-tasks makes of a call: a handle at once, which a
// client can write down.
type task struct {
	Kind      string          `json:"kind"`
	Task      string          `json:"task"`
	Reference json.RawMessage `json:"reference"`
}

// A settled is how a task ended.
type settled struct {
	Status string `json:"status"`
	Result result `json:"result"`
}

// eachTask runs a test for both ways in.
func eachTask(t *testing.T, run func(t *testing.T, p *clienttest.Place, s setup)) {
	t.Helper()
	clienttest.Packages(t)
	t.Parallel()
	for name, in := range map[string]func(*clienttest.Place) setup{"stdio": overStdio, "HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			run(t, p, in(p))
		})
	}
}

// task asks as a task, whose id is the ask's.
func (a *agent) task(p *clienttest.Place, question string) task {
	a.t.Helper()
	var out task
	read(a.t, a.must("start", ask(question, "Yes", "No")), &out)
	if asks := p.Open(1); out.Kind != "task" || out.Task != asks[0].ID {
		a.t.Fatalf("got %+v for %s", out, asks[0].ID)
	}
	return out
}

// status is how a task stands.
func (a *agent) status(id string) string {
	a.t.Helper()
	var out struct {
		Status string `json:"status"`
	}
	read(a.t, a.must("look", task{Task: id}), &out)
	return out.Status
}

// A call is a task at once, polled until a person answers; the server is killed and
// started again while the client polls (B7).
func TestTaskUntilAnswered(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Place, s setup) {
		a := begin(t, tasks, s)
		k := a.task(p, "Go on?")
		if got := a.status(k.Task); got != "working" {
			t.Errorf("status %q", got)
		}
		done := a.start("settle", k)
		p.Restart()
		p.Answer(k.Task, askback.Choose("Yes"))
		r := a.soon(done)
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		var out settled
		read(t, r.Result, &out)
		if out.Status != "completed" {
			t.Errorf("status %q", out.Status)
		}
		a.said(out.Result, "Go on?", "Yes")
		p.Restart()
		if got := a.status(k.Task); got != "completed" {
			t.Errorf("after another restart: %q", got)
		}
	})
}

// The client itself is started again and goes on with what it wrote down (B7, F4).
func TestTaskOfAClientThatBeganAnew(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Place, s setup) {
		k := begin(t, tasks, s).task(p, "Go on?")
		p.Answer(k.Task, askback.Choose("No"))
		p.Restart()
		a := begin(t, tasks, s)
		a.must("resume", k)
		var out settled
		read(t, a.must("settle", k), &out)
		a.said(out.Result, "Go on?", "No")
	})
}

// Cancelling a task withdraws the ask; afterwards nobody can answer it (F4).
func TestTaskCancelled(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Place, s setup) {
		a := begin(t, tasks, s)
		k := a.task(p, "Go on?")
		p.Restart()
		a.must("cancel", k)
		p.Open(0)
		if got := a.status(k.Task); got != "cancelled" {
			t.Errorf("status %q", got)
		}
		now, err := p.Person.Answer(t.Context(), k.Task, askback.Choose("Yes"))
		if err == nil || now.Outcome.Status != askback.Cancelled {
			t.Errorf("answered all the same: %+v, %v", now.Outcome, err)
		}
	})
}
