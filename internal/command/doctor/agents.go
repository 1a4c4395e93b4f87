package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/hosting"
)

// checkAgents checks the hosted agents of the settings: their definitions, the keys of their models, and
// their MCP servers. Each server must start or answer, and must have the tools. It calls no model.
func (d *doctor) checkAgents(ctx context.Context) {
	const check = "agents"
	if d.file.Agents == "" {
		return
	}
	dir, err := hosting.Dir("", d.program.Config, d.file)
	if err != nil {
		d.FailAll(check, "", err)
		return
	}
	agents, err := hosting.Read([]string{dir}, d.file)
	if err != nil {
		d.FailAll(check, "askback agent check prints all problems", err)
		return
	}
	connections, err := hosting.Connect(d.program.Config, d.file)
	if err != nil {
		d.FailAll(check, "correct the model in the settings", err)
		return
	}
	defer connections.Close()
	definitions, err := connections.Definitions(agents)
	if err != nil {
		d.FailAll(check, "askback agent check prints all problems", err)
		return
	}
	for i, definition := range definitions {
		if err := definition.CheckTools(ctx); err != nil {
			d.FailAll(check, "correct "+agents[i].File+" or the server under mcp_servers",
				errors.New(strings.Join(hosting.Located(agents[i], err), "\n")))
			continue
		}
		d.OK(check, "%s is valid, and its tools are there: %s", agents[i].Name, toolsOf(agents[i]))
	}
}

// recipients returns the people and groups in the definitions of hosted agents. checkAgents reports
// definitions that cannot be read.
func (d *doctor) recipients() map[string][]string {
	to := map[string][]string{}
	if d.file.Agents == "" {
		return to
	}
	dir, err := hosting.Dir("", d.program.Config, d.file)
	if err != nil {
		return to
	}
	agents, _ := hosting.Read([]string{dir}, d.file)
	for _, a := range agents {
		if len(a.To) > 0 {
			to[a.Name] = a.To
		}
	}
	return to
}

// toolsOf returns the tools in the definition of an agent.
func toolsOf(a config.Agent) string {
	if len(a.Tools) == 0 {
		return "it has none"
	}
	return strings.Join(a.Tools, ", ")
}
