package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
)

type initCommand struct {
	Client  string `arg:"" optional:"" complete:"client" help:"Program to set up: ${clients}. Without one: all that are installed, after a question."`
	Project bool   `xor:"scope" help:"Change the files of the project in this folder. This is the default."`
	User    bool   `xor:"scope" help:"Change the files in your home folder, for all projects."`
	Yes     bool   `help:"Without CLIENT: make the changes without a question."`
	DryRun  bool   `name:"dry-run" help:"Show the changes, but do not make them."`
	Remove  bool   `help:"Remove Askback from the files. Without CLIENT: from those of all programs, in this folder and in your home folder."`
	Shared  *bool  `negatable:"" help:"Write Claude Code's hooks into .claude/settings.json, for all people in this project, instead of .claude/settings.local.json. This is the default if they are there."`
	Gate    *bool  `negatable:"" help:"Guard the tools of ${guarded}: block each call unless a person approves it. This is the default if the guard is there."`
	HTTP    *bool  `name:"http" negatable:"" help:"Let Claude Code's hooks call the server instead of this program. This is the default if ASKBACK_URL is set."`
}

// Run adds Askback to the configuration of other programs or, with --remove, removes it.
// It keeps other settings, and a second run changes nothing.
func (c *initCommand) Run(ctx context.Context, io streams, all *commands) error {
	if c.Client == "" {
		return c.runAll(ctx, io, all)
	}
	if !slices.Contains(agentNames(), c.Client) {
		return usage(unknownClient(c.Client))
	}
	p, err := c.plan()
	if errors.Is(err, config.ErrUnsupported) {
		return usage(fmt.Sprintf("init %s, %s files: %v", c.Client, p.scope, err))
	}
	if err != nil {
		return err
	}
	for _, one := range p.changes {
		if err := c.print(io, one, false); err != nil {
			return err
		}
	}
	if !c.DryRun {
		if err := p.write(io); err != nil {
			return err
		}
	}
	if c.Remove {
		note(io.err, c.remaining(p))
	}
	c.conclude(io, p, "")
	plans := []clientPlan{{command: c, plan: p}}
	c.requireServer(ctx, io, all, plans)
	c.askClients(ctx, io, plans, false)
	return nil
}

// A plan is what is to be changed for one client.
type plan struct {
	scope   config.Scope
	options config.Options
	changes []change
}

// plan computes all changes before the first write, so that no file is changed after an error.
func (c *initCommand) plan() (p plan, err error) {
	folder := "."
	p.scope = config.Project
	if c.User {
		p.scope = config.User
		if folder, err = os.UserHomeDir(); err != nil {
			return p, err
		}
	}
	if p.options, err = c.options(p.scope, folder); err != nil {
		return p, err
	}
	files, err := c.config().FilesFor(p.scope, p.options)
	if err != nil {
		return p, err
	}
	known, err := readRecords()
	if err != nil {
		return p, err
	}
	for _, f := range files {
		one, err := changeOf(folder, p.scope, f, known)
		if err != nil {
			return p, err
		}
		if one.before != nil || !f.Removes() || c.Remove {
			p.changes = append(p.changes, one)
		}
	}
	return p, nil
}

// write makes the changes of a plan, and writes a note for each.
func (p plan) write(io streams) error {
	known, err := readRecords()
	if err != nil {
		return err
	}
	for _, one := range p.changes {
		if err != nil || !one.differs() {
			continue
		}
		if err = one.write(known); err == nil {
			note(io.err, one.done())
		}
	}
	return errors.Join(err, known.write())
}

// conclude writes the next steps. After a dry run it writes only that nothing was changed,
// and after --remove nothing. Each note begins with prefix.
func (c *initCommand) conclude(io streams, p plan, prefix string) {
	scope, options := p.scope, p.options
	switch {
	case c.DryRun:
		note(io.err, prefix+"nothing was changed (--dry-run)")
		return
	case c.Remove:
		return
	case options.URL != "" && !c.config().AsksForToken && os.Getenv(config.TokenVariable) == "":
		note(io.err, prefix+config.TokenVariable+" must be set to an agent's token when the client starts: askback token create --kind agent --name NAME")
	}
	for _, todo := range c.config().NextSteps(scope, options) {
		note(io.err, prefix+todo)
	}
	if c.Client == claudecode.Name && scope == config.Project && !options.Shared && isUnignored(".claude/settings.local.json") {
		note(io.err, prefix+"Git ignores .claude/settings.local.json as soon as Claude Code has started here once; do not commit it before")
	}
}

// isUnignored reports whether Git would add a file of the project in this folder. Without Git
// or a repository it would not.
func isUnignored(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	err := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "check-ignore", "--quiet", "--", path).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 1 // 128 without a repository
}

// gitTime is how long Git may take to look up one path.
const gitTime = 5 * time.Second

// config returns the configuration of the client, which is known.
func (c *initCommand) config() *config.Client {
	a, _ := agents.Named(c.Client)
	return a.Config
}

func agentNames() []string { return agents.Names(func(agents.Agent) bool { return true }) }

// isGuarded reports whether --gate and --no-gate are valid for an agent.
func isGuarded(a agents.Agent) bool { return a.Config.Guards }

// guardedTitles returns the agents for which --gate is valid, for people.
func guardedTitles() string {
	var titles []string
	for _, a := range agents.All() {
		if isGuarded(a) {
			titles = append(titles, a.Title)
		}
	}
	last := len(titles) - 1
	return strings.Join(titles[:last], ", ") + " or " + titles[last]
}

// options returns how the client reaches Askback: over HTTP if ASKBACK_URL is set,
// otherwise by running this program. For the hooks of Claude Code, --http and --no-http
// override this.
func (c *initCommand) options(scope config.Scope, folder string) (config.Options, error) {
	o := config.Options{Remove: c.Remove, URL: strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")}
	if exe, err := os.Executable(); err == nil && !inPath(exe) {
		o.Command = exe
	}
	if c.Client == claudecode.Name && scope == config.Project {
		o.Shared = c.sharesHooks(folder)
	} else if c.Shared != nil {
		return o, usage("--shared is for the hooks of " + claudecode.Name + " in a project only")
	}
	o.Gate = c.Gate
	switch {
	case !c.config().Guards && c.Gate != nil:
		return o, usage("--gate is for " + strings.Join(agents.Names(isGuarded), ", ") + " only, not for " + c.Client)
	case c.Client != claudecode.Name && c.HTTP != nil:
		return o, usage("--http is for the hooks of " + claudecode.Name + " only, not for " + c.Client)
	case c.Client == claudecode.Name && (c.HTTP == nil && o.URL != "" || c.HTTP != nil && *c.HTTP):
		o.HookURL = cmp.Or(o.URL, "http://"+defaultListen) + claudecode.Path
	}
	return o, nil
}

// sharesHooks reports whether the hooks of Claude Code are for all people in the project. If
// the files of the project cannot be read, a later step reports it.
func (c *initCommand) sharesHooks(folder string) bool {
	if c.Shared != nil {
		return *c.Shared
	}
	settings, _ := agents.ReadFile(filepath.Join(folder, ".claude", "settings.json"))
	return claudecode.SharesHooks(settings)
}

// inPath reports whether exe is named askback and is in a directory of PATH.
func inPath(exe string) bool {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	return filepath.Base(exe) == "askback" && slices.Contains(dirs, filepath.Dir(exe))
}
