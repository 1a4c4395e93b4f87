package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/instance"
)

type hookCodex struct {
	Gate  bool          `help:"Guard tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"9m" help:"With --gate, block a call at the latest after this time. It must be shorter than the timeout of the hook, after which Codex runs the tool."`
}

// Run answers one hook. After an error before the decision, it prints no decision and exits
// with 0, so that Codex shows its own dialog. With --gate, any doubt blocks the call instead:
// Codex would run the tool.
func (c *hookCodex) Run(ctx context.Context, in streams, all *commands) error {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	var gated atomic.Bool
	gated.Store(c.Gate)
	end := func(unwritten, err error) error { return endHook(in, gated.Load(), unwritten, err) }
	answer := func(ctx context.Context, in streams) error { return end(c.answer(ctx, in, all, &gated)) }
	if !c.Gate {
		return answer(ctx, in)
	}
	return withinLimit(ctx, in, c.Limit, end, answer)
}

// answer reads the event, waits for the decision, prints it and then acknowledges it. If
// the decision could not be printed, unwritten is the error. It stores in gated whether the call of
// the event must be blocked after an error.
func (c *hookCodex) answer(ctx context.Context, in streams, all *commands, gated *atomic.Bool) (unwritten, err error) {
	raw, err := readEvent(in)
	if err != nil {
		return nil, err
	}
	ev, err := codex.Read(raw)
	if errors.Is(err, codex.ErrForeign) && !c.Gate {
		return nil, nil // another program runs this hook, which then must print nothing
	}
	if err != nil {
		return nil, err
	}
	gated.Store(c.Gate && codex.Gated(ev))
	asks := codex.Asks(ev, c.Gate)
	if asks && codex.HasDialog(ev) && isFollowed(ev.SessionID) {
		return nil, nil // askback attach codex asks as well while Codex shows its dialog
	}
	if asks {
		if err := requireServer(ctx, all); err != nil {
			return nil, err
		}
	}
	return runHook(ctx, in, all, asks, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
		reply, err := codex.Run(ctx, new(hook.Runner), client, ev, c.Gate)
		if err == nil && reply.Output == nil && gated.Load() {
			err = errNoDecision
		}
		return reply, err
	})
}

// followed returns the place of the records of the threads of Codex that askback attach codex
// follows on this machine.
func followed() (instance.Place, error) {
	dir, err := stateDir()
	return instance.Place{Database: filepath.Join(dir, "codex", "threads")}, err
}

// recordFollowed records that this process follows a thread, until done is called or the
// process ends in any way. Without a record, the hooks of the thread ask.
func recordFollowed(thread string) (done func()) {
	place, err := followed()
	if err == nil {
		done, err = place.Attend(thread)
	}
	if err != nil {
		return func() {}
	}
	return done
}

// isFollowed reports whether a process follows a thread.
func isFollowed(thread string) bool {
	place, err := followed()
	if err != nil || filepath.Base(thread) != thread {
		return false
	}
	ended := place.Abandoned(func(string) error { return nil }) // removes the records of killed processes
	return ended == nil && place.Attended(thread)
}
