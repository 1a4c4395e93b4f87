// Package antigravity adds Askback to the configuration of Antigravity.
package antigravity

import "github.com/askback/askback/internal/agents/config"

// Name is the name of Antigravity in commands, and in the labels of its asks.
const Name = "antigravity"

// Config is the configuration of Antigravity.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces: config.Traces{
		Programs: []string{"agy"}, Home: []string{".gemini/antigravity-cli", ".gemini/config"},
		List: []string{"mcp", "list"},
	},
}

// An mcpServer is the configuration of an MCP server in the format of Antigravity.
type mcpServer struct {
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	ServerURL string            `json:"serverUrl,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
}

// files returns the file that Antigravity and its command line, agy, share.
func files(scope config.Scope, o config.Options) ([]config.File, error) {
	s := mcpServer{Command: o.Command, Args: []string{"mcp"}}
	if o.URL != "" {
		remote := config.Server{}.WithAddress(o, "$"+config.TokenVariable)
		s = mcpServer{ServerURL: remote.URL, Headers: remote.Headers}
	}
	path := ".agents/mcp_config.json"
	if scope == config.User {
		path = ".gemini/config/mcp_config.json"
	}
	return []config.File{config.JSONFile(path, config.Member(s, "mcpServers", "askback"))}, nil
}

func nextSteps(_ config.Scope, _ config.Options) []string {
	return []string{"restart Antigravity, or reload its servers with /mcp in agy, and allow the tools of askback; " +
		"this configuration follows Antigravity's documentation, and was not tested with Antigravity"}
}
