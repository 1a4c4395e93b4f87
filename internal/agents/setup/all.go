package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
)

// A clientPlan is the plan of a client.
type clientPlan struct {
	setup  *Setup
	plan   plan
	reason string // the trace that shows that the client is installed, or the place of its files after --remove
}

// runAll adds Askback to all installed clients, or removes Askback from all clients. It first shows the
// changes, and asks the person to agree. If the files of a client cannot be changed, it continues with the
// other clients.
func (c *Setup) runAll(ctx context.Context) error {
	if c.Shared != nil || c.HTTP != nil || c.Gate != nil {
		return usageError("--shared, --http and --gate are for one client: name it")
	}
	plans, failed := c.plans()
	for _, p := range plans {
		c.Note(p.setup.Agent + " (" + p.reason + "):")
		for _, one := range p.plan.changes {
			if err := p.setup.print(one, true); err != nil {
				return err
			}
		}
	}
	files := c.listChanges(plans)
	switch {
	case files == 0 && failed != nil:
		return failed
	case files == 0:
		c.Note("there is nothing to change")
	case c.DryRun:
		c.Note("nothing was changed (--dry-run)")
		return failed
	default:
		if err := c.Agree(ctx, c.question(files)); err != nil {
			return err
		}
	}
	for _, p := range plans {
		if err := c.write(p.plan); err != nil {
			return fmt.Errorf("%s: %w", p.setup.Agent, err)
		}
		p.setup.conclude(p.plan, p.setup.Agent+": ")
	}
	c.requireServer(ctx, plans)
	c.askClients(ctx, plans, true)
	return failed
}

// plans returns the plans of the installed clients, or with --remove the plans of all clients. failed is an
// error if a client's files cannot be changed.
func (c *Setup) plans() (plans []clientPlan, failed error) {
	seen := map[string]bool{} // files that an earlier plan has: the home folder can be the folder of the project
	for _, client := range Names() {
		reason := installed(client)
		if reason == "" && !c.Remove {
			continue
		}
		for _, user := range c.scopes() {
			one := *c
			one.Agent, one.User = client, user
			p, err := one.plan()
			if errors.Is(err, config.ErrUnsupported) {
				if !c.Remove {
					c.Note(client + ": " + err.Error())
				}
				continue
			}
			if err != nil {
				c.Note(client + ": " + err.Error())
				failed = usageError("not every client could be set up")
				if c.Remove {
					failed = usageError("Askback could not be removed from every file")
				}
				continue
			}
			if c.Remove {
				reason = map[bool]string{false: "in this folder", true: "in your home folder"}[user]
				p.changes = slices.DeleteFunc(p.changes,
					func(one change) bool { return !one.differs() || seen[agents.RealPath(one.path)] })
			}
			for _, one := range p.changes {
				seen[agents.RealPath(one.path)] = true
			}
			if len(p.changes) > 0 {
				plans = append(plans, clientPlan{&one, p, reason})
			}
		}
	}
	if len(plans) == 0 && failed == nil && !c.Remove {
		failed = usageError("no supported agent was found in the PATH or in your home folder; to name one, run " +
			"askback init NAME, where NAME is one of " + strings.Join(Names(), ", "))
	}
	return plans, failed
}

// scopes returns the values of --user for which the files of all clients are changed. Without --user or
// --project, --remove uses both values.
func (c *Setup) scopes() []bool {
	if c.Both {
		return []bool{false, true}
	}
	return []bool{c.User}
}

// remaining returns a note if the files of the other scope have Askback after --remove, or "".
func (c *Setup) remaining(done plan) string {
	other := *c
	other.User, other.Shared = !c.User, nil
	p, err := other.plan()
	if err != nil {
		return "" // the client has no files in the other scope, or askback init has not written these files
	}
	var paths []string
	for _, one := range p.changes {
		if one.differs() && !slices.ContainsFunc(done.changes, func(other change) bool {
			return agents.RealPath(other.path) == agents.RealPath(one.path)
		}) {
			paths = append(paths, agents.HomePath(one.path))
		}
	}
	if len(paths) == 0 {
		return ""
	}
	have := " still have"
	if len(paths) == 1 {
		have = " still has"
	}
	flag := " --user"
	if c.User {
		flag = " --project"
	}
	return strings.Join(paths, " and ") + have + " Askback: askback init " + c.Agent + " --remove" + flag
}

// tracesOf returns the traces of an agent.
func tracesOf(client string) config.Traces {
	a, _ := agents.Named(client)
	return a.Config.Traces
}

// installed returns the trace that shows that a client is installed, or "".
func installed(client string) string {
	t := tracesOf(client)
	for _, name := range t.Programs {
		if _, err := exec.LookPath(name); err == nil {
			return name + " is in the PATH"
		}
	}
	home, err := os.UserHomeDir()
	for _, name := range t.Home {
		if _, missing := os.Stat(filepath.Join(home, filepath.FromSlash(name))); err == nil && missing == nil {
			return "~/" + name + " exists"
		}
	}
	return ""
}
