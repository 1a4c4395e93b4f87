package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A task is the handle of a call with the extension for tasks, which a client
// can store.
type task struct {
	Kind      string          `json:"kind"`
	Task      string          `json:"task"`
	Reference json.RawMessage `json:"reference"`
}

// A taskResult is the result of a task.
type taskResult struct {
	Status string `json:"status"`
	Result result `json:"result"`
}

// eachTask runs a test for both transports.
func eachTask(t *testing.T, run func(t *testing.T, p *clienttest.Instance, s setup)) {
	t.Helper()
	clienttest.Packages(t)
	t.Parallel()
	for name, in := range map[string]func(*clienttest.Instance) setup{"stdio": overStdio, "HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			run(t, p, in(p))
		})
	}
}

// task starts a call as a task. The id of the task is the id of its ask.
func (a *agent) task(p *clienttest.Instance, question string) task {
	a.t.Helper()
	var out task
	read(a.t, a.run("start", ask(question, "Yes", "No")), &out)
	if asks := p.Open(1); out.Kind != "task" || out.Task != asks[0].ID {
		a.t.Fatalf("got %+v for %s", out, asks[0].ID)
	}
	return out
}

// status returns the status of a task.
func (a *agent) status(id string) string {
	a.t.Helper()
	var out struct {
		Status string `json:"status"`
	}
	read(a.t, a.run("look", task{Task: id}), &out)
	return out.Status
}

// A client polls a task until a person answers, even if the server is restarted (B7).
func TestTaskIsPolledUntilAnswered(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Instance, s setup) {
		a := newAgent(t, tasks, s)
		k := a.task(p, "Go on?")
		if got := a.status(k.Task); got != "working" {
			t.Errorf("status %q", got)
		}
		done := a.start("settle", k)
		p.Restart()
		p.Answer(k.Task, askback.Choose("Yes"))
		r := a.await(done)
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		var out taskResult
		read(t, r.Result, &out)
		if out.Status != "completed" {
			t.Errorf("status %q", out.Status)
		}
		a.wantAnswer(out.Result, "Go on?", "Yes")
		p.Restart()
		if got := a.status(k.Task); got != "completed" {
			t.Errorf("after another restart: %q", got)
		}
	})
}

// A restarted client can get the result of its task (B7, F4).
func TestTaskIsContinuedByNewClient(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Instance, s setup) {
		k := newAgent(t, tasks, s).task(p, "Go on?")
		p.Answer(k.Task, askback.Choose("No"))
		p.Restart()
		a := newAgent(t, tasks, s)
		a.run("resume", k)
		var out taskResult
		read(t, a.run("settle", k), &out)
		a.wantAnswer(out.Result, "Go on?", "No")
	})
}

// Cancelling a task cancels its ask, which can no longer be answered (F4).
func TestTaskIsCancelled(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Instance, s setup) {
		a := newAgent(t, tasks, s)
		k := a.task(p, "Go on?")
		p.Restart()
		a.run("cancel", k)
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

// A client that subscribes to its task gets the answer without polling (F9).
func TestSubscribedTaskGetsTheAnswer(t *testing.T) {
	eachTask(t, func(t *testing.T, p *clienttest.Instance, s setup) {
		a := newAgent(t, tasks, s)
		k := a.task(p, "Go on?")
		a.run("listen", k)
		done := a.start("notified", k)
		p.Answer(k.Task, askback.Choose("Yes"))
		r := a.await(done)
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		var out struct {
			Status  string     `json:"status"`
			Outcome taskResult `json:"outcome"`
			Polls   int        `json:"polls"`
		}
		read(t, r.Result, &out)
		if out.Status != "completed" || out.Polls != 0 {
			t.Errorf("the status is %q, after %d polls", out.Status, out.Polls)
		}
		a.wantAnswer(out.Outcome.Result, "Go on?", "Yes")
	})
}
