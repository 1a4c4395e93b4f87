package config

// antigravityServer is the configuration of an MCP server in the format of Antigravity.
type antigravityServer struct {
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	ServerURL string            `json:"serverUrl,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
}

// antigravity returns the file of Antigravity and its command line, agy.
func antigravity(scope Scope, o Options) ([]File, error) {
	s := antigravityServer{Command: o.Command, Args: []string{"mcp"}}
	if o.URL != "" {
		remote := server{}.withAddress(o, "$"+TokenVariable)
		s = antigravityServer{ServerURL: remote.URL, Headers: remote.Headers}
	}
	path := ".agents/mcp_config.json"
	if scope == User {
		path = ".gemini/config/mcp_config.json"
	}
	return []File{jsonFile(path, member(s, "mcpServers", "askback"))}, nil
}
