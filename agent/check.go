package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// CheckTools lists the tools of the servers. Its error has a line for each server that does not reply, or
// does not have a tool in Tools. If there is no such server, the error has a line for each pattern that
// matches no tool of the agent.
func (d *Definition) CheckTools(ctx context.Context) error {
	var all []error
	type tool struct{ server, name string }
	var tools []tool
	for _, s := range servers(d) {
		list, err := s.tools(ctx)
		if err != nil {
			all = append(all, fmt.Errorf("agent %s: %w", d.Name, err))
		}
		for _, t := range list {
			tools = append(tools, tool{s.set.Name(), t.Name})
		}
	}
	if len(all) > 0 {
		return errors.Join(all...)
	}
	check := func(key string, patterns []string) {
		for _, p := range patterns {
			if !slices.ContainsFunc(tools, func(t tool) bool { return matches(p, t.server, t.name) }) {
				all = append(all, fmt.Errorf("agent %s: %s: %q matches no tool of the agent", d.Name, key, p))
			}
		}
	}
	check("confirm", d.Confirm)
	check("allow", d.Allow)
	check("dangerous", d.Dangerous)
	return errors.Join(all...)
}
