package engine

import (
	"context"
	"strings"

	"github.com/askback/askback"
)

// HostedAgents implements [askback.Sessions].
func (c *client) HostedAgents(context.Context) ([]askback.HostedAgent, error) {
	if err := c.authorize(askback.ActRun); err != nil {
		return nil, err
	}
	return c.engine.hostedAgents(), nil
}

// hostedAgents returns the agents of the runner, each with the time of its next run.
func (e *Engine) hostedAgents() []askback.HostedAgent {
	if e.runner == nil {
		return nil
	}
	all := e.runner.Agents()
	if s, ok := e.runner.(Scheduler); ok {
		for i, a := range all {
			if a.Schedule != "" {
				all[i].NextRun = s.NextRun(a.Name, e.clock()).UTC()
			}
		}
	}
	return all
}

// agentNames returns a sentence with the names of the first hosted agents.
func (e *Engine) agentNames() string {
	const most = 20
	var names []string
	for i, a := range e.runner.Agents() {
		if i == most {
			names = append(names, "and others")
			break
		}
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return "add the definition of one"
	}
	return "name one of " + strings.Join(names, ", ")
}
