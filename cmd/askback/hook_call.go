package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/askback/askback/internal/hook"
)

// errNotAsked is the error for an event of the right agent about which no person is asked.
var errNotAsked = errors.New("no person is asked about this event")

// errNoDecision is the error for a guarded call that no person has approved or denied.
var errNoDecision = errors.New("there was no decision in time")

// answerHook answers one hook. It asks about the call that read returns, prints the decision, and
// then acknowledges it. Without a decision it prints nothing, so that the agent follows its own rules.
//
// If gate is set, a guarded call without a decision is blocked. read returns whether the call of an
// event is guarded.
func answerHook(ctx context.Context, in streams, all *commands, wait time.Duration, gate bool, read func(raw []byte) (call hook.Call, guarded bool, err error)) error {
	guarded := gate
	printed, unwritten, err := askForHook(ctx, in, all, wait, func(raw []byte) (call hook.Call, err error) {
		call, guarded, err = read(raw)
		guarded = guarded && gate
		return call, err
	})
	switch {
	case guarded && err == nil && unwritten == nil && !printed:
		err = errNoDecision
	case !guarded && (errors.Is(err, hook.ErrForeign) || errors.Is(err, errNotAsked)):
		return nil
	}
	return endHook(in, guarded, unwritten, err)
}

// askForHook reads the event of a hook, waits for the decision about its call, prints it and then
// acknowledges it. printed reports whether there was a decision. If it could not be printed, unwritten
// is the error.
func askForHook(ctx context.Context, in streams, all *commands, wait time.Duration, read func(raw []byte) (hook.Call, error)) (printed bool, unwritten, err error) {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	raw, err := readEvent(in.in)
	if err != nil {
		return false, nil, err
	}
	call, err := read(raw)
	if err != nil {
		return false, nil, err
	}
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

// requireServer returns an error if Askback is on this machine and no server runs. While a hook
// waits, its agent shows no dialog. A question that only a command can show would seem to be lost.
func requireServer(ctx context.Context, all *commands) error {
	conn, err := all.connector("")
	if err != nil || !conn.IsLocal() {
		return err
	}
	if server, ok := conn.Place().Last(); !ok || server.Proves(ctx) != nil {
		return errNoServer
	}
	return nil
}

var errNoServer = errors.New("no server is running: run askback serve")

// parentInterval is how often a hook looks whether its parent process has ended.
const parentInterval = time.Second

// whileParentLives returns a context that ends when the parent process ends. Codex kills only
// the shell of a hook, not the hook. A hook must call this first of all: it does not notice that a
// parent ended before.
func whileParentLives(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
