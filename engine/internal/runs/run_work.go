package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// The kinds of the effects of hosted runs. They belong to the record of the run, except for
// kindSettled, which belongs to an ask.
const (
	runPrefix       = "run."
	kindRequest     = runPrefix + "request"
	kindTool        = runPrefix + "tool"
	kindOpenAsk     = runPrefix + "ask"
	kindSettled     = runPrefix + "settled" // an ask of the run was settled
	kindStartChild  = runPrefix + "start_child"
	kindCancelChild = runPrefix + "cancel_child"
	kindFinished    = runPrefix + "finished" // a child has ended its turn, and its parent must be notified
)

// A runWork is the data of an effect of a run.
type runWork struct {
	Request int             `json:"request,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Call    int             `json:"call,omitempty"`
	Child   int             `json:"child,omitempty"`
	AskID   string          `json:"ask,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Text    string          `json:"text,omitempty"`
	Failed  bool            `json:"failed,omitempty"`
}

const (
	runSlots    = 256              // effects of runs that are performed concurrently
	runPause    = time.Second      // the longest pause after the first failure; it doubles with each failure
	runMaxPause = 30 * time.Second // the longest pause
)

// queue adds an effect of the run to the change.
func (r *runRecord) queue(t *txn.Tx, kind string, w runWork) error {
	return addWork(t, kind, KindRun, r.row.ID, r.row.ID, w)
}

// addWork adds an effect of a run to the change.
func addWork(t *txn.Tx, kind, subjectKind, subject, stream string, w runWork) error {
	id, err := t.DB.IDs.New("run_", t.Now())
	if err != nil {
		return err
	}
	data, err := json.Marshal(w)
	t.Change.Effects = append(t.Change.Effects, store.Effect{
		ID: id, Kind: kind, SubjectKind: subjectKind, Subject: subject, Stream: stream, Created: t.Now(), Data: data,
	})
	return err
}

// performRun performs an effect of a run. After an error it plans the next attempt, because the run cannot
// continue without the effect. If a part of the run cannot be read, the run fails. If ctx ends, the next
// process performs the effect.
func (e *Service) performRun(ctx context.Context, f store.Effect) error {
	err := e.runEffect(ctx, f)
	// there is no such record: the effect was deleted with it
	if err == nil || ctx.Err() != nil || errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	pause := min(runPause<<min(f.Attempts-1, 10), runMaxPause)
	done := store.Completion{ID: f.ID, Node: f.Node, Retry: e.Clock().Add(pause), Error: txn.ErrorText(err)}
	if errors.Is(err, txn.ErrUnreadable) || errors.Is(err, askback.ErrDamaged) {
		done.Retry, done.Dead = time.Time{}, true
	}
	e.Log.Warn("a step of a hosted run failed", "session", f.Stream, "kind", f.Kind, "attempt", f.Attempts, "dead",
		done.Dead, "error", err)
	return e.Update(context.WithoutCancel(ctx), func(t *txn.Tx) error {
		t.Change.Done = append(t.Change.Done, done)
		if !done.Dead {
			return nil
		}
		r, err := lockRun(t, f.Stream)
		if err != nil {
			return nil //nolint:nilerr // the run itself cannot be read
		}
		return r.step(t, conversation.RunFailed{
			Error: "the stored data of this run is damaged, so it cannot go on; start a new one", At: t.Now(),
		})
	})
}

// runEffect performs an effect of a run, and commits the result. It returns a panic as an error.
func (e *Service) runEffect(ctx context.Context, f store.Effect) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.Log.Error("a hosted run panicked", "session", f.Stream, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	r, err := e.readRun(ctx, f.Stream)
	if err == nil {
		err = e.checkHosts(r)
	}
	if err != nil {
		return err
	}
	var w runWork
	if err := json.Unmarshal(f.Data, &w); err != nil {
		return fmt.Errorf("%w: effect %s: %w", txn.ErrUnreadable, f.ID, err)
	}
	switch f.Kind {
	case kindRequest:
		return e.requestModel(ctx, f, r, w)
	case kindTool:
		return e.executeTool(ctx, f, r, w)
	case kindOpenAsk:
		return e.openAsk(ctx, f, r, w)
	case kindSettled:
		return e.resumeRun(ctx, f, r)
	case kindStartChild:
		return e.startChild(ctx, f, r, w)
	case kindCancelChild:
		return e.cancelChild(ctx, f, r, w)
	case kindFinished:
		return e.childFinished(ctx, f, r, w)
	}
	return fmt.Errorf("%w: effect of kind %s", txn.ErrUnreadable, f.Kind)
}

// errNotHosted is returned for a run whose agent is in another process.
var errNotHosted = errors.New("this process does not host the agent")

// checkHosts returns errNotHosted if the runner does not have the agent of a run.
func (e *Service) checkHosts(r *runRecord) error {
	if e.Runner == nil {
		return errNotHosted
	}
	if partial, ok := e.Runner.(PartialRunner); ok && !partial.Hosts(r.fixed.Agent) {
		return errNotHosted
	}
	return nil
}

// finish commits the completion of an effect. If fn is not nil, it also commits the step of the run with this
// id. It does so even if ctx has ended.
func (e *Service) finish(ctx context.Context, f store.Effect, id string, fn func(t *txn.Tx, r *runRecord) error) error {
	return e.Update(context.WithoutCancel(ctx), func(t *txn.Tx) error {
		t.Change.Done = append(t.Change.Done, store.Completion{ID: f.ID, Node: f.Node})
		if fn == nil {
			return nil
		}
		r, err := lockRun(t, id)
		if err != nil {
			return err
		}
		return fn(t, r)
	})
}

// readRun returns a stored run.
func (e *Service) readRun(ctx context.Context, id string) (*runRecord, error) {
	row, err := e.Store.Read(ctx, KindRun, id)
	if err != nil {
		return nil, txn.FromStore(err)
	}
	return decodeRun(row)
}

// runHistory returns the events of a run that its model reads.
func (e *Service) runHistory(ctx context.Context, id string) (all []conversation.Event, err error) {
	for after := int64(0); ; {
		rows, err := e.Store.History(ctx, id, after, txn.HistoryChunk)
		if err != nil {
			return nil, txn.FromStore(err)
		}
		for _, row := range rows {
			after = row.Seq
			switch conversation.EventType(row.Type) {
			case conversation.EventMessage, conversation.EventToolInput, conversation.EventToolComplete:
			default:
				continue
			}
			h, ok := e.DecodeEvent(row)
			if !ok {
				return nil, fmt.Errorf("%w: event %d of session %s", txn.ErrUnreadable, row.StreamSeq, id)
			}
			all = append(all, messageEvent(h))
		}
		if len(rows) < txn.HistoryChunk {
			return all, nil
		}
	}
}

// errUnneeded is the cause that ends a request to the model or a tool that the run no longer needs.
var errUnneeded = errors.New("the run no longer needs this")

// watch returns a context that ends with ctx, or with errUnneeded when the run no longer needs the work of
// the caller.
func (e *Service) watch(
	ctx context.Context, id string, needed func(conversation.State) bool,
) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	watcher := e.Hub.WatchRun(id)
	go func() {
		defer e.Hub.UnwatchRun(id, watcher)
		// the run may have changed before WatchRun was called
		for again := ctx.Err() == nil; again; again = watcher.Wait(ctx) == nil {
			r, err := e.readRun(ctx, id)
			if errors.Is(err, askback.ErrNotFound) || err == nil && !needed(r.state) {
				cancel(errUnneeded)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// requestModel sends one request to the model of a run, and steps the run with the reply. If the run no
// longer needs the request, it only completes the effect.
func (e *Service) requestModel(ctx context.Context, f store.Effect, r *runRecord, w runWork) error {
	request := conversation.RequestModel{Request: w.Request, Attempt: w.Attempt}
	needed := func(s conversation.State) bool { return s.Requests(request) }
	if !needed(r.state) {
		return e.finish(ctx, f, "", nil)
	}
	history, err := e.runHistory(ctx, f.Subject)
	if err != nil {
		return err
	}
	running, stop := e.watch(ctx, f.Subject, needed)
	defer stop()
	in := e.reply(running, r.fixed.Run, request, conversation.Messages(history))
	if _, replied := in.(conversation.ModelReplied); !replied && running.Err() != nil {
		if errors.Is(context.Cause(running), errUnneeded) {
			return e.finish(ctx, f, "", nil)
		}
		return context.Cause(running)
	}
	stop() // stop watching, because the next commit changes the run and would wake the watcher
	return e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) error { return r.step(t, withNumbers(in, w, t)) })
}

// reply sends a request to the model of a run, and publishes the text of the model as it arrives.
func (e *Service) reply(
	ctx context.Context, run conversation.Run, q conversation.RequestModel, messages []conversation.Message,
) conversation.Input {
	live := e.Hub.Begin(run.ID, q.Request)
	defer live.End()
	return e.Runner.Reply(ctx, run, q, messages, live.Add)
}

// withNumbers returns the input in with the current time, and with the request and attempt numbers of w. An
// input of another type becomes a RunFailed.
func withNumbers(in conversation.Input, w runWork, t *txn.Tx) conversation.Input {
	switch in := in.(type) {
	case conversation.ModelReplied:
		in.Request, in.At = w.Request, t.Now()
		return in
	case conversation.ModelFailed:
		in.Request, in.Attempt, in.At = w.Request, w.Attempt, t.Now()
		return in
	case conversation.RunFailed:
		in.At = t.Now()
		return in
	}
	return conversation.RunFailed{Error: fmt.Sprintf("the runner returned %T", in), At: t.Now()}
}

// callOf returns a call of a run, with its plan. ok is false unless the run is making the call in this phase.
func (e *Service) callOf(
	ctx context.Context, r *runRecord, phase conversation.Phase, n int,
) (call conversation.Call, ok bool, err error) {
	open, ok := r.open(phase, n)
	if !ok {
		return call, false, nil
	}
	for before := int64(0); ; {
		rows, err := e.Store.Recent(ctx, r.row.ID, before, txn.HistoryChunk)
		if err != nil {
			return call, false, txn.FromStore(err)
		}
		for _, row := range rows {
			before = row.Seq
			if row.Type != string(conversation.EventToolInput) {
				continue
			}
			if h, ok := e.DecodeEvent(row); ok && h.Call == n {
				return conversation.Call{N: n, ID: h.CallID, Tool: h.Tool, Input: h.Input, Plan: open.Plan}, true, nil
			}
		}
		if len(rows) < txn.HistoryChunk {
			return call, false, fmt.Errorf("%w: call %d of session %s is missing", txn.ErrUnreadable, n, r.row.ID)
		}
	}
}
