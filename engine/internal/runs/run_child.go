package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// childKey returns the key of the session of a child.
func childKey(parent string, w runWork) string {
	return fmt.Sprintf("child:%s:%d:%d", parent, w.Call, w.Child)
}

// startChild starts a child of a run, unless the run no longer waits for the child. If the agent of the child
// may not be started, the child ends with an error. If the run is cancelled at the same time, the
// cancellation does not find the child, so startChild cancels the child.
func (e *Service) startChild(ctx context.Context, f store.Effect, parent *runRecord, w runWork) error {
	call, ok, err := e.callOf(ctx, parent, conversation.Delegating, w.Call)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	agent, prompt := e.Runner.Task(parent.fixed.Run, call, w.Child)
	refused := ""
	limits, err := e.Runner.Limits(agent)
	if err != nil {
		refused = fmt.Sprintf("There is no agent %q.", agent)
	} else if err := e.hosted(parent.fixed.Agent).mayStart(ctx, agent); err != nil {
		refused = fmt.Sprintf("The agent %s may not start the agent %s.", parent.fixed.Agent, agent)
	}
	if refused != "" {
		return e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) error {
			return r.step(t,
				conversation.ChildFinished{Call: w.Call, Child: w.Child, Text: refused, IsError: true, At: t.Now()})
		})
	}
	err = e.Update(ctx, func(t *txn.Tx) error {
		_, err := e.Store.ReadKey(t.Context(), txn.KindSession, childKey(f.Subject, w))
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		row, err := e.Store.Read(t.Context(), txn.KindSession, f.Subject)
		if err != nil {
			return err
		}
		owner, err := txn.DecodeSession(row)
		if err != nil {
			return err
		}
		fixed := runFixed{
			StartedBy: parent.fixed.StartedBy,
			Parent:    f.Subject, Call: w.Call, Child: w.Child, Run: conversation.Run{
				Agent: agent, Path: append(slices.Clip(parent.fixed.Path), parent.fixed.Agent),
				Unattended: parent.fixed.Unattended,
			},
		}
		_, err = startRun(t, fixed, askback.Session{Owner: owner.Session.Owner}, childKey(f.Subject, w), txn.Callback{},
			conversation.Message{Role: conversation.RoleUser, Text: prompt}, limits)
		return err
	})
	if err != nil {
		return err
	}
	if parent, err = e.readRun(ctx, f.Subject); err == nil {
		if _, ok := parent.open(conversation.Delegating, w.Call); !ok {
			err = e.endChild(ctx, parent, w)
		}
	}
	if err != nil {
		return err
	}
	return e.finish(ctx, f, "", nil)
}

// cancelChild cancels a child whose parent no longer waits for it.
func (e *Service) cancelChild(ctx context.Context, f store.Effect, parent *runRecord, w runWork) error {
	if err := e.endChild(ctx, parent, w); err != nil {
		return err
	}
	return e.finish(ctx, f, "", nil)
}

// endChild ends a child for good, if it was started. It does not change a child whose turn has ended, because
// the parent may have stopped waiting only because it has the result.
func (e *Service) endChild(ctx context.Context, parent *runRecord, w runWork) error {
	row, err := e.Store.ReadKey(ctx, txn.KindSession, childKey(parent.row.ID, w))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return txn.FromStore(err)
	}
	return e.Update(ctx, func(t *txn.Tx) error {
		r, err := lockRun(t, row.ID)
		if err != nil || r.state.Phase == conversation.Idle {
			return err
		}
		r.cancel = lifecycle.Cancelled{
			By:     askback.Actor{Kind: askback.ActorAgent, Name: parent.fixed.Agent},
			Reason: "the run that started it was cancelled", At: t.Now(),
		}
		return r.step(t, conversation.RunCancelled{At: t.Now()})
	})
}

// childFinished notifies a run that one of its children has ended its turn. The run and the child belong to
// different sessions, so the step of the run and the completion of the effect are two commits. A repeated
// step changes nothing.
func (e *Service) childFinished(ctx context.Context, f store.Effect, child *runRecord, w runWork) error {
	err := e.Update(ctx, func(t *txn.Tx) error {
		parent, err := lockRun(t, child.fixed.Parent)
		if err != nil {
			return err
		}
		return parent.step(t, conversation.ChildFinished{
			Call: child.fixed.Call, Child: child.fixed.Child, Text: w.Text, IsError: w.Failed, At: t.Now(),
		})
	})
	if err != nil && !errors.Is(err, askback.ErrNotFound) {
		return err
	}
	return e.finish(ctx, f, "", nil)
}
