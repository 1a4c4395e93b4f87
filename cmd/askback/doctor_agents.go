package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/askback/askback/internal/server/config"
)

// checkAgents checks the hosted agents of the settings: their definitions, that their models have
// keys, and that their MCP servers start or answer and have the tools. No model is requested.
func (d *doctor) checkAgents(ctx context.Context) {
	const check = "agents"
	if d.file.Agents == "" {
		return
	}
	dir, err := agentsDir("", d.all.Config, d.file)
	if err != nil {
		d.failAll(check, "", err)
		return
	}
	agents, err := readAgents([]string{dir}, d.file)
	if err != nil {
		d.failAll(check, "askback agent check prints all problems", err)
		return
	}
	h := &hosting{config: d.all.Config, log: slog.New(slog.DiscardHandler)}
	models, idle, err := h.models(d.file)
	if err != nil {
		d.failAll(check, "correct the model in the settings", err)
		return
	}
	defer closeAll(idle)
	servers, _ := h.connect(d.file)
	defer closeServers(servers, nil)
	definitions, err := definitionsOf(agents, models, servers)
	if err != nil {
		d.failAll(check, "askback agent check prints all problems", err)
		return
	}
	for i, definition := range definitions {
		if err := definition.CheckTools(ctx); err != nil {
			d.failAll(check, "correct "+agents[i].File+" or the server under mcp_servers", errors.New(strings.Join(located(agents[i], err), "\n")))
			continue
		}
		d.ok(check, "%s is valid, and its tools are there: %s", agents[i].Name, toolsOf(agents[i]))
	}
}

// recipients returns the people and groups whom the definitions of hosted agents name. Definitions
// that cannot be read are reported by checkAgents.
func (d *doctor) recipients() map[string][]string {
	to := map[string][]string{}
	if d.file.Agents == "" {
		return to
	}
	dir, err := agentsDir("", d.all.Config, d.file)
	if err != nil {
		return to
	}
	agents, _ := readAgents([]string{dir}, d.file)
	for _, a := range agents {
		if len(a.To) > 0 {
			to[a.Name] = a.To
		}
	}
	return to
}

// failAll adds a finding for each line of an error.
func (d *doctor) failAll(check, fix string, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		d.fail(check, fix, "%s", line)
	}
}

// toolsOf returns the tools of an agent, as its definition has them.
func toolsOf(a config.Agent) string {
	if len(a.Tools) == 0 {
		return "it has none"
	}
	return strings.Join(a.Tools, ", ")
}
