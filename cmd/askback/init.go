package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback/internal/agents/setup"
	"github.com/askback/askback/internal/command/doctor"
	"github.com/askback/askback/terminal"
)

type initCommand struct {
	Client  string `arg:"" optional:"" complete:"client" help:"Set up this program: ${clients}. By default, set up every installed program after you have confirmed."`
	Project bool   `xor:"scope" help:"Change the files of the project in this folder. This is the default."`
	User    bool   `xor:"scope" help:"Change the files in your home folder, for all projects."`
	Yes     bool   `help:"Make the changes without asking for confirmation."`
	DryRun  bool   `name:"dry-run" help:"Show the changes, but do not make them."`
	Remove  bool   `help:"Remove Askback from the files. Without CLIENT, remove it for every program, in this folder and your home folder."`
	Shared  *bool  `negatable:"" help:"Write Claude Code's hooks into .claude/settings.json, which the project shares, instead of .claude/settings.local.json. This is the default if they are there."`
	Gate    *bool  `negatable:"" help:"Block each tool call of ${guarded} unless a person approves it. By default, an installed block stays."`
	HTTP    *bool  `name:"http" negatable:"" help:"Let Claude Code's hooks call the server instead of this program. This is the default if ASKBACK_URL is set."`
}

// Run adds Askback to the configuration of other programs or, with --remove, removes it.
func (c *initCommand) Run(ctx context.Context, io streams, all *commands) error {
	s := &setup.Setup{
		Options: setup.Options{
			Agent: c.Client, User: c.User, DryRun: c.DryRun, Remove: c.Remove, Both: c.Remove && !c.Project && !c.User,
			Shared: c.Shared, Gate: c.Gate, HTTP: c.HTTP,
		},
		Listen: defaultListen, StateDir: stateDir,
		Note: func(text string) { note(io.err, text) },
		Print: func(text string) error {
			_, err := fmt.Fprint(io.out, plain(io.out, text))
			return err
		},
		Agree:         func(ctx context.Context, question string) error { return c.agree(ctx, io, question) },
		MissingServer: func(ctx context.Context) string { return doctor.MissingServer(ctx, all.strictConnector) },
	}
	err := s.Run(ctx)
	if e, ok := errors.AsType[*setup.Error](err); ok && e.Usage {
		return usage(e.Text)
	} else if ok {
		return exitError{exitRefused, e.Text}
	}
	return err
}

// agree asks the person at the terminal whether to make the changes that were shown. Without a terminal, it
// requires --yes.
func (c *initCommand) agree(ctx context.Context, io streams, question string) error {
	if c.Yes {
		return nil
	}
	if io.in == nil || !terminal.IsTerminal(io.in) {
		return exitError{exitNo, "nothing was changed; to make these changes without a terminal, add --yes"}
	}
	_, _ = fmt.Fprint(io.err, "askback: "+question)
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-typed:
		if strings.EqualFold(line, "yes") || strings.EqualFold(line, "y") {
			return nil
		}
	}
	return exitError{exitNo, "nothing was changed"}
}
