package config

import "slices"

// Traces are what shows that a client is installed: programs in the PATH, and folders or files
// in the user's home folder.
type Traces struct {
	Programs, Home []string
	List           []string // the arguments of the first program that list its MCP servers; nil if it has none
	// ListRuns is set if listing also runs what the files of a project name, without asking its user.
	ListRuns bool
}

var traces = map[string]Traces{
	"claude-code": {Programs: []string{"claude"}, Home: []string{".claude", ".claude.json"}, List: []string{"mcp", "list"}},
	"codex":       {Programs: []string{"codex"}, Home: []string{".codex"}, List: []string{"mcp", "list"}},
	"antigravity": {Programs: []string{"agy"}, Home: []string{".gemini/antigravity-cli", ".gemini/config"}, List: []string{"mcp", "list"}},
	"copilot":     {Programs: []string{"copilot"}, Home: []string{".copilot"}, List: []string{"mcp", "list"}},
	"cursor":      {Programs: []string{"cursor", "cursor-agent"}, Home: []string{".cursor"}},
	"gemini":      {Programs: []string{"gemini"}, Home: []string{".gemini"}, List: []string{"mcp", "list"}},
	"opencode":    {Programs: []string{"opencode"}, Home: []string{".config/opencode"}, List: []string{"mcp", "list"}, ListRuns: true},
	"vscode":      {Programs: []string{"code"}, Home: []string{".vscode", ".config/Code"}},
}

// TracesOf returns what shows that a client is installed.
func TracesOf(client string) Traces {
	t := traces[client]
	t.Programs, t.Home = slices.Clone(t.Programs), slices.Clone(t.Home)
	return t
}
