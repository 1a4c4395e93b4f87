// Package agents lists the coding agents that Askback supports. Each agent has a folder here, and a row in
// the list. Commands, labels, documents and askback doctor read the list. The packages hook, dialog and
// config contain the code that the agents share. The package acp connects any agent that an editor runs.
package agents

import (
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents/acp"
	"github.com/askback/askback/internal/agents/antigravity"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/copilot"
	"github.com/askback/askback/internal/agents/cursor"
	"github.com/askback/askback/internal/agents/gemini"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/opencode"
	"github.com/askback/askback/internal/agents/vscode"
	"github.com/askback/askback/internal/wire/compat"
)

// An Agent is a coding agent.
type Agent struct {
	Name  string // the name in commands such as askback init NAME, and in the labels of asks
	Title string // the name for people
	// MCP is the beginning of the agent's name as an MCP client, in lower case, or "".
	MCP string
	// MCPWait is how long a tool call over MCP may wait, because the agent ends longer calls. It is 0 if no
	// limit is known.
	MCPWait time.Duration
	// ACP is a part of the agent's name in the Agent Client Protocol, in lower case, or "".
	ACP string
	// Config describes the configuration of the agent.
	Config *config.Client
	// Dialect is the format of the agent's own tool for questions, or nil.
	Dialect *compat.Client
	// Hook is the type of the command askback hook NAME, as a nil pointer. Hook is nil for an agent without
	// hooks.
	Hook hook.Command
	// HookHelp is the help of the command askback hook NAME, or "" for the help that most agents share.
	HookHelp string
	// Canaries returns the questions that askback doctor asks through a hook. It is nil for an agent without
	// hooks.
	Canaries func(config.Hook) []hook.Canary
}

// list has a row for each agent, sorted by name.
var list = []Agent{
	{Name: antigravity.Name, Title: "Antigravity", Config: &antigravity.Config},
	{
		Name: claudecode.Name, Title: "Claude Code", MCP: "claude-code", ACP: "claude",
		Config: &claudecode.Config, Dialect: &claudecode.Dialect, Hook: (*claudecode.Hook)(nil),
		Canaries: claudecode.Canaries,
	},
	{
		Name: codex.Name, Title: "Codex", MCP: "codex", MCPWait: 240 * time.Second, ACP: "codex",
		Config: &codex.Config, Dialect: &codex.Dialect, Hook: (*codex.Hook)(nil), Canaries: codex.Canaries,
	},
	{
		Name: copilot.Name, Title: "GitHub Copilot CLI", MCP: "copilot", ACP: "copilot",
		Config: &copilot.Config, Hook: (*copilot.Hook)(nil), Canaries: copilot.Canaries,
	},
	{
		Name: cursor.Name, Title: "Cursor", MCP: "cursor", ACP: "cursor",
		Config: &cursor.Config, Hook: (*cursor.Hook)(nil), Canaries: cursor.Canaries,
	},
	{
		Name: gemini.Name, Title: "Gemini CLI", MCP: "gemini-cli", MCPWait: 9 * time.Minute, ACP: "gemini",
		Config: &gemini.Config, Dialect: &gemini.Dialect, Hook: (*gemini.Hook)(nil), Canaries: gemini.Canaries,
	},
	{
		Name: opencode.Name, Title: "OpenCode", MCP: "opencode", ACP: "opencode",
		Config: &opencode.Config, Dialect: &opencode.Dialect, Hook: (*opencode.Hook)(nil), Canaries: opencode.Canaries,
		HookHelp: "Read an event of Askback's plugin for OpenCode from standard input, ask, and print the reply.",
	},
	{
		Name: vscode.Name, Title: "Visual Studio Code", MCP: "visual studio code", Config: &vscode.Config,
		Dialect: &vscode.Dialect,
	},
}

// All returns the agents, sorted by name.
func All() []Agent { return slices.Clone(list) }

// Names returns the names of the agents for which keep returns true, sorted.
func Names(keep func(Agent) bool) (names []string) {
	for _, a := range list {
		if keep(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Named returns the agent with this name, and whether the agent exists.
func Named(name string) (Agent, bool) {
	return find(func(a Agent) bool { return a.Name == name })
}

// OverMCP returns the agent whose MCP name is a prefix of client, and whether such an agent exists. It
// ignores case.
func OverMCP(client string) (Agent, bool) {
	client = strings.ToLower(client)
	return find(func(a Agent) bool { return a.MCP != "" && strings.HasPrefix(client, a.MCP) })
}

// OverACP returns the name of the agent whose ACP name is a part of agent, or "". It ignores case.
func OverACP(agent string) string {
	agent = strings.ToLower(agent)
	a, _ := find(func(a Agent) bool { return a.ACP != "" && strings.Contains(agent, a.ACP) })
	return a.Name
}

// Dialects returns the formats of the tools with which agents and other programs ask, sorted by name.
func Dialects() []compat.Client {
	all := compat.Clients()
	for _, a := range list {
		if a.Dialect != nil {
			all = append(all, *a.Dialect)
		}
	}
	slices.SortFunc(all, func(a, b compat.Client) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// DialectNamed returns the format with this name, and whether the format exists.
func DialectNamed(name string) (compat.Client, bool) {
	all := Dialects()
	i := slices.IndexFunc(all, func(c compat.Client) bool { return c.Name == name })
	if i < 0 {
		return compat.Client{}, false
	}
	return all[i], true
}

// WithHooks returns the program names in the labels of agents that have hooks or that an editor runs.
func WithHooks() []string {
	return append(Names(func(a Agent) bool { return a.Hook != nil }), acp.Name)
}

// find returns the first agent that matches, and whether there is such an agent.
func find(is func(Agent) bool) (Agent, bool) {
	i := slices.IndexFunc(list, is)
	if i < 0 {
		return Agent{}, false
	}
	return list[i], true
}
