package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/codexhook"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/instance"
)

type hookCodex struct {
	Gate  bool          `help:"Guard tools: block each call unless a person approves it. After an error, block it too."`
	Limit time.Duration `default:"9m" help:"With --gate, block a call after this time. It must be shorter than the timeout of the hook, after which Codex runs the tool."`
}

// Run answers one hook. After an error before the decision, it prints no decision and exits
// with 0, so that Codex shows its own dialog. With --gate, any doubt blocks the call instead:
// Codex would run the tool.
func (c *hookCodex) Run(ctx context.Context, in streams, all *commands) error {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	if c.Gate {
		limited, stop := context.WithTimeout(ctx, c.Limit)
		defer stop()
		ctx = limited
	}
	unwritten, err := c.answer(ctx, in, all)
	return endHook(in, c.Gate, unwritten, err)
}

// answer reads the event, waits for the decision, prints it and then acknowledges it. If
// the decision could not be printed, unwritten is the error.
func (c *hookCodex) answer(ctx context.Context, in streams, all *commands) (unwritten, err error) {
	raw, err := readEvent(in.in)
	if err != nil {
		return nil, err
	}
	ev, err := codexhook.Read(raw)
	if errors.Is(err, codexhook.ErrForeign) && !c.Gate {
		return nil, nil // another program runs this hook, which then must print nothing
	}
	if err != nil {
		return nil, err
	}
	asks := codexhook.Asks(ev, c.Gate)
	if asks && codexhook.HasDialog(ev) && isFollowed(ev.SessionID) {
		return nil, nil // askback attach codex asks as well while Codex shows its dialog
	}
	if asks {
		err = requireServer(ctx, all)
	}
	if err == nil {
		unwritten, err = runHook(ctx, in, all, asks, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
			reply, err := codexhook.Run(ctx, new(hook.Runner), client, ev, c.Gate)
			if err == nil && reply.Output == nil && c.Gate && codexhook.Gated(ev) {
				err = errNoDecision
			}
			return reply, err
		})
	}
	if c.Gate && !codexhook.Gated(ev) && err != nil {
		note(in.err, withoutRoute(err)) // a question, which Codex itself then asks
		err = nil
	}
	return unwritten, err
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
