package main

import (
	"context"
	"errors"
	"os"
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
				err = errors.New("there was no decision in time")
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

// requireServer returns an error if Askback is on this machine and no server runs. While a
// hook waits, Codex shows no dialog, so a question that only a command can show would seem to
// be lost.
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
// the shell of a hook, not the hook.
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
