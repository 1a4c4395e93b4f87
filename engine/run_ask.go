package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/store"
)

// openAsk opens the ask of a call, unless the run no longer waits for it. A request that is not
// valid is the result of the call, so that the model corrects it.
func (e *Engine) openAsk(ctx context.Context, f store.Effect, w runWork) error {
	r, err := e.readRun(ctx, f.Subject)
	if err != nil {
		return err
	}
	call, ok, err := e.callOf(ctx, r, conversation.Awaiting, w.Call)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	c := &client{e, askback.Principal{Kind: askback.Agent, Name: askback.HostedPrefix + r.fixed.Agent, Channel: askback.ChannelAPI}}
	n := &newAsk{}
	request, wrong := e.runner.Question(r.fixed.Run, call)
	if wrong == nil {
		request.Agent, request.SessionID, request.StartedBy = r.fixed.Agent, r.row.ID, r.fixed.StartedBy
		request.Key = "run:" + r.row.ID + ":" + strconv.Itoa(w.Call)
		err := c.prepare(ctx, n, request)
		if wrong = n.late; wrong == nil && errors.As(err, new(askback.Invalid)) {
			wrong = err
		} else if err != nil {
			return err
		}
	}
	if wrong != nil {
		return e.finish(ctx, f, f.Subject, func(t *tx, r *runRecord) error {
			return r.step(t, conversation.AskSettled{Call: w.Call, Text: "No one was asked: " + wrong.Error(), IsError: true, At: t.now})
		})
	}
	n.asked.Call, n.asked.Ask.Path = w.Call, r.fixed.Path
	done, err := e.reserve(ctx, c.who.Name)
	if err != nil {
		return err
	}
	var opened *askback.Ask
	err = e.finish(ctx, f, f.Subject, func(t *tx, r *runRecord) (err error) {
		opened = nil
		if _, ok := r.open(conversation.Awaiting, w.Call); !ok {
			return nil
		}
		r.changed = true // so that its version excludes a cancellation by another process
		opened, err = c.open(t, n)
		return err
	})
	done(err == nil && opened != nil && !opened.Settled() && !opened.Repeated)
	return err
}

// resumeRun steps a run with the outcome of its ask.
func (e *Engine) resumeRun(ctx context.Context, f store.Effect) error {
	a, err := e.fetch(ctx, f.Subject)
	if err != nil {
		return err
	}
	r, err := e.readRun(ctx, f.Stream)
	if err != nil {
		return err
	}
	n := a.state.Call
	call, ok, err := e.callOf(ctx, r, conversation.Awaiting, n)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	out := e.runner.Outcome(r.fixed.Run, call, a.state.Ask)
	out.Call, out.AskID = n, a.state.Ask.ID
	return e.finish(ctx, f, f.Stream, func(t *tx, r *runRecord) error {
		out.At = t.now
		return r.step(t, out)
	})
}
