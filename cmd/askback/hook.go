package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/terminal"
)

type hookCommand struct {
	Claude   hookClaude   `cmd:"" name:"claude-code" help:"Read the event of a hook of Claude Code from standard input, ask, and print the decision."`
	Codex    hookCodex    `cmd:"" name:"codex" help:"Read the event of a hook of Codex from standard input, ask, and print the decision."`
	Cursor   hookCursor   `cmd:"" name:"cursor" help:"Read the event of a hook of Cursor from standard input, ask, and print the decision."`
	Gemini   hookGemini   `cmd:"" name:"gemini" help:"Read the event of a hook of Gemini CLI from standard input, ask, and print the decision."`
	OpenCode hookOpenCode `cmd:"" name:"opencode" help:"Read an event of Askback's plugin for OpenCode from standard input, ask, and print the reply."`
	Copilot  hookCopilot  `cmd:"" name:"copilot" help:"Read the event of a hook of GitHub Copilot CLI from standard input, ask, and print the decision."`
}

type hookClaude struct {
	Defer  time.Duration `default:"${patience}" help:"Wait this long for an answer in a run of claude -p; then the run ends, and can be resumed when there is one."`
	Strict bool          `help:"Block the call with exit code 2 if there is an error, instead of showing the dialog of Claude Code."`
}

// exitBlock is the exit code with which a hook makes an agent block the tool call.
const exitBlock = 2

// Run answers one hook. After an error before the decision, it prints no decision and exits
// with 0, so that Claude Code shows its own dialog. With --strict, any error blocks the
// call instead.
func (c *hookClaude) Run(ctx context.Context, in streams, all *commands) error {
	unwritten, err := c.answer(ctx, in, all)
	return endHook(in, c.Strict, unwritten, err)
}

// endHook returns the result of a hook command. err is an error before the decision, and
// unwritten one of printing it. Without strict, err is only a note on standard error.
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

// answer reads the event, waits for the decision, prints it and then acknowledges it. If
// the decision could not be printed, unwritten is the error.
func (c *hookClaude) answer(ctx context.Context, in streams, all *commands) (unwritten, err error) {
	raw, err := readEvent(in)
	if err != nil {
		return nil, err
	}
	ev, err := claudecode.Read(raw, os.Getenv(claudecode.EntrypointVariable))
	if errors.Is(err, claudecode.ErrForeign) || err == nil && c.isForeign(ev) {
		return nil, nil // another program runs this hook, which then must print nothing
	}
	if err != nil {
		return nil, err
	}
	ev.Project = os.Getenv(claudecode.ProjectVariable)
	if out, ok := claudecode.AllowOwnTool(ev); ok {
		_, unwritten = in.out.Write(append(out, '\n'))
		return unwritten, nil
	}
	if settingsHave(ev) {
		return nil, nil
	}
	if claudecode.CannotAsk(ev) {
		return nil, claudecode.ErrCannotAsk
	}
	if _, defers := claudecode.Defer(ev); defers && c.Defer > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Defer)
		defer cancel()
		ctx = limited
	}
	_, asks := claudecode.Request(ev)
	return runHook(ctx, in, all, asks, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
		return claudecode.Run(ctx, new(hook.Runner), "", client, ev)
	})
}

// isForeign reports whether the environment shows that another program runs this hook. A hook
// that must block calls is not silent because a variable is missing.
func (c *hookClaude) isForeign(ev claudecode.Event) bool {
	started := os.Getenv(claudecode.EntrypointVariable) != "" || c.Strict
	return !started || ev.IsInherited(os.Getenv(claudecode.SessionVariable))
}

// settingsHave reports whether Claude Code's plugin runs this hook and the settings have
// another one of Askback for the same event. The plugin's must then do nothing, because Claude
// Code runs both, and people would be asked twice.
func settingsHave(ev claudecode.Event) bool {
	if os.Getenv(claudecode.PluginVariable) == "" {
		return false
	}
	home, _ := os.UserHomeDir() // without one, it has no settings
	for _, folder := range []string{os.Getenv(claudecode.ProjectVariable), home} {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			settings, err := readClientFile(filepath.Join(folder, ".claude", name))
			if folder != "" && err == nil && claudecode.HasHook(settings, ev.Name) {
				return true
			}
		}
	}
	return false
}

// readEvent reads the event of a hook.
func readEvent(in streams) ([]byte, error) {
	noteReading(in)
	raw, err := io.ReadAll(io.LimitReader(in.in, hook.MaxEvent+1))
	if err == nil && len(raw) > hook.MaxEvent {
		err = fmt.Errorf("the event is longer than %d bytes", hook.MaxEvent)
	}
	return raw, err
}

// noteReading writes what a hook waits for, if a person runs it at a terminal.
func noteReading(in streams) {
	if terminal.IsTerminal(in.in) {
		note(in.err, "reading an event from standard input, as the agent writes it for its hook; Ctrl+D ends it")
	}
}

// runHook connects to Askback, calls run, prints the output of its reply and then acknowledges
// it. asks is false for an event that only withdraws earlier asks. If the output could not be
// printed, unwritten is the error.
func runHook(ctx context.Context, in streams, all *commands, asks bool, run func(context.Context, hook.Client) (hook.Reply, error)) (unwritten, err error) {
	kind := instance.KindAsk
	if !asks {
		kind = ""
	}
	conn, err := all.connector(kind)
	if err != nil {
		return nil, err
	}
	if _, served := conn.Place().Last(); !asks && conn.IsLocal() && !served {
		return nil, nil // no server has run here, so no ask is open
	}
	unwritten, err = printReply(ctx, in, conn, run)
	return unwritten, thenClose(streams{err: io.Discard}, conn, err)
}

func printReply(ctx context.Context, in streams, conn *connection.Connector, run func(context.Context, hook.Client) (hook.Reply, error)) (unwritten, err error) {
	reply, err := run(ctx, attending(conn))
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
	hook.Client
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
