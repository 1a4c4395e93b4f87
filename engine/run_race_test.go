package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An overtaken is a store that calls its function before once, when it is about to commit the first change
// with a new ask.
type overtaken struct {
	engine.Store
	before func(stream string)
	once   sync.Once
}

func (s *overtaken) Commit(ctx context.Context, c store.Change) (int64, error) {
	if i := slices.IndexFunc(c.Put, func(r store.Record) bool { return r.Kind == "ask" && r.Version == 0 }); i >= 0 {
		s.once.Do(func() { s.before(c.Put[i].Stream) })
	}
	return s.Store.Commit(ctx, c)
}

// If another process cancels a turn while the turn opens an ask, no ask remains (F1).
func TestCancelByAnotherProcessPreventsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		r := &scriptRunner{
			scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("ask", `{"question":"Which?"}`))}},
		}
		there := engine.New(s, &engine.Options{Runner: r}).As(askback.Principal{Kind: askback.Responder, Name: "ben"})
		h := &host{t: t, runner: r}
		h.start(&overtaken{Store: s, before: func(stream string) {
			if _, err := there.Send(t.Context(), stream, askback.EndTurn{}); err != nil {
				t.Error(err)
			}
		}})
		defer h.stop()
		one := h.run("Go.")
		page, err := h.ana.List(t.Context(), askback.Query{})
		h.check("open asks", fmt.Sprint(len(page.Items), err, one.Status), "0 <nil>completed")
	})
}

// An equalCommit is a store that commits the first start of a tool but returns ErrUnknown. The process then
// cannot know whether the stored start is its own.
type equalCommit struct {
	engine.Store
	once sync.Once
}

func (s *equalCommit) Commit(ctx context.Context, c store.Change) (seq int64, err error) {
	seq, err = s.Store.Commit(ctx, c)
	starts := func(r store.Record) bool {
		return r.Kind == "run" && r.Version > 0 && bytes.Contains(r.State, []byte(`"started":true`))
	}
	if err == nil && slices.ContainsFunc(c.Put, starts) {
		s.once.Do(func() { err = store.ErrUnknown })
	}
	return seq, err
}

// If a process does not know whether its start of a tool was committed, it does not run the tool. The stored
// start may come from another process, which runs the tool (F1).
func TestToolDoesNotRunIfStartIsUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, runner: &scriptRunner{
			scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("write", `{}`)), says("End.")}},
		}}
		h.start(&equalCommit{Store: memstore.New()})
		defer h.stop()
		one := h.run("Go.")
		<-time.After(time.Minute)
		h.check("status", h.settled(one.ID).Status, askback.SessionCompleted)
		h.check("executed", len(h.runner.ran()), 0)
		h.check("the model read", strings.Contains(h.heard(one.ID)[2], "outcome is unknown"), true)
	})
}

// A readCounter is a store that counts the reads of a run between the claim and the completion of its tool
// effect.
type readCounter struct {
	engine.Store
	tool  atomic.Pointer[string] // the id of the effect, or nil if no tool effect is claimed
	reads atomic.Int32
}

func (s *readCounter) Read(ctx context.Context, kind, id string) (store.Record, error) {
	if kind == "run" && s.tool.Load() != nil {
		s.reads.Add(1)
	}
	return s.Store.Read(ctx, kind, id)
}

func (s *readCounter) Claim(
	ctx context.Context, node string, now time.Time, n int, limit ...store.KindLimit,
) ([]store.Effect, error) {
	effects, err := s.Store.Claim(ctx, node, now, n, limit...)
	for _, f := range effects {
		if f.Kind == "run.tool" {
			<-time.After(time.Millisecond) // by now, the commit that added the effect has notified all waiters
			s.tool.Store(&f.ID)
		}
	}
	return effects, err
}

func (s *readCounter) Commit(ctx context.Context, c store.Change) (int64, error) {
	// The count ends here, because the commit notifies other goroutines, which may read the run for the next
	// turn.
	for _, done := range c.Done {
		if tool := s.tool.Load(); tool != nil && done.ID == *tool {
			s.tool.Store(nil)
		}
	}
	return s.Store.Commit(ctx, c)
}

// The run of a tool call is read three times: when the call begins, to check that the tool is still needed,
// and when the tool has ended.
func TestToolCallReadsItsRunThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, runner: &scriptRunner{
			scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("read", `{}`)), says("End.")}},
		}}
		h.runner.execute = func(context.Context, conversation.Call) conversation.Executed {
			<-time.After(time.Second)
			return conversation.Executed{Text: "done"}
		}
		db := &readCounter{Store: memstore.New()}
		h.start(db)
		defer h.stop()
		one := h.run("Go.")
		<-time.After(time.Minute)
		one = h.settled(one.ID)
		h.check("status", one.Status, askback.SessionCompleted)
		h.check("executed", len(h.runner.ran()), 1)
		h.check("reads", db.reads.Load(), 3)
	})
}

// A lateChild is a store that calls its function before, commits, and calls its function after. It does so
// only for the first change with a new child.
type lateChild struct {
	engine.Store
	before func(parent string)
	after  func()
	called atomic.Bool
}

func (s *lateChild) Commit(ctx context.Context, c store.Change) (int64, error) {
	i := slices.IndexFunc(c.Put,
		func(r store.Record) bool { return r.Version == 0 && strings.HasPrefix(r.Key, "child:") })
	if i < 0 || !s.called.CompareAndSwap(false, true) {
		return s.Store.Commit(ctx, c)
	}
	if s.before != nil {
		s.before(strings.Split(c.Put[i].Key, ":")[1])
	}
	n, err := s.Store.Commit(ctx, c)
	if s.after != nil {
		s.after()
	}
	return n, err
}

// A child may end before the process that started the child reads the parent again. The parent then has the
// result and no longer waits for the child. The child is not cancelled.
func TestChildThatEndsImmediatelyIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, runner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("spawn", `{}`)), says("End.")}, "child": {says("I helped.")},
		}}}
		h.start(&lateChild{Store: memstore.New(), after: func() { <-time.After(time.Second) }})
		defer h.stop()
		h.run("Go.")
		<-time.After(time.Minute)
		page, err := h.ana.Sessions(t.Context(), askback.SessionQuery{})
		for _, s := range page.Items {
			h.check(s.Agent, s.Status, askback.SessionCompleted)
		}
		h.check("sessions", fmt.Sprint(len(page.Items) > 1, err), "true <nil>")
	})
}

// If a parent is cancelled while a child starts, the cancellation of the parent does not find the child. The
// child is still cancelled.
func TestChildThatStartsLateIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{t: t, runner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("spawn", `{}`))}, "child": {says("", call("ask", `{"question":"Which?"}`))},
		}}}
		h.start(&lateChild{Store: memstore.New(), before: func(parent string) {
			if _, err := h.ana.Send(t.Context(), parent, askback.EndSession{}); err != nil {
				t.Error(err)
			}
			<-time.After(time.Second) // meanwhile the parent searches for its children
		}})
		defer h.stop()
		one := h.run("Go.")
		<-time.After(time.Minute)
		h.check("parent", h.settled(one.ID).Status, askback.SessionCancelled)
		page, err := h.ana.Sessions(t.Context(), askback.SessionQuery{})
		for _, s := range page.Items {
			h.check(s.Agent, s.Status, askback.SessionCancelled)
		}
		h.check("sessions", fmt.Sprint(len(page.Items) > 1, err), "true <nil>")
	})
}
