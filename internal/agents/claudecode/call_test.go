package claudecode_test

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
)

// requestOf returns the request of the call that an event asks about.
func requestOf(ev claudecode.Event) (askback.Request, bool) {
	call, ok := claudecode.Call(ev)
	return call.Request, ok
}

// decisionOf returns the output of the hook for an event and its settled ask.
func decisionOf(ev claudecode.Event, ask askback.Ask) ([]byte, bool) {
	call, ok := claudecode.Call(ev)
	if !ok {
		return nil, false
	}
	return call.Decide(ask)
}

// deferredBy returns the output that defers the call of an event.
func deferredBy(ev claudecode.Event) ([]byte, bool) {
	call, _ := claudecode.Call(ev)
	return call.Deferred, call.Deferred != nil
}

func cannotAsk(ev claudecode.Event) bool {
	_, err := claudecode.Handle(ev)
	return errors.Is(err, hook.ErrCannotAsk)
}

func runEvent(
	ctx context.Context, r *hook.Runner, owner string, client hook.Client, ev claudecode.Event,
) (hook.Reply, error) {
	job, err := claudecode.Handle(ev)
	if err != nil {
		return hook.Reply{}, err
	}
	return r.Do(ctx, owner, client, job)
}

func withdrawEnded(ctx context.Context, client hook.Client, ev claudecode.Event) error {
	_, err := runEvent(ctx, new(hook.Runner), "", client, ev)
	return err
}
