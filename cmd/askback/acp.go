package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/acp"
	"github.com/askback/askback/internal/local/instance"
)

type acpCommand struct {
	Command []string `arg:"" passthrough:"" help:"Run this agent, a program that speaks the Agent Client Protocol. Write -- before it."`
}

const (
	// agentEnd is how long an agent may take to end after its input was closed.
	agentEnd = 10 * time.Second
	// outputEnd is how long to wait for the end of an agent's output after the agent has ended. Another
	// process that the agent started may still have the output open.
	outputEnd = 2 * time.Second
)

// Run forwards messages between the editor, on standard input and output, and the agent, until the agent
// ends. It returns the exit code of the agent.
func (c *acpCommand) Run(ctx context.Context, streams streams, all *commands) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return usage("the command of the agent is missing; see askback acp --help")
	}
	conn, err := all.connector(ctx, streams.err, instance.KindAsk)
	if err != nil {
		return err
	}
	p := &acp.Proxy{
		Asks: attending(conn), Command: programName(c.Command), Run: rand.Text(), Program: agents.OverACP,
		Note: func(text string) { note(streams.err, text) },
	}
	return thenClose(streams, conn, runAgent(ctx, p, streams, c.Command))
}

// launchers lists the programs that run another program, which is their first argument that is neither a flag
// nor one of the words in launcherWords.
var (
	launchers = []string{
		"npx", "npm", "pnpm", "yarn", "bun", "bunx", "node", "deno", "uv", "uvx", "pipx", "python", "python3", "env",
	}
	launcherWords = []string{"exec", "dlx", "run", "x", "tool"}
)

// programName returns the name of the program that a command runs: the last part of its path or of the name
// of its package, without a version and an extension.
func programName(command []string) string {
	name := command[0]
	if slices.Contains(launchers, filepath.Base(name)) {
		i := slices.IndexFunc(command[1:], func(arg string) bool {
			return !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && !slices.Contains(launcherWords, arg)
		})
		if i >= 0 {
			name = command[1+i]
		}
	}
	name = filepath.Base(name)
	if at := strings.LastIndex(name, "@"); at > 0 {
		name = name[:at]
	}
	for _, extension := range []string{".exe", ".cmd", ".js", ".mjs", ".cjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, extension)
	}
	return name
}

// runAgent runs the agent behind a proxy. When the agent ends, its asks are withdrawn.
func runAgent(ctx context.Context, p *acp.Proxy, streams streams, command []string) error {
	agent := exec.CommandContext(ctx, command[0], command[1:]...)
	agent.Cancel = func() error { return agent.Process.Signal(syscall.SIGTERM) }
	agent.WaitDelay = agentEnd
	agent.Stderr = os.Stderr
	toAgent, err := agent.StdinPipe()
	if err != nil {
		return err
	}
	// Unlike the pipe that StdoutPipe returns, this pipe can be read after Wait, and Wait does not wait for
	// its end.
	fromAgent, output, err := os.Pipe()
	if err != nil {
		return err
	}
	agent.Stdout = output
	err = agent.Start()
	_ = output.Close()
	if err != nil {
		_ = fromAgent.Close()
		return fmt.Errorf("start the agent: %w", err)
	}
	p.Start(toAgent, streams.out)
	defer watch(ctx, p)()
	ended, forwarded := make(chan struct{}), make(chan struct{})
	go func() {
		note(streams.err, messagesEnded("the editor", p.FromEditor(streams.in)))
		p.Close()
		_ = toAgent.Close()
		select {
		case <-ended:
		case <-time.After(agentEnd):
			note(streams.err, "the agent did not exit after the end of its input, so it is killed")
			_ = agent.Process.Kill()
		}
	}()
	go func() {
		defer close(forwarded)
		err := p.FromAgent(ctx, fromAgent)
		note(streams.err, messagesEnded("the agent", err))
		if err != nil {
			_ = agent.Process.Kill() // the agent cannot continue without its output
		}
	}()
	result := agent.Wait()
	close(ended)
	p.Close()
	select {
	case <-forwarded:
	case <-time.After(outputEnd):
	}
	return agentResult(result)
}

// watch prints a note when Askback cannot be reached, until stop is called.
func watch(ctx context.Context, p *acp.Proxy) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { p.Watch(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// messagesEnded describes an error that ended the messages of one side. It returns "" if there was no such
// error.
func messagesEnded(side string, err error) string {
	if err == nil || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return ""
	}
	return "the messages of " + side + " have ended: " + err.Error()
}

// agentResult returns an error with the exit code of the agent. If a signal ended the agent, the code is 128
// plus the number of the signal, as in shells.
func agentResult(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError{128 + int(status.Signal()), "the agent was ended by the signal " + status.Signal().String()}
	}
	return exitError{exit.ExitCode(), ""}
}
