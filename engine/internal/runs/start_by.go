package runs

import (
	"context"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
)

// A RestrictedRunner is a [Runner] with agents that only some principals may start.
type RestrictedRunner interface {
	// StartBy returns the principals that may start the runs of an agent and write to them. The names are
	// people, groups after "@", tokens of agents after "token:", and hosted agents after "agent:". Such a
	// hosted agent starts the agent as a sub-agent. If restricted is false, every principal may start the
	// agent. The agent's schedule, its signed webhooks and the agent itself need no name.
	StartBy(agent string) (names []string, restricted bool)
}

// hostedPrincipal returns the principal of a hosted agent.
func hostedPrincipal(agent string) askback.Principal {
	return askback.Principal{Kind: askback.Agent, Name: askback.HostedPrefix + agent, Channel: askback.ChannelAPI}
}

// hosted returns the client with which a hosted agent acts. No token can have the name of its principal.
func (e *Service) hosted(agent string) *Client {
	c := e.DB.As(hostedPrincipal(agent))
	return &Client{e, &c}
}

// mayStart returns [askback.ErrStartBy] unless the principal may start an agent.
func (c *Client) mayStart(ctx context.Context, agent string) error {
	r, ok := c.service.Runner.(RestrictedRunner)
	if !ok || c.Who.Kind == askback.Agent && c.Who.Name == askback.HostedPrefix+agent {
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

// startNames returns the names of the principal in start_by. A token of an agent may have the name of a
// person, but does not count as that person.
func (c *Client) startNames(ctx context.Context) ([]string, error) {
	if c.Who.Kind == askback.Agent {
		if agent, hosted := strings.CutPrefix(c.Who.Name, askback.HostedPrefix); hosted {
			return []string{directory.AgentPrefix + agent}, nil
		}
		return []string{directory.TokenPrefix + c.Who.Name}, nil
	}
	s, err := c.service.Current(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	if directory.IsPerson(c.Who.Name) { // a person named token:ci is not the token
		names = append(names, c.Who.Name)
	}
	for _, group := range s.GroupsOf(c.Who.Name) {
		names = append(names, "@"+group)
	}
	return names, nil
}
