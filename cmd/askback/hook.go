package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/askback/askback/internal/claudehook"
)

type hookCommand struct {
	Claude hookClaude `cmd:"" name:"claude-code" help:"Answer a hook of Claude Code: its event on standard input, the decision on standard output."`
}

type hookClaude struct {
	Defer  time.Duration `default:"${patience}" help:"Wait this long in claude -p before the run ends, to be resumed when there is an answer."`
	Strict bool          `help:"Exit with 2, which blocks the call, when something goes wrong; do not leave it to Claude Code."`
}

// exitBlock is how a hook tells Claude Code not to run a tool.
const exitBlock = 2

// Run answers one hook. Whatever goes wrong, it prints nothing and exits 0: then
// Claude Code asks in its own dialog, as if nobody were here. Only a gate that
// must hold is strict.
func (c *hookClaude) Run(ctx context.Context, in streams, all *commands) error {
	unwritten, err := c.answer(ctx, in, all)
	switch {
	case err != nil && c.Strict:
		return ended{exitBlock, "Askback could not ask about this: " + withoutRoute(err)}
	case unwritten != nil && c.Strict:
		return ended{exitBlock, "the decision could not be written: " + unwritten.Error()}
	case err != nil:
		say(in.err, withoutRoute(err))
	}
	return unwritten
}

// answer prints the decision, which has its receipt once it is printed. unwritten
// says why a decision could not be.
func (c *hookClaude) answer(ctx context.Context, in streams, all *commands) (unwritten, err error) {
	raw, err := io.ReadAll(io.LimitReader(in.in, claudehook.MaxInput+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > claudehook.MaxInput {
		return nil, fmt.Errorf("an event of more than %d bytes is not read", claudehook.MaxInput)
	}
	ev, err := claudehook.Read(raw, os.Getenv(claudehook.EntrypointVariable))
	if errors.Is(err, claudehook.ErrForeign) {
		return nil, nil // silent, and not a failure either: this hook has no part in that program
	}
	if err != nil {
		return nil, err
	}
	if claudehook.CannotAsk(ev) {
		return nil, claudehook.ErrCannotAsk
	}
	errand := waiting
	if _, asks := claudehook.Request(ev); !asks {
		errand = serving{} // it only looks after what was asked before
	}
	d, err := all.desk(errand)
	if err != nil {
		return nil, err
	}
	if _, served := d.place.Last(); errand.kind == "" && d.remote == "" && !served {
		return nil, nil // no server ran here, so no ask can be open
	}
	if _, defers := claudehook.Defer(ev); defers && c.Defer > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Defer)
		defer cancel()
		ctx = limited
	}
	err = all.with(streams{err: io.Discard}, errand, func(d *desk) error {
		var seat claudehook.Client = d.agent
		if d.remote == "" || d.isLocal {
			seat = attending{d.agent, d.place}
		}
		reply, err := claudehook.Run(ctx, seat, ev)
		if err != nil || reply.Output == nil {
			return err
		}
		if _, unwritten = in.out.Write(append(reply.Output, '\n')); unwritten == nil {
			reply.Ack(ctx)
		}
		return nil
	})
	return unwritten, err
}
