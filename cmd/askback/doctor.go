package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/askback/askback/internal/command/doctor"
	"github.com/askback/askback/internal/server/config"
)

type doctorCommand struct {
	PublicURL string `name:"public-url" placeholder:"URL" help:"Also check the server at this address, as a phone reaches it: certificate, log-in and event streams."`
	Lanes     bool   `help:"Also ask through each agent that is configured here or for this user, by MCP and by its hooks, and answer it."`
	JSON      bool   `name:"json" help:"Print the findings as JSON."`
}

// Run prints the findings of all checks. It returns an error if one of them is a failure.
func (c *doctorCommand) Run(ctx context.Context, io streams, all *commands) error {
	found := doctor.Check(ctx, doctor.Program{
		Config: all.Config, Listen: defaultListen, Settings: all.settings, Database: all.database, StateDir: stateDir, Connector: all.connector,
		EngineSettings: engineSettings, CheckIssuer: checkIssuer, Origin: origin, CheckAgents: all.checkAgents, Recipients: all.recipients,
	}, doctor.Options{PublicURL: c.PublicURL, Lanes: c.Lanes})
	var err error
	if c.JSON {
		err = printJSON(io.out, map[string]doctor.Findings{"checks": found})
	} else {
		err = found.Write(io.out)
	}
	if err == nil && found.Failed() {
		err = exitError{code: exitNo}
	}
	return err
}

// checkAgents checks the hosted agents of the settings: their definitions, that their models have
// keys, and that their MCP servers start or answer and have the tools. No model is requested.
func (all *commands) checkAgents(ctx context.Context, file config.Config) (found doctor.Findings) {
	const check = "agents"
	if file.Agents == "" {
		return found
	}
	dir, err := agentsDir("", all.Config, file)
	if err != nil {
		found.FailAll(check, "", err)
		return found
	}
	agents, err := readAgents([]string{dir}, file)
	if err != nil {
		found.FailAll(check, "askback agent check prints all problems", err)
		return found
	}
	h := &hosting{config: all.Config, log: slog.New(slog.DiscardHandler)}
	models, idle, err := h.models(file)
	if err != nil {
		found.FailAll(check, "correct the model in the settings", err)
		return found
	}
	defer closeAll(idle)
	servers, _ := h.connect(file)
	defer closeServers(servers, nil)
	definitions, err := definitionsOf(agents, models, servers)
	if err != nil {
		found.FailAll(check, "askback agent check prints all problems", err)
		return found
	}
	for i, definition := range definitions {
		if err := definition.CheckTools(ctx); err != nil {
			found.FailAll(check, "correct "+agents[i].File+" or the server under mcp_servers", errors.New(strings.Join(located(agents[i], err), "\n")))
			continue
		}
		found.OK(check, "%s is valid, and its tools are there: %s", agents[i].Name, toolsOf(agents[i]))
	}
	return found
}

// recipients returns the people and groups whom the definitions of hosted agents name. Definitions
// that cannot be read are reported by checkAgents.
func (all *commands) recipients(file config.Config) map[string][]string {
	to := map[string][]string{}
	if file.Agents == "" {
		return to
	}
	dir, err := agentsDir("", all.Config, file)
	if err != nil {
		return to
	}
	agents, _ := readAgents([]string{dir}, file)
	for _, a := range agents {
		if len(a.To) > 0 {
			to[a.Name] = a.To
		}
	}
	return to
}

// toolsOf returns the tools of an agent, as its definition has them.
func toolsOf(a config.Agent) string {
	if len(a.Tools) == 0 {
		return "it has none"
	}
	return strings.Join(a.Tools, ", ")
}
