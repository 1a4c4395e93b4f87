package agentconfig

// opencodeServer is the configuration of an MCP server in the format of OpenCode.
type opencodeServer struct {
	Type    string            `json:"type"`
	Command []string          `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Enabled bool              `json:"enabled"`
}

func opencode(scope Scope, o Options) ([]File, error) {
	s := opencodeServer{Type: "local", Command: []string{o.Command, "mcp"}, Enabled: true}
	if o.URL != "" {
		remote := server{}.withAddress(o, "{env:"+TokenVariable+"}")
		s = opencodeServer{Type: "remote", URL: remote.URL, Headers: remote.Headers, Enabled: true}
	}
	path := "opencode.json"
	if scope == User {
		path = ".config/opencode/opencode.json"
	}
	// A rule for all tools would require approval at the terminal for each call. Without
	// rules, tools are allowed. The last matching rule applies.
	allow := member("allow", "permission", "askback_*")
	allow.onlyIfParent = true
	return []File{jsonFile(path, member(s, "mcp", "askback"), allow)}, nil
}
