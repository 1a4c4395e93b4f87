package runs

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// executeTool runs the tool of a call. It first commits the start, and consumes the approval that the call
// needs. So a tool that changes data runs at most once (F7). If the approval cannot be used, the result of
// the call is an error.
func (e *Service) executeTool(ctx context.Context, f store.Effect, r *runRecord, w runWork) error {
	call, ok, err := e.callOf(ctx, r, conversation.Executing, w.Call)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	if len(w.Input) > 0 {
		call.Input = w.Input
	}
	runs, err := e.startTool(ctx, f, r, w, call)
	if why := refusal(err); why != "" {
		return e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) error {
			return r.step(t, conversation.ToolFinished{
				Call: w.Call, Text: "The tool did not run, because " + why + ". Ask again if it is still needed.",
				IsError: true, At: t.Now(),
			})
		})
	}
	if err != nil || !runs {
		return err
	}
	running, stop := e.watch(ctx, f.Subject, func(s conversation.State) bool { return s.Runs(w.Call) })
	defer stop()
	out := e.Runner.Execute(running, r.fixed.Run, call)
	if running.Err() != nil {
		if errors.Is(context.Cause(running), errUnneeded) {
			return e.finish(ctx, f, "", nil)
		}
		return context.Cause(running) // the tool may or may not have run, so the effect is kept
	}
	stop() // stop watching, because the next commit changes the run and would wake the watcher
	return e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) error { return r.toolFinished(t, w.Call, out) })
}

// toolFinished steps a run with the result of a tool. If the tool replaced the todos, it also steps the
// session.
func (r *runRecord) toolFinished(t *txn.Tx, call int, out conversation.Executed) error {
	in := conversation.ToolFinished{Call: call, Text: out.Text, IsError: out.IsError, At: t.Now()}
	if out.Todos != nil && r.state.Runs(call) {
		s, err := t.Session(r.row.ID)
		if err != nil {
			return err
		}
		err = s.Step(t, lifecycle.SessionCommand{
			By:      askback.Actor{Kind: askback.ActorAgent, Name: r.fixed.Agent},
			Command: askback.SetTodos{Todos: out.Todos}, At: t.Now(),
		})
		if err != nil {
			in.Text, in.IsError = "The todos were not changed: "+err.Error(), true
		}
	}
	return r.step(t, in)
}

// startTool commits the start of a tool, and consumes the approval that the tool needs. It reports whether
// the tool must run. If the tool must not run, the effect is done.
func (e *Service) startTool(
	ctx context.Context, f store.Effect, known *runRecord, w runWork, call conversation.Call,
) (runs bool, err error) {
	var sum string
	if w.AskID != "" {
		if sum, err = e.callDigest(known.fixed.Run, call); err != nil {
			return false, err
		}
	}
	err = e.Update(ctx, func(t *txn.Tx) error {
		t.Exclusive = true // of two processes that commit this start, only one may run the tool
		r, err := lockKnownRun(t, known)
		if err != nil {
			return err
		}
		open, ok := r.open(conversation.Executing, w.Call)
		if ok && w.AskID != "" && !open.Started {
			a, err := t.AskNow(w.AskID)
			if err == nil {
				err = a.Step(t, lifecycle.Consumed{Digest: sum, At: t.Now()})
			}
			if err != nil {
				return err
			}
		}
		if err := r.step(t, conversation.ToolStarted{Call: w.Call, At: t.Now()}); err != nil {
			return err
		}
		if runs = r.state.Runs(w.Call); !runs {
			t.Change.Done = append(t.Change.Done, store.Completion{ID: f.ID, Node: f.Node})
		}
		return t.PerformEffects() // PerformEffects returns an error if the grant was revoked
	})
	return runs && err == nil, err
}

// callDigest returns the digest of the tool call that is about to run.
func (e *Service) callDigest(run conversation.Run, call conversation.Call) (string, error) {
	r, err := e.Runner.Question(run, call)
	if err != nil {
		return "", noQuestion{err}
	}
	if r.Confirmation == nil {
		return "", askback.ErrNotApproved
	}
	c := *r.Confirmation
	c.Input = call.Input
	return txn.Digest("/input", run.Agent, c)
}

// A noQuestion is the error of a runner that cannot return the approved question. For example, the server of
// a tool may not be running.
type noQuestion struct{ error }

// refusal returns why an approval cannot be used, or "".
func refusal(err error) string {
	no, unknown := errors.AsType[noQuestion](err)
	switch {
	case unknown:
		return no.Error()
	case errors.Is(err, askback.ErrNotApproved):
		return "its approval was revoked or has ended"
	case errors.Is(err, askback.ErrDigest):
		return "the tool or its arguments differ from the approved ones"
	case errors.Is(err, askback.ErrConsumed):
		return "its approval was used already"
	case errors.Is(err, askback.ErrNotFound):
		return "its approval no longer exists"
	}
	return ""
}
