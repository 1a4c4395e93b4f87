package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/lifecycle"
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
	resume := func(t *tx, r *runRecord) error {
		out.At = t.now
		return r.step(t, out)
	}
	err = e.finish(ctx, f, f.Stream, func(t *tx, r *runRecord) error {
		if err := t.deliverOutcome(f.Subject, call); err != nil {
			return err
		}
		if err := resume(t, r); err != nil {
			return err
		}
		return t.performEffects() // a grant that was revoked refuses
	})
	if why := refusal(err); why != "" {
		out.Approved, out.IsError, out.Text = false, true, "This is not approved, because "+why+". Do not do this. Ask again if it is still needed."
		return e.finish(ctx, f, f.Stream, resume)
	}
	return err
}

// deliverOutcome records that a run has the outcome of its ask, if that is an approval of an
// action that the model described: it is consumed (F7). The approval of a tool is consumed when
// the tool runs, and of other outcomes the history of the session has the result of the call.
func (t *tx) deliverOutcome(id string, call conversation.Call) error {
	a, err := t.ask(id)
	if err != nil {
		return err
	}
	if o := a.state.Ask.Outcome; call.Kind == conversation.KindAsk && o.Approved() {
		return a.step(t, lifecycle.Consumed{Digest: o.Digest, At: t.now})
	}
	return nil
}
