package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync/atomic"

	"github.com/alecthomas/kong"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/terminal"
)

type hookCommand struct {
	kong.Plugins // a command for each agent; see hookCommands
}

// hookCommands returns a struct with a command for each agent that has hooks.
func hookCommands() kong.Plugins {
	var fields []reflect.StructField
	for i, a := range agents.All() {
		if a.Hook == nil {
			continue
		}
		help := cmp.Or(a.HookHelp,
			"Read the event of a hook of "+a.Title+" from standard input, ask, and print the decision.")
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprint("Agent", i), Type: reflect.TypeOf(a.Hook).Elem(),
			Tag: reflect.StructTag(fmt.Sprintf(`cmd:"" name:%q help:%q`, a.Name, help)),
		})
	}
	return kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}
}

// Run answers one hook of the selected agent.
func (c *hookCommand) Run(ctx context.Context, in streams, all *commands, parsed *kong.Context) error {
	command, ok := parsed.Selected().Target.Addr().Interface().(hook.Command)
	if !ok {
		return usage(missingCommand(parsed.Selected()) + "; see askback hook --help")
	}
	return answerHook(ctx, in, all, command)
}

// A runningHook answers one hook of an agent.
type runningHook struct {
	all     *commands
	command hook.Command
	traits  hook.Traits
	guard   atomic.Int64 // a [hook.Guard]
}

// answerHook answers one hook: it reads the event, waits for the decision, prints it and then
// acknowledges it. Without a decision it prints nothing and exits with 0, so that the agent follows
// its own rules, unless the hook is a guard.
func answerHook(ctx context.Context, in streams, all *commands, command hook.Command) error {
	h := &runningHook{all: all, command: command, traits: command.Traits()}
	h.guard.Store(int64(h.traits.Guard))
	if h.traits.EndsWithParent {
		limited, cancel := whileParentLives(ctx)
		defer cancel()
		ctx = limited
	}
	if !h.traits.Limited {
		return h.answer(ctx, in)
	}
	end := func() error { return h.end(in, nil, errNoDecision) }
	return withinLimit(ctx, in, h.traits.Limit, end, h.answer)
}

// end returns the result of the hook. err is an error before the decision, and unwritten is an error of
// printing the decision.
func (h *runningHook) end(in streams, unwritten, err error) error {
	guard := hook.Guard(h.guard.Load())
	if guard == hook.BlockNothing && (errors.Is(err, hook.ErrForeign) || errors.Is(err, hook.ErrNotAsked)) {
		return nil
	}
	return endHook(in, guard != hook.BlockNothing, unwritten, err)
}

// answer reads the event, and prints the output of the hook, asks, or withdraws asks, as the job of the event
// requires.
func (h *runningHook) answer(ctx context.Context, in streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	raw, err := h.readEvent(in, cancel)
	if err != nil && h.traits.Line {
		return err
	}
	var job hook.Job
	if err == nil {
		job, err = h.command.Read(raw, hookEnv())
		h.guard.Store(int64(job.Guard))
	}
	switch {
	case err != nil:
		return h.end(in, nil, err)
	case job.Output != nil:
		_, unwritten := in.out.Write(append(job.Output, '\n'))
		return h.end(in, unwritten, nil)
	case job.Call == nil && job.Withdraw == nil:
		return nil
	case job.Call != nil && h.traits.NeedsServer:
		if err := requireServer(ctx, h.all); err != nil {
			return h.end(in, nil, err)
		}
	}
	if job.Wait > 0 {
		limited, late := context.WithTimeout(ctx, job.Wait)
		defer late()
		ctx = limited
	}
	unwritten, err := runHook(ctx, in, h.all, job)
	return h.end(in, unwritten, err)
}

// readEvent reads the event of a hook. If the event is a line, readEvent calls ended at the end of the input.
func (h *runningHook) readEvent(in streams, ended func()) ([]byte, error) {
	noteReading(in)
	if !h.traits.Line {
		raw, err := io.ReadAll(io.LimitReader(in.in, hook.MaxEvent+1))
		if err == nil && len(raw) > hook.MaxEvent {
			err = fmt.Errorf("the event is longer than %d bytes", hook.MaxEvent)
		}
		return raw, err
	}
	lines := bufio.NewReader(in.in)
	raw, err := readLine(lines)
	if err == nil {
		go func() {
			_, _ = io.Copy(io.Discard, lines) // until the agent closes the input or ends
			ended()
		}()
	}
	return raw, err
}

// hookEnv returns the environment of a hook on this machine.
func hookEnv() hook.Env {
	home, _ := os.UserHomeDir() // without a home folder, there are no settings
	return hook.Env{Home: home, Getenv: os.Getenv, ReadFile: agents.ReadFile, Server: ownServer, Followed: isFollowed}
}

// exitBlock is the exit code with which a hook makes an agent block the tool call.
const exitBlock = 2

// endHook returns the result of a hook command. err is an error before the decision, and unwritten is an
// error of printing the decision. Unless strict is true, err is only a note on standard error.
func endHook(in streams, strict bool, unwritten, err error) error {
	switch {
	case err != nil && strict:
		return exitError{exitBlock, "Askback could not ask about this call: " + withoutRoute(err)}
	case unwritten != nil && strict:
		return exitError{exitBlock, "the decision could not be written: " + unwritten.Error()}
	case err != nil:
		note(in.err, withoutRoute(err))
	}
	return unwritten
}

// noteReading prints a note on what the hook reads if standard input is a terminal.
func noteReading(in streams) {
	if terminal.IsTerminal(in.in) {
		note(in.err, "reading an event from standard input, as the agent writes it for its hook; Ctrl+D ends it")
	}
}

// readLine reads a line of at most [hook.MaxEvent] bytes. The last line of the input need not end with a line
// break.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > hook.MaxEvent:
			return nil, errors.New("the event is too long")
		case err == nil || errors.Is(err, io.EOF):
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// runHook connects to Askback, does job, prints the output of the reply and then acknowledges the reply.
// unwritten is an error of printing the output.
func runHook(ctx context.Context, in streams, all *commands, job hook.Job) (unwritten, err error) {
	kind := instance.KindAsk
	if job.Call == nil {
		kind = ""
	}
	conn, err := all.connector(ctx, in.err, kind)
	if err != nil {
		return nil, err
	}
	if _, served := conn.Place().Last(); job.Call == nil && conn.IsLocal() && !served {
		return nil, nil // no server has run here, so no ask is open
	}
	unwritten, err = printReply(ctx, in, conn, job)
	return unwritten, thenClose(streams{err: io.Discard}, conn, err)
}

func printReply(ctx context.Context, in streams, conn *connection.Connector, job hook.Job) (unwritten, err error) {
	reply, err := new(hook.Runner).Do(ctx, "", attending(conn), job)
	switch {
	case err != nil:
		return nil, err
	case reply.Output == nil && job.Guard == hook.BlockUndecided:
		return nil, errNoDecision
	case reply.Output == nil:
		return nil, nil
	}
	if _, unwritten = in.out.Write(append(reply.Output, '\n')); unwritten == nil {
		reply.Ack(ctx)
	}
	return unwritten, nil
}

// An attendingClient records on this machine that a hook waits (see
// [instance.Place.Attend]).
type attendingClient struct {
	hook.Client
	place instance.Place
}

// Wait implements [askback.Asker]. It waits even if it cannot write the record. If the hook is killed then,
// its ask is withdrawn a little later.
func (a attendingClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if done, err := a.place.Attend(id); err == nil {
		defer done()
	}
	return a.Client.Wait(ctx, id)
}
