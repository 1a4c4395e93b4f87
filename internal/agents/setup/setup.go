// Package setup adds Askback to the files of agents on this machine, and removes it. It shows each change,
// records how to undo it, and rejects a change that it cannot make reliably.
package setup

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

// Options are the options of a set-up.
type Options struct {
	Agent  string // "" means all installed agents
	User   bool   // change the files in the home folder, not the files of the project in the working directory
	DryRun bool   // only show the changes
	Remove bool   // remove Askback instead
	// Both is set to remove Askback from the files of all agents in both places.
	Both bool
	// Shared, Gate and HTTP, if not nil, override the values of the files and the environment: see
	// [config.Options].
	Shared, Gate, HTTP *bool
}

// A Setup adds Askback to the files of agents, or removes it.
type Setup struct {
	Options
	Listen   string                 // the default address of the server
	StateDir func() (string, error) // the folder that contains the records of the changes
	Print    func(text string) error
	Note     func(text string) // prints a note about a change or a next step; it ignores ""
	// Agree asks the person whether to make the changes. An error ends the set-up.
	Agree func(ctx context.Context, question string) error
	// MissingServer returns why no server answers, or "".
	MissingServer func(ctx context.Context) string
}

// An Error is an error that a person can correct.
type Error struct {
	Text  string
	Usage bool // an option or a file is wrong
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func usageError(text string) error { return &Error{text, true} }

// Run adds Askback to the files of an agent or, with Remove, removes it. It keeps other settings, and a
// second run changes nothing. The error can be an *[Error].
func (c *Setup) Run(ctx context.Context) error {
	if c.Agent == "" {
		return c.runAll(ctx)
	}
	if !slices.Contains(Names(), c.Agent) {
		return usageError(unknownClient(c.Agent))
	}
	p, err := c.plan()
	if errors.Is(err, config.ErrUnsupported) {
		return usageError(fmt.Sprintf("init %s, %s files: %v", c.Agent, p.scope, err))
	}
	if err != nil {
		return err
	}
	for _, one := range p.changes {
		if err := c.print(one, false); err != nil {
			return err
		}
	}
	if !c.DryRun {
		if err := c.write(p); err != nil {
			return err
		}
	}
	if c.Remove {
		c.Note(c.remaining(p))
	}
	c.conclude(p, "")
	plans := []clientPlan{{setup: c, plan: p}}
	c.requireServer(ctx, plans)
	c.askClients(ctx, plans, false)
	return nil
}

// A plan contains the changes for one client.
type plan struct {
	scope   config.Scope
	options config.Options
	changes []change
}

// plan computes all changes before the first write, so that no file is changed after an error.
func (c *Setup) plan() (p plan, err error) {
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
	known, err := c.readRecords()
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

// write makes the changes of a plan, and prints a note for each.
func (c *Setup) write(p plan) error {
	known, err := c.readRecords()
	if err == nil {
		err = c.copyProgram(p)
	}
	if err != nil {
		return err
	}
	for _, one := range p.changes {
		if err != nil || !one.differs() {
			continue
		}
		if err = one.write(known); err == nil {
			c.Note(one.done())
		}
	}
	err = errors.Join(err, c.writeRecords(known))
	if err == nil {
		err = c.removeCopy(known)
	}
	return err
}

// conclude prints the next steps. After a dry run it prints only that nothing was changed, and after --remove
// nothing. Each note begins with prefix.
func (c *Setup) conclude(p plan, prefix string) {
	scope, options := p.scope, p.options
	switch {
	case c.DryRun:
		c.Note(prefix + "nothing was changed (--dry-run)")
		return
	case c.Remove:
		return
	case options.URL != "" && !c.config().AsksForToken && os.Getenv(config.TokenVariable) == "":
		c.Note(prefix + config.TokenVariable +
			" must be set to an agent's token when the client starts: askback token add --kind agent --name NAME")
	}
	for _, todo := range c.config().NextSteps(scope, options) {
		c.Note(prefix + todo)
	}
	if c.Agent == claudecode.Name && scope == config.Project && !options.Shared &&
		isUnignored(".claude/settings.local.json") {
		c.Note(prefix + "Git ignores .claude/settings.local.json as soon as Claude Code has started here once; do " +
			"not commit it before")
	}
}

// isUnignored reports whether Git would add a file of the project in this folder. It returns false without
// Git or a repository.
func isUnignored(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	err := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "check-ignore", "--quiet", "--", path).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 1 // the code is 128 without a repository
}

// gitTime is the time limit for Git to check one path.
const gitTime = 5 * time.Second

// config returns the configuration of the client, whose name must be known.
func (c *Setup) config() *config.Client {
	a, _ := agents.Named(c.Agent)
	return a.Config
}

// Names returns the names of the agents that can be set up, sorted.
func Names() []string { return agents.Names(func(agents.Agent) bool { return true }) }

// isGuarded reports whether --gate and --no-gate are valid for an agent.
func isGuarded(a agents.Agent) bool { return a.Config.Guards }

// GuardedTitles returns the titles of the agents for which --gate is valid, as text for people.
func GuardedTitles() string {
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
func (c *Setup) options(scope config.Scope, folder string) (config.Options, error) {
	o := config.Options{Remove: c.Remove, URL: strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")}
	if whole, err := filepath.Abs(folder); err == nil {
		o.Folder = whole
	}
	command, err := c.command()
	if err != nil {
		return o, err
	}
	o.Command = command
	if c.Agent == claudecode.Name && scope == config.Project {
		o.Shared = c.sharesHooks(folder)
	} else if c.Shared != nil {
		return o, usageError("--shared is for the hooks of " + claudecode.Name + " in a project only")
	}
	o.Gate = c.Gate
	switch {
	case !c.config().Guards && c.Gate != nil:
		return o,
			usageError("--gate is for " + strings.Join(agents.Names(isGuarded), ", ") + " only, not for " + c.Agent)
	case c.Agent != claudecode.Name && c.HTTP != nil:
		return o, usageError("--http is for the hooks of " + claudecode.Name + " only, not for " + c.Agent)
	case c.Agent == claudecode.Name && (c.HTTP == nil && o.URL != "" || c.HTTP != nil && *c.HTTP):
		o.HookURL = cmp.Or(o.URL, "http://"+c.Listen) + claudecode.Path
	}
	return o, nil
}

// sharesHooks reports whether the hooks of Claude Code are for all people in the project. If the files of the
// project cannot be read, a later step reports the error.
func (c *Setup) sharesHooks(folder string) bool {
	if c.Shared != nil {
		return *c.Shared
	}
	settings, _ := agents.ReadFile(filepath.Join(folder, ".claude", "settings.json"))
	return claudecode.SharesHooks(settings)
}
