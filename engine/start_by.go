package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
)

// A RestrictedRunner is a [Runner] with agents that only some may start.
type RestrictedRunner interface {
	// StartBy returns who may start the runs of an agent and write to them: names of people,
	// groups after "@", tokens of agents after "token:", and hosted agents, which start it as a
	// sub-agent, after "agent:". If restricted is false, everyone may. Its schedule, its signed
	// webhooks and the agent itself need no name.
	StartBy(agent string) (names []string, restricted bool)
}

// hosted returns the client of a hosted agent. No token can have its name.
func (e *Engine) hosted(agent string) *client {
	return &client{e, askback.Principal{Kind: askback.Agent, Name: askback.HostedPrefix + agent, Channel: askback.ChannelAPI}}
}

// mayStart returns [askback.ErrStartBy] unless the principal may start an agent.
func (c *client) mayStart(ctx context.Context, agent string) error {
	r, ok := c.engine.runner.(RestrictedRunner)
	if !ok || c.who.Kind == askback.Agent && c.who.Name == askback.HostedPrefix+agent {
		return nil
	}
	names, restricted := r.StartBy(agent)
	if !restricted {
		return nil
	}
	own, err := c.startNames(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(own, func(name string) bool { return slices.Contains(names, name) }) {
		return askback.ErrStartBy
	}
	return nil
}

// startNames returns the names of the principal in start_by. A token of an agent can have the name
// of a person, but never counts as one.
func (c *client) startNames(ctx context.Context) ([]string, error) {
	if c.who.Kind == askback.Agent {
		if agent, hosted := strings.CutPrefix(c.who.Name, askback.HostedPrefix); hosted {
			return []string{directory.AgentPrefix + agent}, nil
		}
		return []string{directory.TokenPrefix + c.who.Name}, nil
	}
	s, err := c.engine.current(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	if directory.IsPerson(c.who.Name) { // a person named token:ci is not the token
		names = append(names, c.who.Name)
	}
	for _, group := range s.groupsOf(c.who.Name) {
		names = append(names, "@"+group)
	}
	return names, nil
}
