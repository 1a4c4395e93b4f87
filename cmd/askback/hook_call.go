package main

import (
	"context"
	"errors"
	"time"

	"github.com/askback/askback/internal/hook"
)

// errNotAsked is the error for an event of the right agent about which no person is asked.
var errNotAsked = errors.New("no person is asked about this event")

// answerHook reads the event of a hook, asks about the call that read returns, waits at most wait for
// the decision, prints it and then acknowledges it. If the decision could not be printed, unwritten
// is the error. printed reports whether there was a decision.
func answerHook(ctx context.Context, in streams, all *commands, wait time.Duration, read func(raw []byte) (hook.Call, error)) (printed bool, unwritten, err error) {
	raw, err := readEvent(in.in)
	if err != nil {
		return false, nil, err
	}
	call, err := read(raw)
	if err != nil {
		return false, nil, err
	}
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	if err := requireServer(ctx, all); err != nil {
		return false, nil, err
	}
	unwritten, err = runHook(ctx, in, all, true, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
		reply, err := new(hook.Runner).Run(ctx, "", client, call)
		printed = err == nil && reply.Output != nil
		return reply, err
	})
	return printed, unwritten, err
}
