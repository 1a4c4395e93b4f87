package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/connection"
	"github.com/askback/askback/internal/instance"
)

type hookCommand struct {
	Claude hookClaude `cmd:"" name:"claude-code" help:"Read the event of a hook of Claude Code from standard input, ask, and print the decision."`
}

type hookClaude struct {
	Defer  time.Duration `default:"${patience}" help:"Wait this long for an answer in a run of claude -p; then the run ends, and can be resumed when there is one."`
	Strict bool          `help:"Block the call with exit code 2 if there is an error, instead of showing the dialog of Claude Code."`
}

// exitBlock is the exit code with which a hook makes Claude Code block the tool call.
const exitBlock = 2

// Run answers one hook. After an error before the decision, it prints no decision and exits
// with 0, so that Claude Code shows its own dialog. With --strict, any error blocks the
// call instead.
func (c *hookClaude) Run(ctx context.Context, in streams, all *commands) error {
	unwritten, err := c.answer(ctx, in, all)
	switch {
	case err != nil && c.Strict:
		return exitError{exitBlock, "Askback could not ask about this call: " + withoutRoute(err)}
	case unwritten != nil && c.Strict:
		return exitError{exitBlock, "the decision could not be written: " + unwritten.Error()}
	case err != nil:
		note(in.err, withoutRoute(err))
	}
	return unwritten
}

// answer reads the event, waits for the decision, prints it and then acknowledges it. If
// the decision could not be printed, unwritten is the error.
func (c *hookClaude) answer(ctx context.Context, in streams, all *commands) (unwritten, err error) {
	raw, err := io.ReadAll(io.LimitReader(in.in, claudehook.MaxInput+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > claudehook.MaxInput {
		return nil, fmt.Errorf("the event is longer than %d bytes", claudehook.MaxInput)
	}
	ev, err := claudehook.Read(raw, os.Getenv(claudehook.EntrypointVariable))
	if errors.Is(err, claudehook.ErrForeign) {
		return nil, nil // another program runs this hook, which then must print nothing
	}
	if err != nil {
		return nil, err
	}
	if claudehook.CannotAsk(ev) {
		return nil, claudehook.ErrCannotAsk
	}
	kind := instance.KindAsk
	if _, asks := claudehook.Request(ev); !asks {
		kind = "" // it only withdraws earlier asks
	}
	conn, err := all.connector(kind)
	if err != nil {
		return nil, err
	}
	if _, served := conn.Place().Last(); kind == "" && conn.IsLocal() && !served {
		return nil, nil // no server has run here, so no ask is open
	}
	if _, defers := claudehook.Defer(ev); defers && c.Defer > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Defer)
		defer cancel()
		ctx = limited
	}
	unwritten, err = c.run(ctx, in, conn, ev)
	return unwritten, thenClose(streams{err: io.Discard}, conn, err)
}

func (c *hookClaude) run(ctx context.Context, in streams, conn *connection.Connector, ev claudehook.Event) (unwritten, err error) {
	var client claudehook.Client = conn.Agent
	if conn.IsLocal() {
		client = attendingClient{conn.Agent, conn.Place()}
	}
	reply, err := claudehook.Run(ctx, client, ev)
	if err != nil || reply.Output == nil {
		return nil, err
	}
	if _, unwritten = in.out.Write(append(reply.Output, '\n')); unwritten == nil {
		reply.Ack(ctx)
	}
	return unwritten, nil
}

// An attendingClient records on this machine that a hook waits (see
// [instance.Place.Attend]).
type attendingClient struct {
	claudehook.Client
	place instance.Place
}

// Wait implements [askback.Asker]. It waits even if the record cannot be written. The ask
// of a killed hook is then withdrawn a little later.
func (a attendingClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if done, err := a.place.Attend(id); err == nil {
		defer done()
	}
	return a.Client.Wait(ctx, id)
}
